/* random.c -- counter-based random numbers (Philox 2x64-10 of Random123)
 *
 *   block(seed, stream, k) = philox(counter = (k, stream), key = seed): 128 random bits
 *
 * Uniform: the upper 52 bits v as (v + 1/2) 2^-52, never 0 or 1. Normal: Box-Muller on
 * the two halves of a block; its key differs from that of the uniforms, so that the
 * two kinds share no bits. Cost: one block (ten multiplications) per number.
 */
#include <math.h>
#include <Random123/philox.h>
#include "base/random.h"

static const uint64_t normal_key = 0x9e3779b97f4a7c15u; /* 2^64 / golden ratio */

static philox2x64_ctr_t block(uint64_t seed, uint64_t stream, uint64_t k)
{
    philox2x64_ctr_t counter = { { k, stream } };
    philox2x64_key_t key = { { seed } };
    return philox2x64(counter, key);
}

static double unit(uint64_t bits) { return ((double)(bits >> 12) + 0.5) * 0x1p-52; }

double fenp_uniform(uint64_t seed, uint64_t stream, uint64_t k)
{
    return unit(block(seed, stream, k).v[0]);
}

double fenp_normal(uint64_t seed, uint64_t stream, uint64_t k)
{
    philox2x64_ctr_t bits = block(seed ^ normal_key, stream, k);
    return sqrt(-2.0 * log(unit(bits.v[0]))) * cos(2.0 * M_PI * unit(bits.v[1]));
}

void fenp_permutation(uint64_t seed, uint64_t stream, int64_t n, int64_t *out)
{
    for (int64_t i = 0; i < n; i++) out[i] = i;
    for (int64_t i = n - 1; i > 0; i--) {
        /* the upper half of bits * (i+1) is uniform on 0..i up to i / 2^64 */
        uint64_t bits = block(seed, stream, (uint64_t)i).v[0];
        int64_t j = (int64_t)(((unsigned __int128)bits * (uint64_t)(i + 1)) >> 64);
        int64_t kept = out[i];
        out[i] = out[j];
        out[j] = kept;
    }
}
