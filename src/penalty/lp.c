/* lp.c -- penalty lambda sum_k |w_k|^P of f = w.phi, 1 < P <= 2; formulas: powers.h
 *
 * The norm of f is |w|_P and the dual norm |Phi'u|_q, 1/P + 1/q = 1: lambda ||f||^P, with the
 * conjugate of any other norm. P is always written: there is no usual one. */
#include "penalty/powers.h"

const fen_penalty fenp_penalty_lp = {
    .name = "lp",
    .help = "lambda sum |w_k|^P of the weights of features, 1 < P <= 2: nearly sparse; tensor "
            "kernels for P = 4/3, 6/5, 8/7, ...",
    .written = "P",
    .parts = FEN_WHOLE,
    .parameter = { "P", 1.0, 0x1.0000000000001p+1, NAN, 0 }, /* 2 itself is allowed */
    .value = power_value,
    .conj = power_conjugate,
};
