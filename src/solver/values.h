/* values.h -- kernel values for blocks of rows: made when they are needed, or kept
 *
 * A block of a few thousand rows has its values against itself in single precision; products
 * of the whole matrix with a few of its columns are in double precision. */
#ifndef FENP_VALUES_H
#define FENP_VALUES_H
#include "solver/rows.h"

typedef struct fenp_values {
    fenp_kernel kernel;
    fen_view x;                /* n x p: all rows, without gaps                         */
    int64_t room;              /* rows of a block                                       */
    double *rows;              /* room x p: features of some rows                       */
    float *k;                  /* room x room: the values of a block, ld to a row       */
    int64_t *held, holds, ld;  /* room: rows whose values k holds                       */
    fenp_rows cache;           /* slots 0: values are too cheap to be kept              */
} fenp_values;

/* memory: for rows of the kernel matrix, as far as they are worth keeping; 0: a gigabyte. */
int64_t     fenp_values_bytes(int64_t n, int64_t p, int64_t room, int64_t memory);
/* Takes what is left of the arena for rows worth keeping. */
fenp_values fenp_values_open(fenp_arena *arena, const fenp_kernel *kernel,
                             const fenp_sample *sample, int64_t room);
/* k of the rows who against each other, ld of them to a row; the rest of it is 0. */
fen_status  fenp_values_block(fenp_values *v, const int64_t *who, int64_t count, int64_t ld,
                              fen_error *err);
/* out (n) = K(:, who) move; count is at most room. */
fen_status  fenp_values_times(fenp_values *v, const int64_t *who, const double *move,
                              int64_t count, double *out, fen_error *err);
#endif
