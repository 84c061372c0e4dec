/* threads.h -- one knob for OpenMP and BLAS, set for a call and restored after it */
#ifndef FENP_THREADS_H
#define FENP_THREADS_H
#include <stdint.h>
typedef struct fenp_threads { int openmp; } fenp_threads;
fenp_threads fenp_threads_enter(int32_t wanted /* 0: one per core */);
void         fenp_threads_leave(fenp_threads before);
/* The number to enter with for so many operations: 1 where others would wake up to find nothing
 * left to do. */
int32_t      fenp_threads_for(double operations, int32_t wanted);
/* One thread for a while where more would wait for each other longer than they work: iterations
 * over so few rows. Inside a parallel region there is one anyway. The answer goes to widen. */
enum { FENP_FEW_ROWS = 1200 };
int          fenp_threads_narrow(int64_t rows);
void         fenp_threads_widen(int narrowed);
#endif
