/* rkhs.c -- penalty lambda ||f||^m, m = power; formulas: powers.h */
#include "penalty/powers.h"

const fen_penalty fenp_penalty_rkhs = {
    .name = "rkhs",
    .help = "lambda ||f||^power",
    .parts = FEN_WHOLE,
    .parameter = { "power", 0.001, 100.0, 2.0, 1 },
    .value = power_value,
    .conj = power_conjugate,
};
