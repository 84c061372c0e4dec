/* expansion.h -- f(x) = sum_i c_i k(z_i, x) made ready for a few rows at a time */
#ifndef FENP_EXPANSION_H
#define FENP_EXPANSION_H
#include "kernel/gram.h"

typedef struct fenp_expansion fenp_expansion;
int fenp_expansion_suits(const fen_kernel *kernel); /* of distances or products */
/* coef: targets x centres. NULL: no memory. */
fenp_expansion *fenp_expansion_new(const fenp_kernel *kernel, fen_view centres, const double *coef,
                                   int64_t targets);
void fenp_expansion_free(fenp_expansion *expansion);
/* out (rows x targets): f of every row, one after the other by this thread alone. */
void fenp_expansion_rows(const fenp_expansion *expansion, fen_view rows, double *out);
#endif
