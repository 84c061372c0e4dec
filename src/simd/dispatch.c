/* dispatch.c -- the one place that asks which instructions the processor has
 *
 * Method: glibc reports a feature as active if the processor has it, the kernel saves its registers
 *   and no tunable took it away; other C libraries have the compiler's own question. A few
 *   nanoseconds, no state.
 * Special cases: gcc 12's address sanitizer aligns frames to 32 bytes at most, where vectors of 64
 *   are kept (its bug 110027): such builds have no avx512 level (CMakeLists.txt). */
#include "simd/simd.h"

extern const fenp_simd fenp_simd_baseline;

#if defined(__x86_64__)
#if __has_include(<sys/platform/x86.h>)
#include <sys/platform/x86.h>
/* glibc's CPU_FEATURE_ACTIVE shifts an int by 31 bits for AVX512VL, which C leaves undefined. */
static int is_active(unsigned index)
{
    enum { REGISTER = 32, LEAF = 4 * REGISTER };
    const struct cpuid_feature *leaf = __x86_get_cpuid_feature_leaf(index / LEAF);
    return leaf->active_array[index % LEAF / REGISTER] >> index % REGISTER & 1u;
}
#define HAS(feature, name) is_active(x86_cpu_##feature)
#else
#define HAS(feature, name) __builtin_cpu_supports(name)
#endif

extern const fenp_simd fenp_simd_avx2;
#ifdef FENP_WITH_AVX512
extern const fenp_simd fenp_simd_avx512;
#endif

const fenp_simd *fenp_simd_get(void)
{
    if (!HAS(AVX2, "avx2") || !HAS(FMA, "fma")) return &fenp_simd_baseline;
#ifdef FENP_WITH_AVX512
    if (HAS(AVX512F, "avx512f") && HAS(AVX512DQ, "avx512dq") && HAS(AVX512VL, "avx512vl"))
        return &fenp_simd_avx512;
#endif
    return &fenp_simd_avx2;
}
#else
const fenp_simd *fenp_simd_get(void) { return &fenp_simd_baseline; }
#endif
