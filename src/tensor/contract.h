/* contract.h -- a fully symmetric tensor, each distinct entry once, times a vector */
#ifndef FENP_CONTRACT_H
#define FENP_CONTRACT_H
#include <stdint.h>

/* Entries S_i1..ih of i1 <= ... <= ih, in the order of fenp_multisets: floats or doubles. */
typedef struct fenp_contract {
    int64_t n, h;
    int64_t *sets;             /* h x (n + 1): multisets of 1 .. h out of 0 .. n             */
} fenp_contract;

/* Doubles for sets; and for one contraction: each thread has its own. -1: beyond counting */
int64_t fenp_contract_sets(int64_t n, int64_t h);
int64_t fenp_contract_work(int64_t n, int64_t h);
fenp_contract fenp_contract_open(int64_t n, int64_t h, int64_t *sets);
/* out_i (n) = sum over all (h-1)-tuples t of S_it a^t. One of single and wide is not NULL. */
void fenp_contract_all(const fenp_contract *c, const float *single, const double *wide, const double *a,
                   double *work, double *out);
#endif
