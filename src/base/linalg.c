/* linalg.c -- Cholesky in blocks, triangular inverse, eigenvectors
 *
 * Method. The factorisation is the right-looking blocked one: a diagonal block by
 * dpotrf, the panel below it by dtrsm, the rest by dsyrk. Blocks of 512 columns
 * keep it within a few percent of one dpotrf call and let progress, time limits
 * and cancellation act between them. Everything else is one LAPACK call.
 * LAPACK is called by its Fortran names: any LAPACK has them, LAPACKE is not needed. */
#include "base/linalg.h"

#include <limits.h>
#include <math.h>
#include "base/error.h"

void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info, size_t);
void dpotrs_(const char *uplo, const int *n, const int *nrhs, const double *a, const int *lda,
             double *b, const int *ldb, int *info, size_t);
void dtrtri_(const char *uplo, const char *diag, const int *n, double *a, const int *lda, int *info,
             size_t, size_t);
void dsyevd_(const char *jobz, const char *uplo, const int *n, double *a, const int *lda, double *w,
             double *work, const int *lwork, int *iwork, const int *liwork, int *info, size_t,
             size_t);
void dstevd_(const char *jobz, const int *n, double *d, double *e, double *z, const int *ldz,
             double *work, const int *lwork, int *iwork, const int *liwork, int *info, size_t);

enum { BLOCK = 512 };

static fen_status check_size(int64_t n, int64_t ld, fen_error *err)
{
    if (n < 0 || ld < n || ld > INT_MAX)
        return fenp_fail(err, FEN_BAD_CALL,
                         "a matrix of order %lld is beyond what this LAPACK can hold",
                         (long long)n);
    return FEN_OK;
}

static int all_finite(const double *diagonal, int64_t n, int64_t ld)
{
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(diagonal[i + i * ld])) return 0;
    return 1;
}

fen_status fenp_cholesky(int64_t n, double *a, int64_t ld, int64_t *rank, const fenp_task *task,
                         fen_error *err)
{
    fen_status status = check_size(n, ld, err);
    const int stride = (int)ld;
    *rank = 0;
    for (int64_t k = 0; status == FEN_OK && k < n; k += BLOCK) {
        const int width = (int)(n - k < BLOCK ? n - k : BLOCK), rest = (int)(n - k) - width;
        double *diagonal = a + k + k * ld, *panel = diagonal + width;
        int info;
        dpotrf_("L", &width, diagonal, &stride, &info, 1);
        if (info != 0 || !all_finite(diagonal, width, ld)) { /* some dpotrf let NaN pass */
            *rank = info > 0 ? k + info - 1 : k;
            return FEN_OK;
        }
        cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, rest, width,
                    1.0, diagonal, stride, panel, stride);
        cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, rest, width, -1.0, panel, stride, 1.0,
                    panel + (int64_t)width * ld, stride);
        *rank = k + width;
        const double left = (double)rest / (double)n; /* flops left go with its cube */
        status = fenp_task_at(task, 1.0 - left * left * left, err);
    }
    return status;
}

fen_status fenp_cholesky_solve(int64_t n, const double *l, int64_t ld, double *b, int64_t k,
                               fen_error *err)
{
    const fen_status status = check_size(n, ld, err);
    if (status != FEN_OK || n == 0) return status;
    const int order = (int)n, stride = (int)ld, columns = (int)k;
    int info;
    dpotrs_("L", &order, &columns, l, &stride, b, &order, &info, 1);
    return FEN_OK;
}

fen_status fenp_triangular_inverse(int64_t n, double *l, int64_t ld, fen_error *err)
{
    const fen_status status = check_size(n, ld, err);
    if (status != FEN_OK || n == 0) return status;
    const int order = (int)n, stride = (int)ld;
    int info;
    dtrtri_("L", "N", &order, l, &stride, &info, 1, 1);
    return info == 0 ? FEN_OK : fenp_fail(err, FEN_BAD_DATA, "a triangular factor is singular");
}

/* LAPACK's formula for dsyevd with eigenvectors: 1 + 6n + 2n^2 doubles and 3 + 5n
 * integers, which stand behind them in the same work area. */
static int64_t real_work(int64_t n) { return 1 + 6 * n + 2 * n * n; }
static int64_t integer_work(int64_t n) { return 3 + 5 * n; }

int fenp_eigen_possible(int64_t n) { return n < 32767 && real_work(n) <= INT_MAX; }

int64_t fenp_eigen_work(int64_t n) { return real_work(n) + (integer_work(n) + 1) / 2; }

fen_status fenp_eigen(int64_t n, double *a, int64_t ld, double *d, double *work, fen_error *err)
{
    const fen_status status = check_size(n, ld, err);
    if (status != FEN_OK || n == 0) return status;
    if (!fenp_eigen_possible(n))
        return fenp_fail(err, FEN_BAD_CALL,
                         "an eigendecomposition of order %lld is beyond this LAPACK; "
                         "use --engine cholesky",
                         (long long)n);
    const int order = (int)n, stride = (int)ld;
    const int reals = (int)real_work(n), integers = (int)integer_work(n);
    int info;
    dsyevd_("V", "L", &order, a, &stride, d, work, &reals, (int *)(work + real_work(n)), &integers,
            &info, 1, 1);
    return info == 0 ? FEN_OK
                     : fenp_fail(err, FEN_BAD_DATA,
                                 "the eigendecomposition did not converge: "
                                 "the kernel matrix holds values that are not finite");
}

/* LAPACK's formula for dstevd: 1 + 4n + n^2 doubles, and integers as for dsyevd. */
static int64_t tridiagonal_reals(int64_t n) { return 1 + 4 * n + n * n; }

int64_t fenp_tridiagonal_work(int64_t n)
{
    return tridiagonal_reals(n) + (integer_work(n) + 1) / 2;
}

fen_status fenp_tridiagonal_eigen(int64_t n, double *d, double *e, double *z, double *work,
                                  fen_error *err)
{
    const fen_status status = check_size(n, n, err);
    if (status != FEN_OK || n == 0) return status;
    const int order = (int)n, reals = (int)tridiagonal_reals(n), integers = (int)integer_work(n);
    int info;
    dstevd_("V", &order, d, e, z, &order, work, &reals, (int *)(work + tridiagonal_reals(n)),
            &integers, &info, 1);
    return info == 0 ? FEN_OK
                     : fenp_fail(err, FEN_BAD_DATA,
                                 "the eigendecomposition of a tridiagonal matrix did not "
                                 "converge: it holds values that are not finite");
}

/* By squares that stay in a cache. */
void fenp_mirror_upper(int64_t from, int64_t n, double *a, int64_t ld)
{
    enum { SIDE = 32 };
    for (int64_t j0 = from; j0 < n; j0 += SIDE)
        for (int64_t i0 = 0; i0 < j0 + SIDE; i0 += SIDE)
            for (int64_t j = j0; j < n && j < j0 + SIDE; j++)
                for (int64_t i = i0; i < j && i < i0 + SIDE; i++) a[j + i * ld] = a[i + j * ld];
}
