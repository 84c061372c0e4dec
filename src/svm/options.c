/* options.c -- LIBSVM's defaults, its checks and its words for them */
#include <math.h>
#include "base/error.h"
#include "svm/parts.h"

fen_svm_options fen_svm_options_default(void)
{
    return (fen_svm_options){ .type = FEN_SVM_C_SVC,
                              .kernel = FEN_SVM_RBF,
                              .degree = 3,
                              .cost = 1.0,
                              .nu = 0.5,
                              .epsilon = 0.1,
                              .tolerance = 1e-3,
                              .seed = 1 };
}

void fenp_svm_tell(const fen_svm_options *o, fen_svm_news news)
{
    if (o->tell) o->tell(o->user, &news);
}

double fenp_svm_gamma(const fen_svm_data *data, const fen_svm_options *o)
{
    return o->gamma == 0.0 && data->rows.largest > 0 ? 1.0 / data->rows.largest : o->gamma;
}

static fen_status no(const char *text, fen_error *err)
{
    return fenp_fail(err, FEN_BAD_CALL, "%s", text);
}

static int uses_gamma(fen_svm_kernel kernel)
{
    return kernel == FEN_SVM_POLYNOMIAL || kernel == FEN_SVM_RBF || kernel == FEN_SVM_SIGMOID;
}

static fen_status check_numbers(const fen_svm_options *o, fen_error *err)
{
    const int prices =
        o->type == FEN_SVM_NU_SVC || o->type == FEN_SVM_ONE_CLASS || o->type == FEN_SVM_NU_SVR;
    const int costs =
        o->type == FEN_SVM_C_SVC || o->type == FEN_SVM_EPSILON_SVR || o->type == FEN_SVM_NU_SVR;
    if (uses_gamma(o->kernel) && !(o->gamma >= 0.0)) return no("gamma < 0", err);
    if (o->kernel == FEN_SVM_POLYNOMIAL && o->degree < 0)
        return no("degree of polynomial kernel < 0", err);
    if (!(o->cache_megabytes >= 0.0)) return no("cache_size <= 0", err);
    if (!(o->tolerance > 0.0)) return no("eps <= 0", err);
    if (costs && !(o->cost > 0.0)) return no("C <= 0", err);
    if (prices && !(o->nu > 0.0 && o->nu <= 1.0)) return no("nu <= 0 or nu > 1", err);
    if (o->type == FEN_SVM_EPSILON_SVR && !(o->epsilon >= 0.0)) return no("p < 0", err);
    if (o->probability != 0 && o->probability != 1)
        return no("probability != 0 and probability != 1", err);
    for (int32_t i = 0; i < o->weight_count; i++)
        if (o->type == FEN_SVM_C_SVC && !(o->weight[i].weight > 0.0)) return no("C <= 0", err);
    if (!isfinite(o->gamma + o->coef0 + o->cost + o->epsilon))
        return no("an option is not a finite number", err);
    return FEN_OK;
}

/* nu-SVC: both classes of a pair must be able to hold half of the dual variables each. */
static fen_status check_pairs(const fen_svm_data *data, double nu, fen_error *err)
{
    fenp_classes c = { 0 };
    fen_status status = fenp_classes_find(data, &c, err);
    for (int64_t i = 0; i < c.count && status == FEN_OK; i++)
        for (int64_t j = i + 1; j < c.count && status == FEN_OK; j++) {
            const double a = (double)(c.start[i + 1] - c.start[i]);
            const double b = (double)(c.start[j + 1] - c.start[j]);
            if (nu * (a + b) / 2.0 > fmin(a, b)) status = no("specified nu is infeasible", err);
        }
    fenp_classes_free(&c);
    return status;
}

static fen_status check_serials(const fen_svm_data *data, fen_error *err)
{
    const fenp_rows *r = &data->rows;
    for (int64_t i = 0; i < r->n; i++) {
        if (r->start[i] == r->start[i + 1] || r->index[r->start[i]] != 0)
            return fenp_fail(err, FEN_BAD_DATA,
                             "Wrong input format: first column must be 0:sample_serial_number");
        const int32_t serial = fenp_svm_serial(r, i);
        if (serial == 0 || serial > r->largest)
            return fenp_fail(err, FEN_BAD_DATA,
                             "Wrong input format: sample_serial_number out of range");
    }
    return FEN_OK;
}

fen_status fen_svm_check(const fen_svm_data *data, const fen_svm_options *o, fen_error *err)
{
    fen_status status = FEN_OK;
    if (o->kernel == FEN_SVM_PRECOMPUTED) status = check_serials(data, err);
    if (status != FEN_OK) return status;
    if ((int)o->type < 0 || o->type >= FEN_SVM_TYPES) return no("unknown svm type", err);
    if ((int)o->kernel < 0 || o->kernel >= FEN_SVM_KERNELS) return no("unknown kernel type", err);
    status = check_numbers(o, err);
    if (status == FEN_OK && o->type == FEN_SVM_NU_SVC) status = check_pairs(data, o->nu, err);
    if (status == FEN_OK && data->rows.n == 0)
        status = fenp_fail(err, FEN_BAD_DATA, "there are no rows to train on");
    return status;
}
