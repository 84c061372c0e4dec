/* sleef.h -- SLEEF's functions of the vectors that this level has
 *
 * SLEEF_LANES numbers make a sleef_vector; SLEEF(exp) is its exponential with an error below 1 ulp.
 * A file that calls them is compiled for these vectors as a whole, as arguments travel in registers
 * that narrower code does not have. Where SLEEF has nothing, SLEEF_LANES is not defined. */
#ifndef FENP_SLEEF_H
#define FENP_SLEEF_H
#include <sleef.h>
#include <string.h>

#if defined(__AVX512F__)
#define SLEEF_LANES 8
#define SLEEF(name) Sleef_##name##d8_u10avx512f
typedef __m512d sleef_vector;
typedef Sleef___m512d_2 sleef_pair;
#elif defined(__AVX2__)
#define SLEEF_LANES 4
#define SLEEF(name) Sleef_##name##d4_u10avx2
typedef __m256d sleef_vector;
typedef Sleef___m256d_2 sleef_pair;
#elif defined(__SSE2__)
#define SLEEF_LANES 2
#define SLEEF(name) Sleef_##name##d2_u10sse2
typedef __m128d sleef_vector;
typedef Sleef___m128d_2 sleef_pair;
#elif defined(__aarch64__)
#define SLEEF_LANES 2
#define SLEEF(name) Sleef_##name##d2_u10advsimd
typedef float64x2_t sleef_vector;
typedef Sleef_float64x2_t_2 sleef_pair;
#endif

#ifdef SLEEF_LANES
/* The numbers at x, of which there are count; zeros for lanes beyond them. */
static inline sleef_vector sleef_load(const double *x, int64_t count)
{
    sleef_vector v = { 0.0 };
    if (count >= SLEEF_LANES)
        memcpy(&v, x, sizeof v);
    else
        memcpy(&v, x, (size_t)count * sizeof *x);
    return v;
}

static inline void sleef_store(double *x, int64_t count, sleef_vector v)
{
    memcpy(x, &v, count >= SLEEF_LANES ? sizeof v : (size_t)count * sizeof *x);
}
#endif
#endif
