/* design.h -- a matrix by columns, and how its columns are grouped
 *
 * What penalties on coefficients see: f(x_i) = sum_j x_ij beta_j + b. Dense or sparse, never
 * both; the columns are prepared (scaled) features, or those of a kernel matrix. */
#ifndef FENP_DESIGN_H
#define FENP_DESIGN_H
#include "data/prepare.h"

/* copies > 1: as many targets under one penalty. Rows t n + i, coefficients t p + j: a block
 * diagonal matrix of which one block is kept. */
typedef struct fenp_design {
    int64_t n, p, copies;
    const double *dense;       /* n x p, column-major; NULL: sparse, or by rows         */
    const int64_t *start;      /* p + 1: entries of column j are start[j]..start[j+1]-1 */
    const int32_t *row;        /* ascending within a column                             */
    const double *value;
    const double *by_rows;     /* n x p, row-major, instead of all that, of one copy: for
                                  fenp_design_scores.., _columns and linear.h alone      */
    const struct fenp_unwritten *unwritten;    /* the same, prepared when they are read */
    const fenp_raw_products *products;         /* of unwritten ones; NULL: none         */
} fenp_design;
static inline int fenp_design_is_by_rows(const fenp_design *x)
{ return x->by_rows || x->unwritten; }
/* Some of its rows, row-major: where they are, or in room (count x p). */
const double *fenp_design_rows(const fenp_design *x, int64_t from, int64_t count, double *room);

/* A partition of the coefficients. Group g has the members member[start[g]]..member[start[g+1]-1]
 * and costs weight[g] value(their norm); weight 0: not penalised. */
typedef struct fenp_groups {
    int64_t count;
    int64_t *start, *member;   /* NULL: every coefficient by itself, count of them      */
    double  *weight;           /* NULL: all 1                                           */
    char   **name;             /* NULL: they have none                                  */
} fenp_groups;
void fenp_groups_free(fenp_groups *groups);    /* what it holds, not the struct         */
static inline int64_t fenp_group_size(const fenp_groups *g, int64_t i)
{ return g->start ? g->start[i + 1] - g->start[i] : 1; }
static inline int64_t fenp_group_member(const fenp_groups *g, int64_t i, int64_t k)
{ return g->start ? g->member[g->start[i] + k] : i; }
static inline double fenp_group_weight(const fenp_groups *g, int64_t i)
{ return g->weight ? g->weight[i] : 1.0; }

/* The columns of a prepared sample (dense: x is transposed into memory of its own, which
 * *owned gets; sparse: borrowed from the sample). */
fen_status fenp_design_of(const fenp_sample *sample, fenp_design *out, double **owned,
                          fen_error *err);
/* The rows of a dense one as they stand in the sample. */
fenp_design fenp_design_by_rows(const fenp_sample *sample);
/* The columns of rows, in memory that *owned gets. */
fen_status fenp_design_columns(const fenp_design *rows, fenp_design *out, double **owned,
                               fen_error *err);
/* out = X'u of the columns listed (which NULL: all count of them); u: copies x n. Threads. */
void fenp_design_products(const fenp_design *x, const double *u, const int64_t *which,
                          int64_t count, double *out);
/* f = X beta, copies x n; beta: copies x p, zeros cost nothing. */
void fenp_design_scores(const fenp_design *x, const double *beta, double *f);
/* Of the count rows listed alone, for several vectors beta, copies x p each: f is vectors x copies
 * x count. Nonzero: no memory. */
int  fenp_design_scores_of(const fenp_design *x, const int64_t *which, int64_t count,
                           const double *beta, int64_t vectors, double *f);

/* ---- twins.c ---- */
/* twin (p): the first column that is the same, or mirrored: but for its sign; mostly itself.
 * Nonzero: no memory. */
int  fenp_design_twins(const fenp_design *x, int mirrored, int64_t *twin);

/* What --penalty and --feature-weights make of the features of prep; copies as above.
 *   l1, elastic, none      every coefficient by itself, weights by column
 *   group, group:auto      the features of one input column are a group (one-hot blocks, a
 *                          number with its indicator of gaps), weight sqrt(size), where levels
 *                          "other" that no row has do not count
 *   group:prefix:SEP       columns whose names agree up to the first SEP are a group
 *   group:targets          the coefficients of a feature in all targets are a group, weight 1
 *   group:FILE             lines "column,group" or "column,group,weight" with such a header;
 *                          columns are input columns or features by name; one in two groups
 *                          or in none is an error that names it, but for such levels
 * FEN_BAD_DATA and one sentence for what does not fit; FEN_IO for the file. */
fen_status fenp_groups_make(const fenp_prep *prep, const fen_options *o, int64_t copies,
                            fenp_groups *out, fen_error *err);
#endif
