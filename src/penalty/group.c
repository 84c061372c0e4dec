/* group.c -- penalty lambda sum_g a_g ||beta_g||: whole groups enter or stay out; formulas:
 * norms.h. The prox shortens a group and keeps its direction. */
#include "penalty/norms.h"

const fen_penalty fenp_penalty_group = {
    .name = "group",
    .help = "lambda sum weight_g ||beta_g||: group lasso",
    .written = "auto|prefix:SEP|targets|FILE",
    .parts = FEN_GROUPS,
    .value = norm_value,
    .conj = norm_conjugate,
    .prox = norm_prox,
};
