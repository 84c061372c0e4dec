/* wide.h -- loops that are compiled twice, for every machine and for vectors of 512 bits */
#ifndef FENP_WIDE_H
#define FENP_WIDE_H
#define FENP_INLINE static inline __attribute__((always_inline))
/* Before a loop of eight over vectors: unrolled, or they would not stay in registers. */
#if defined(__clang__)
#define FENP_UNROLL _Pragma("unroll")
#else
#define FENP_UNROLL _Pragma("GCC unroll 8")
#endif
#if defined(__x86_64__)
/* clang takes the full width unasked, with no word for it. */
#if defined(__clang__)
#define FENP_FULL_WIDTH
#else
#define FENP_FULL_WIDTH ",prefer-vector-width=512"
#endif
#define FENP_WIDE __attribute__((target("avx512f" FENP_FULL_WIDTH)))
static inline int fenp_is_wide(void) { return __builtin_cpu_supports("avx512f"); }
#else
#define FENP_WIDE
static inline int fenp_is_wide(void) { return 0; }
#endif
#endif
