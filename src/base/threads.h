/* threads.h -- one knob for OpenMP and BLAS, set for a call and restored after it */
#ifndef FENP_THREADS_H
#define FENP_THREADS_H
#include <stdint.h>
typedef struct fenp_threads { int openmp; } fenp_threads;
fenp_threads fenp_threads_enter(int32_t wanted /* 0: one per core */);
void         fenp_threads_leave(fenp_threads before);
#endif
