/* packed.h -- the distinct entries of a fully symmetric tensor of q indices, and its sums
 *
 * Entries K_i1..iq of i1 <= ... <= iq. Those with the same first q - 2 members (a prefix that ends
 * in j; j = 0 at q = 2) are the lower triangle of a symmetric matrix of rows and columns j .. n-1,
 * packed by columns. Columns come in blocks (packed_sums.c): for each block all prefixes that have
 * any of its columns, in the order of fenp_multisets, with those columns. Every entry is stored
 * times what packed_sums.c says, so that the sums need not know which members are equal. */
#ifndef FENP_TENSOR_PACKED_H
#define FENP_TENSOR_PACKED_H
#include <stdint.h>

typedef struct fenp_tensor {
    int64_t n, q;
    double *entry;
    int64_t slices;            /* stretches of prefixes with sums of their own               */
    int64_t *offset;           /* slices + 1: the entry at which one begins                  */
    int64_t *first;            /* slices x q: its first prefix, and in the end its block     */
    double *work;              /* slices x work_size                                         */
    int64_t work_size;
    double *square;            /* slices x n(n+1)/2: lower triangles, packed by columns      */
    double *pairs;             /* n(n+1)/2: products of two numbers of a                     */
} fenp_tensor;

/* Entries that follow each other: one prefix, one block. */
typedef struct fenp_tensor_place {
    int64_t from, to;          /* columns of the block                                       */
    int64_t *member;           /* q, in the work of a slice: the prefix, and zeros           */
} fenp_tensor_place;

/* Doubles of work for each slice. */
int64_t fenp_tensor_work(int64_t n, int64_t q);
/* Slices that a tensor of so many entries is worth. */
int64_t fenp_tensor_slices(int64_t q, int64_t entries);
/* Sizes are set: where the slices begin. */
void    fenp_tensor_cut(fenp_tensor *t);
/* Where a slice begins; the next place, also beyond its end. */
fenp_tensor_place fenp_tensor_begin(const fenp_tensor *t, int64_t slice);
void    fenp_tensor_next(const fenp_tensor *t, fenp_tensor_place *place);
/* The first column of a place (to - 1 is the last), and its entries. */
int64_t fenp_tensor_column(const fenp_tensor *t, const fenp_tensor_place *place);
int64_t fenp_tensor_count(const fenp_tensor *t, const fenp_tensor_place *place);
/* om_i = sum over all (q-1)-tuples of K_i.. a.. */
void    fenp_tensor_scores(const fenp_tensor *t, const double *a, double *om);
/* B_ij = sum over all (q-2)-tuples of K_ij.. a..: lower triangle, column-major */
void    fenp_tensor_curvature(const fenp_tensor *t, const double *a, double *b);
#endif
