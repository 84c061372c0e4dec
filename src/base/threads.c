/* threads.c -- one knob for OpenMP and BLAS, set for a call and restored after it
 *
 * OpenMP keeps its number per calling thread. OpenBLAS keeps one for the process, so calls
 * that overlap are counted: the first to enter sets it, the last to leave restores it.
 *
 * Fork: libgomp keeps its threads between parallel regions. A child has none of them, but its
 * runtime believes that it has, and the next region waits for them for ever. So the thread that
 * forks ends its idle threads first; parent and child start new ones when they need them. (libomp
 * and OpenBLAS's own threads look after forks themselves.) */
#include <omp.h>
#include <pthread.h>
#include "base/threads.h"

/* Weak: the library also links against a BLAS that follows OpenMP or has no threads. */
extern int openblas_get_num_threads(void) __attribute__((weak));
extern void openblas_set_num_threads(int count) __attribute__((weak));

static struct {
    pthread_mutex_t lock;
    int depth, before; /* calls inside; the number found by the first of them */
} blas = { PTHREAD_MUTEX_INITIALIZER, 0, 0 };
static _Thread_local int own_depth; /* calls inside, of this thread */

static void before_fork(void)
{
#ifndef __clang__
    omp_pause_resource_all(omp_pause_soft); /* inside a region it does nothing, and says so */
#endif
    pthread_mutex_lock(&blas.lock);
}

static void after_fork(void) { pthread_mutex_unlock(&blas.lock); }

/* Calls of other threads do not go on in the child. */
static void after_fork_in_child(void)
{
    blas.depth = own_depth;
    pthread_mutex_unlock(&blas.lock);
}

__attribute__((constructor)) static void prepare_for_fork(void)
{
    pthread_atfork(before_fork, after_fork, after_fork_in_child);
}

fenp_threads fenp_threads_enter(int32_t wanted)
{
    const int count = wanted > 0 ? wanted : omp_get_num_procs();
    const fenp_threads before = { omp_get_max_threads() };
    pthread_mutex_lock(&blas.lock);
    if (blas.depth++ == 0 && openblas_set_num_threads) {
        blas.before = openblas_get_num_threads();
        openblas_set_num_threads(count);
    }
    own_depth++;
    pthread_mutex_unlock(&blas.lock);
    omp_set_num_threads(count); /* last: an OpenBLAS built upon OpenMP sets it as well */
    return before;
}

void fenp_threads_leave(fenp_threads before)
{
    pthread_mutex_lock(&blas.lock);
    own_depth--;
    if (--blas.depth == 0 && openblas_set_num_threads) openblas_set_num_threads(blas.before);
    pthread_mutex_unlock(&blas.lock);
    omp_set_num_threads(before.openmp);
}

int32_t fenp_threads_for(double operations, int32_t wanted)
{
    static const double worth = 5e7; /* some milliseconds of one thread */
    return operations < worth ? 1 : wanted;
}

/* Told once that there is one thread, OpenBLAS does not ask OpenMP again: both are set. */
static void set_both(int count)
{
    pthread_mutex_lock(&blas.lock);
    if (openblas_set_num_threads) openblas_set_num_threads(count);
    pthread_mutex_unlock(&blas.lock);
    omp_set_num_threads(count);
}

int fenp_threads_narrow(int64_t rows)
{
    const int threads = omp_get_max_threads();
    if (rows > FENP_FEW_ROWS || threads == 1 || omp_in_parallel()) return 0;
    set_both(1);
    return threads;
}

void fenp_threads_widen(int narrowed)
{
    if (narrowed) set_both(narrowed);
}
