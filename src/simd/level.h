/* level.h -- what a source of this folder is compiled with: once for every instruction set
 *
 * CMake compiles each kernel once per level with the flags of that level for the whole file, so that
 * vectors are passed as the callee expects them, and names the level in FENP_LEVEL. AT_LEVEL(name)
 * is the name of this copy; table.c enters all copies of one level into its table.
 *
 * Rounding: nothing is fused unless it says so by MADD; a kernel without MADD and with a fixed
 * number of partial sums gives the same bits at every level. */
#ifndef FENP_LEVEL_H
#define FENP_LEVEL_H
#include "simd/simd.h"

#define FENP_PASTE_LEVEL(name, level) name##_##level
#define FENP_NAME_AT(name, level) FENP_PASTE_LEVEL(name, level)
#define AT_LEVEL(name) FENP_NAME_AT(name, FENP_LEVEL)

/* Declares this copy of a kernel with the type that its member of fenp_simd has. */
#define KERNEL(member) extern __typeof__(*((fenp_simd *)0)->member) AT_LEVEL(fenp_##member)

#define INLINE static inline __attribute__((always_inline))

/* Before a loop of eight over vectors: unrolled, or they would not stay in registers. */
#if defined(__clang__)
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 8")
#endif

/* a b + c, with one rounding where the level has an instruction for it. */
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define MADD(a, b, c) __builtin_fma(a, b, c)
#else
#define MADD(a, b, c) ((a) * (b) + (c))
#endif
#endif
