/* threads.c -- one knob for OpenMP and BLAS, set for a call and restored after it
 *
 * OpenMP keeps its number per calling thread, OpenBLAS one for the process. */
#include <omp.h>
#include "base/threads.h"

/* Weak: the library also links against a BLAS that follows OpenMP or has no threads. */
extern int openblas_get_num_threads(void) __attribute__((weak));
extern void openblas_set_num_threads(int count) __attribute__((weak));

fenp_threads fenp_threads_enter(int32_t wanted)
{
    int blas = openblas_get_num_threads ? openblas_get_num_threads() : 0;
    fenp_threads before = { omp_get_max_threads(), blas };
    int count = wanted > 0 ? wanted : omp_get_num_procs();
    fenp_threads_leave((fenp_threads){ count, count });
    return before;
}

void fenp_threads_leave(fenp_threads before)
{
    /* BLAS first: an OpenBLAS built upon OpenMP sets the number of OpenMP as well. */
    if (openblas_set_num_threads) openblas_set_num_threads(before.blas_before);
    omp_set_num_threads(before.openmp_before);
}
