/* qr.c -- dgeqrf, dgeqp3, dormqr and dtrcon by their Fortran names, as in linalg.c
 *
 * Work areas. LAPACK's optimum is columns times its block size, and for dormqr a triangle of
 * 65 x 64 besides. 64 per column is that or more with every LAPACK in use; with less it would
 * be slower and still right. */
#include "base/qr.h"

#include <limits.h>
#include <string.h>
#include "base/error.h"

void dgeqrf_(const int *m, const int *n, double *a, const int *lda, double *tau, double *work,
             const int *lwork, int *info);
void dgeqp3_(const int *m, const int *n, double *a, const int *lda, int *jpvt, double *tau,
             double *work, const int *lwork, int *info);
void dormqr_(const char *side, const char *trans, const int *m, const int *n, const int *k,
             const double *a, const int *lda, const double *tau, double *c, const int *ldc,
             double *work, const int *lwork, int *info, size_t, size_t);
void dtrcon_(const char *norm, const char *uplo, const char *diag, const int *n, const double *a,
             const int *lda, double *rcond, double *work, int *iwork, int *info, size_t, size_t,
             size_t);

enum { BLOCK = 64, TRIANGLE = 65 * 64 };

int64_t fenp_qr_work(int64_t columns) { return (BLOCK + 3) * (columns + 1) + TRIANGLE; }

static fen_status check_sizes(int64_t m, int64_t n, int64_t ld, fen_error *err)
{
    if (m < 0 || n < 0 || ld > INT_MAX || fenp_qr_work(n) > INT_MAX)
        return fenp_fail(err, FEN_BAD_CALL,
                         "a matrix of %lld rows and %lld columns is beyond what this LAPACK can "
                         "hold",
                         (long long)m, (long long)n);
    return FEN_OK;
}

fen_status fenp_qr(int64_t m, int64_t n, double *a, int64_t ld, double *tau, double *work,
                   fen_error *err)
{
    const fen_status status = check_sizes(m, n, ld, err);
    if (status != FEN_OK || m == 0 || n == 0) return status;
    const int rows = (int)m, columns = (int)n, stride = (int)ld, room = (int)fenp_qr_work(n);
    int info;
    dgeqrf_(&rows, &columns, a, &stride, tau, work, &room, &info);
    return FEN_OK;
}

fen_status fenp_qr_pivoted(int64_t m, int64_t n, double *a, int64_t ld, int64_t *pivot, double *tau,
                           double *work, fen_error *err)
{
    const fen_status status = check_sizes(m, n, ld, err);
    if (status != FEN_OK || n == 0) return status;
    const int rows = (int)m, columns = (int)n, stride = (int)ld, room = (int)fenp_qr_work(n);
    int info, *narrow = (int *)pivot; /* as many ints stand in the first half of it */
    memset(pivot, 0, (size_t)n * sizeof *pivot);
    dgeqp3_(&rows, &columns, a, &stride, narrow, tau, work, &room, &info);
    for (int64_t k = n - 1; k >= 0; k--) { /* backwards: what is written was read */
        int at;
        memcpy(&at, (char *)pivot + k * (int64_t)sizeof at, sizeof at);
        pivot[k] = at - 1;
    }
    return FEN_OK;
}

fen_status fenp_qr_multiply(int64_t m, int64_t k, const double *a, int64_t ld, const double *tau,
                            int transposed, double *c, int64_t columns, int64_t ldc, double *work,
                            fen_error *err)
{
    fen_status status = check_sizes(m, columns, ld, err);
    if (status == FEN_OK) status = check_sizes(m, k, ldc, err);
    if (status != FEN_OK || m == 0 || columns == 0 || k == 0) return status;
    const int rows = (int)m, wide = (int)columns, reflectors = (int)k, stride = (int)ld;
    const int stride_c = (int)ldc, room = (int)fenp_qr_work(columns);
    int info;
    dormqr_("L", transposed ? "T" : "N", &rows, &wide, &reflectors, a, &stride, tau, c, &stride_c,
            work, &room, &info, 1, 1);
    return FEN_OK;
}

double fenp_triangular_condition(int64_t n, const double *r, int64_t ld, double *work)
{
    if (n == 0) return 1.0;
    const int order = (int)n, stride = (int)ld;
    double reciprocal = 0.0;
    int info;
    dtrcon_("1", "U", "N", &order, r, &stride, &reciprocal, work, (int *)(work + 3 * n), &info, 1,
            1, 1);
    return reciprocal;
}
