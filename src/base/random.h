/* random.h -- counter-based random numbers (Philox, Random123)
 * The k-th number of a stream depends only on (seed, stream, k): results do not
 * depend on the number of threads or the order of the calls. */
#ifndef FENP_RANDOM_H
#define FENP_RANDOM_H
#include <stdint.h>
double  fenp_uniform(uint64_t seed, uint64_t stream, uint64_t k);   /* in (0,1)        */
double  fenp_normal(uint64_t seed, uint64_t stream, uint64_t k);    /* N(0,1)          */
/* A random permutation of 0..n-1 (Fisher-Yates on stream). */
void    fenp_permutation(uint64_t seed, uint64_t stream, int64_t n, int64_t *out);
#endif
