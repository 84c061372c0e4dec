/* form.h -- the form of an l^p penalty over n rows, by three routes
 *
 *     T(a) = |Phi'a|_q^q = sum K(x_i1, ..., x_iq) a_i1 ... a_iq = |w|_p^p,   w = J_q(Phi'a),
 *     om   = grad T / q = Phi J_q(Phi'a) = f(x_i),   a'om = T(a),
 *     B    = Phi diag(|Phi'a|^(q-2)) Phi',           (q - 1) B = Hessian of T / q,
 *
 * J_q(u) = sign(u) |u|^(q-1), 1/p + 1/q = 1.
 *   features   Phi itself (n x N): any q > 1 for linear kernels, even q for series that end
 *   packed     every distinct entry of the fully symmetric tensor once, n^q / q! of them: even q
 *   low-rank   q = 2h: the Gram matrix of all products of h rows is an ordinary kernel matrix;
 *              its pivoted Cholesky factor of rank r (tensor/pivots.h), in single precision:
 *              T = sum_r (L_r a^h)^2, B = V V', V_r = L_r a^(h-1), om = V V'a. The factor comes
 *              out of the first pivots, and of more where a solver needs them: T is a little too
 *              small. The certificate knows nothing of this, and says what it comes to.
 * Rows of a = 0 take no part, but om is that of all rows. */
#ifndef FENP_FORM_H
#define FENP_FORM_H
#include "base/arena.h"
#include "base/clock.h"
#include "kernel/gram.h"

/* The kernel of a form: par.order is q, and > 0 for no other penalty than lp. */
static inline int fenp_is_lp(const fenp_kernel *kernel) { return kernel->par.order > 0.0; }
/* q is 2, 4, 6, ... (to 1e-9, as p is written with few digits); and which, or 0. */
int64_t fenp_even_order(double q);
/* q = p/(p-1), exactly even where p is as near to that as it can be written. */
static inline double fenp_order_of(double p)
{
    const double q = p / (p - 1.0);
    const int64_t even = fenp_even_order(q);
    return even ? (double)even : q;
}

typedef struct fenp_form_size {
    int64_t n, p;
    fenp_kernel kernel;        /* linear or of FEN_TENSOR, with order                   */
    int64_t room;              /* bytes that a form may take; 0: any number             */
} fenp_form_size;

typedef struct fenp_route fenp_route;
typedef struct fenp_form {
    const fenp_route *route;
    fenp_form_size size;
    fen_view x;
    int64_t rank;              /* columns of root: features, or rank; -1: there is no root */
    int more;                  /* a low rank can grow                                   */
    int capped;                /* a low rank ended where the room does: more would be nearer */
    void *own;
} fenp_form;

struct fenp_route {
    const char *name, *help;
    int        (*possible)(const fenp_form_size *size);
    /* of the arena, and at any time of opening; -1: beyond counting */
    int64_t    (*bytes)(const fenp_form_size *size);
    /* As a rule, where bytes is for the worst case: of rows x, which takes a second, or (NULL) of
     * any rows. NULL: bytes. For the planner. */
    int64_t    (*usual)(const fenp_form_size *size, const fen_view *x);
    double     (*build)(const fenp_form_size *size);  /* flops of open, for the planner      */
    double     (*step)(const fenp_form_size *size);   /* of one curvature                    */
    fen_status (*open)(fenp_arena *arena, const fenp_form_size *size, fen_view x, fenp_form *out,
                       const fenp_task *task, fen_error *err);
    double     (*scores)(const fenp_form *f, const double *a, double *om);       /* T(a)     */
    /* B, lower triangle, column-major, n to a column. */
    void       (*curvature)(const fenp_form *f, const double *a, double *b);
    /* n x rank, column-major: B = root root'. NULL: there is none. */
    void       (*root)(const fenp_form *f, const double *a, double *root);
    /* ---- of forms with more: NULL where there are none -------------------------------------- */
    /* What the last columns of the root have in om and T(a): as much is to be expected of all that
     * are not there. */
    double     (*tail)(const fenp_form *f, const double *a, double *om);
    /* A form that leaves about `part` of what this one leaves of the kernel: rank, more and capped
     * change. Where that fails or is stopped the form is as before. */
    fen_status (*grow)(fenp_form *f, double part, const fenp_task *task, fen_error *err);
};
extern const fenp_route fenp_route_features, fenp_route_packed, fenp_route_low_rank;
extern const fenp_route *const fenp_routes[];            /* NULL last */
const fenp_route *fenp_find_route(const char *name);     /* NULL: unknown */
/* What the planner weighs: opening a form and so many solves by it; more for what is not exact. */
double fenp_route_work(const fenp_route *route, const fenp_form_size *size, double solves);
/* Of those that name allows the one that takes least, and how much; NULL: none is possible, or all
 * are beyond counting. */
const fenp_route *fenp_least_route(const char *name, const fenp_form_size *size, int64_t *bytes);
/* "21.3 MB"; less than 0: "more than any machine has" */
enum { FENP_BYTES_TEXT = 48 };
const char *fenp_bytes_text(int64_t bytes, char text[FENP_BYTES_TEXT]);
/* name "auto": the fastest that fits into size->room. NULL: *err says why, and what would do. */
const fenp_route *fenp_pick_route(const char *name, const fenp_form_size *size, fen_error *err);

/* ---- features.c: those of a series that ends, also of a linear kernel ------------------- */
/* Their number; INT64_MAX: no end, or beyond counting. */
int64_t fenp_feature_count(const fenp_kernel *kernel, int64_t p);
/* out (rows x N, row-major): degrees ascending, within a degree x1^2, x1 x2, x1 x3, ..., x2^2 */
void    fenp_features_of(const fenp_kernel *kernel, fen_view x, double *out);
/* The members of feature k, ascending, with repetitions: "x3 x3 x7" is 2 2 6. Returns how many;
 * member: room for the highest degree. */
int64_t fenp_feature_members(const fenp_kernel *kernel, int64_t p, int64_t k, int64_t *member);
/* weights (N) = J_q(sum_i a_i phi(x_i)), never n x N at once. */
int64_t    fenp_feature_weights_bytes(int64_t count, int64_t rows);   /* besides weights */
fen_status fenp_feature_weights(const fenp_kernel *kernel, fen_view x, const double *a,
                                double *weights, fen_error *err);
#endif
