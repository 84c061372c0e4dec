/* l1.c -- penalty lambda sum_j a_j |beta_j|: the lasso; formulas: norms.h */
#include "penalty/norms.h"

const fen_penalty fenp_penalty_l1 = {
    .name = "l1",
    .help = "lambda sum |beta_j|: lasso; kernel lasso where the kernel is not linear",
    .parts = FEN_EACH,
    .value = norm_value,
    .conj = norm_conjugate,
    .prox = norm_prox,
};
