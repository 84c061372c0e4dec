/* kernels.c -- LIBSVM's kernels by number
 *
 * tanh(gamma x.z + coef0) is not positive semidefinite in general: it is known here alone, and
 * what a solver returns for it is a stationary point.
 */
#include <math.h>
#include "base/registry.h"
#include "svm/parts.h"

static double value(double product, const fen_kernel_par *par)
{
    return tanh(par->gamma * product + par->coef0);
}

static void map(double *product, int64_t count, const fen_kernel_par *par)
{
    for (int64_t i = 0; i < count; i++) product[i] = value(product[i], par);
}

static const fen_kernel sigmoid = {
    .name = "sigmoid",
    .help = "tanh(gamma x.z + coef0)",
    .basis = FEN_PRODUCT,
    .uses_gamma = 1,
    .uses_coef0 = 1,
    .value = value,
    .map = map,
};

const fen_kernel *fenp_svm_kernel_table(fen_svm_kernel kernel)
{
    static const char *const names[FEN_SVM_KERNELS] = {
        [FEN_SVM_LINEAR] = "linear",
        [FEN_SVM_POLYNOMIAL] = "polynomial",
        [FEN_SVM_RBF] = "gaussian",
        [FEN_SVM_PRECOMPUTED] = "precomputed",
    };
    return kernel == FEN_SVM_SIGMOID ? &sigmoid : fenp_find_kernel(names[kernel]);
}

int32_t fenp_svm_serial(const fenp_rows *rows, int64_t row)
{
    const int64_t first = rows->start[row];
    if (first == rows->start[row + 1] || rows->index[first] != 0) return 0;
    const double serial = rows->value[first];
    return serial >= 1.0 && serial < 2147483648.0 ? (int32_t)serial : 0;
}

const char *const fenp_svm_type_names[] = { "c_svc",       "nu_svc", "one_class",
                                            "epsilon_svr", "nu_svr", NULL };
const char *const fenp_svm_kernel_names[] = { "linear",  "polynomial",  "rbf",
                                              "sigmoid", "precomputed", NULL };
