/* rows.h -- rows of the kernel matrix, computed when they are asked for and kept while there
 * is room; the row that was not asked for longest gives way first */
#ifndef FENP_ROWS_H
#define FENP_ROWS_H
#include "base/arena.h"
#include "data/prepare.h"
#include "kernel/gram.h"

typedef struct fenp_rows {
    fenp_kernel kernel;
    fen_view x;
    int64_t n, slots;
    double *store;             /* slots x n                                             */
    int64_t *slot_of;          /* n: -1: the row is not there                           */
    int64_t *row_in;           /* slots: -1: free                                       */
    int64_t *asked;            /* slots: time of the last request                       */
    double *gather;            /* FENP_ROWS_AT_ONCE x p: rows to be computed            */
    int64_t clock, used;
} fenp_rows;
enum { FENP_ROWS_AT_ONCE = 512 };          /* that one request may name                  */

int64_t    fenp_rows_bytes(int64_t n, int64_t p, int64_t slots);   /* -1: cannot be counted */
int64_t    fenp_rows_slots(int64_t n, int64_t p, int64_t bytes);   /* that bytes have room for */
fenp_rows  fenp_rows_open(fenp_arena *arena, const fenp_kernel *kernel, const fenp_sample *sample,
                          int64_t slots);
/* row[k] points to row wanted[k] until the next request; count is at most slots and
 * FENP_ROWS_AT_ONCE. */
fen_status fenp_rows_fetch(fenp_rows *rows, const int64_t *wanted, int64_t count,
                           const double **row, fen_error *err);
#endif
