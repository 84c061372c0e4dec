/* predict.c -- decision values, votes and probabilities
 *
 *     decision of the pair (i, j) = sum over support vectors of i and j of coef k(vector, x) - rho
 *
 * Method: kernel values by tiles, a class of support vectors at a time, so that a value is
 *   computed once for all pairs; linear models by their weights.
 * Special cases: ties of votes go to the first class; a decision of 0 is a vote for j.
 *   Probabilities of pairs are kept 1e-7 away from 0 and 1 and, of more than two classes,
 *   coupled to 0.005 / classes: LIBSVM's figures, so that its digits come out.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/error.h"
#include "base/threads.h"
#include "promise/platt.h"
#include "svm/parts.h"

enum { BLOCK_ROWS = 1024, BLOCK_DOUBLES = 1 << 23 };
static const double least_probability = 1e-7;

/* ---- decision values ----------------------------------------------------------------- */

static void fill_row(const fen_svm *m, const fenp_rows *rows, int64_t row, double *x)
{
    if (m->kernel == FEN_SVM_PRECOMPUTED)
        for (int64_t i = 0; i < m->vectors.n; i++) x[i] = fenp_rows_at(rows, row, m->serial[i]);
    else /* at right angles to every support vector */
        x[m->columns.count] = sqrt(fenp_columns_fill(&m->columns, rows, row, x));
}

/* decision += what the support vectors of one block add; part: count x coefficient rows. */
static fen_status add_block(const fen_svm *m, int64_t b, int64_t first, fen_view x, double *part,
                            double *decision, fen_error *err)
{
    const int given = m->kernel == FEN_SVM_PRECOMPUTED;
    const int64_t coefs = fenp_svm_coef_rows(m), stride = m->columns.count + 1;
    const fenp_kernel kernel = { fenp_svm_kernel_table(m->kernel), m->par };
    const fen_view centres = { given ? NULL : m->dense + first * stride, m->support[b], stride,
                               stride };
    if (given) x.at += first, x.cols = m->support[b];
    fen_status status = fenp_gram_times(&kernel, x, centres, m->coef[b], coefs, part, NULL, err);
    for (int64_t i = 0; i < x.rows && status == FEN_OK; i++)
        for (int64_t j = 0; j < coefs; j++)
            decision[i * m->machines + fenp_svm_machine(m, b, j)] += part[i * coefs + j];
    return status;
}

static void add_linear(const fen_svm *m, const fenp_rows *rows, int64_t row, double *decision)
{
    int64_t c = 0;
    for (int64_t e = rows->start[row]; e < rows->start[row + 1]; e++) {
        while (c < m->columns.count && m->columns.index[c] < rows->index[e]) c++;
        if (c == m->columns.count) return;
        if (m->columns.index[c] != rows->index[e]) continue;
        const double *weights = m->weights + c * m->machines;
        for (int64_t p = 0; p < m->machines; p++) decision[p] += rows->value[e] * weights[p];
    }
}

/* x: count x width doubles of work, part: count x coefficient rows. */
static fen_status decide(const fen_svm *m, const fenp_rows *rows, int64_t from, int64_t count,
                         int64_t width, double *x, double *part, double *decision, fen_error *err)
{
    fen_status status = FEN_OK;
    for (int64_t i = 0; i < count; i++)
        for (int64_t p = 0; p < m->machines; p++) decision[i * m->machines + p] = -m->rho[p];
    if (m->kernel == FEN_SVM_LINEAR) {
        for (int64_t i = 0; i < count; i++)
            add_linear(m, rows, from + i, decision + i * m->machines);
        return FEN_OK;
    }
    for (int64_t i = 0; i < count; i++) fill_row(m, rows, from + i, x + i * width);
    for (int64_t b = 0, first = 0; b < m->blocks && status == FEN_OK; first += m->support[b++])
        if (m->support[b] > 0 && m->machines > 0)
            status =
                add_block(m, b, first, (fen_view){ x, count, width, width }, part, decision, err);
    return status;
}

/* ---- from decision values to answers ------------------------------------------------- */

static int64_t most(const double *values, int64_t count)
{
    int64_t best = 0;
    for (int64_t i = 1; i < count; i++)
        if (values[i] > values[best]) best = i;
    return best;
}

static double answer(const fen_svm *m, const double *decision, double *votes)
{
    if (m->type == FEN_SVM_ONE_CLASS) return decision[0] > 0.0 ? 1.0 : -1.0;
    if (!m->label) return decision[0];
    memset(votes, 0, (size_t)m->classes * sizeof *votes);
    for (int64_t i = 0, p = 0; i < m->classes; i++)
        for (int64_t j = i + 1; j < m->classes; j++, p++) votes[decision[p] > 0.0 ? i : j]++;
    return m->label[most(votes, m->classes)];
}

static double answer_one_class(const fen_svm *m, double decision, double *out)
{
    out[0] = fenp_svm_marks_value(m->marks, decision);
    out[1] = 1.0 - out[0];
    return decision > 0.0 ? 1.0 : -1.0;
}

/* work: classes x (2 classes + 1) */
static double probabilities(const fen_svm *m, const double *decision, double *work, double *out)
{
    const int64_t k = m->classes;
    if (m->type == FEN_SVM_ONE_CLASS) return answer_one_class(m, decision[0], out);
    for (int64_t i = 0, p = 0; i < k; i++)
        for (int64_t j = i + 1; j < k; j++, p++) {
            const double sigmoid[2] = { m->prob_a[p], m->prob_b[p] };
            const double value = fenp_platt_value(sigmoid, decision[p]);
            work[i * k + j] = fmin(fmax(value, least_probability), 1.0 - least_probability);
            work[j * k + i] = 1.0 - work[i * k + j];
        }
    out[0] = 1.0;
    if (k == 2) out[0] = work[1], out[1] = work[2];
    if (k > 2) fenp_couple(k, work, 0.005 / (double)k, work + k * k, out);
    return m->label[most(out, k)];
}

/* ---- all rows ------------------------------------------------------------------------ */

typedef struct room {
    int64_t rows, width; /* of a block of rows */
    double *x, *part, *decision, *work;
} room;

static fen_status room_open(const fen_svm *m, int64_t count, room *r, fen_error *err)
{
    const int64_t k = m->classes;
    r->width = m->kernel == FEN_SVM_LINEAR        ? 1
               : m->kernel == FEN_SVM_PRECOMPUTED ? m->vectors.n + 1
                                                  : m->columns.count + 1;
    r->rows = BLOCK_DOUBLES / r->width;
    r->rows = r->rows < 1 ? 1 : r->rows > BLOCK_ROWS ? BLOCK_ROWS : r->rows;
    if (r->rows > count) r->rows = count;
    r->x = fenp_new(fenp_bytes(r->rows, r->width, 1), sizeof *r->x);
    r->part = fenp_new(fenp_bytes(r->rows, fenp_svm_coef_rows(m), 1), sizeof *r->part);
    r->decision = fenp_new(fenp_bytes(r->rows, m->machines, 1), sizeof *r->decision);
    r->work = fenp_new(fenp_bytes(k, 2 * k + 1, 1), sizeof *r->work);
    if (r->x && r->part && r->decision && r->work) return FEN_OK;
    return fenp_no_memory(err, 0, "predictions");
}

static void answer_block(const fen_svm *m, const room *r, int64_t count, double *predicted,
                         double *probability)
{
    for (int64_t i = 0; i < count; i++) {
        const double *decision = r->decision + i * m->machines;
        predicted[i] = probability
                           ? probabilities(m, decision, r->work, probability + i * m->classes)
                           : answer(m, decision, r->work);
    }
}

fen_status fen_svm_predict(const fen_svm *m, const fen_svm_data *data, int64_t from, int64_t count,
                           double *predicted, double *decision, double *probability, fen_error *err)
{
    if (from < 0 || count < 0 || from + count > data->rows.n)
        return fenp_fail(err, FEN_BAD_CALL, "there are no rows %lld to %lld", (long long)from,
                         (long long)(from + count));
    if (probability && ((!m->label && !m->marks) || !fen_svm_has_probability(m)))
        return fenp_fail(err, FEN_BAD_CALL, "the model does not support probability estimates");
    room r = { 0 };
    const double each = (double)m->vectors.n * (32.0 + (double)m->columns.count);
    const fenp_threads before = fenp_threads_enter(fenp_threads_for((double)count * each, 0));
    fen_status status = room_open(m, count, &r, err);
    for (int64_t at = 0; at < count && status == FEN_OK; at += r.rows) {
        const int64_t here = count - at < r.rows ? count - at : r.rows;
        status = decide(m, &data->rows, from + at, here, r.width, r.x, r.part, r.decision, err);
        if (status != FEN_OK) break;
        if (decision)
            memcpy(decision + at * m->machines, r.decision,
                   (size_t)(here * m->machines) * sizeof *decision);
        answer_block(m, &r, here, predicted + at,
                     probability ? probability + at * m->classes : NULL);
    }
    fenp_threads_leave(before);
    free(r.x), free(r.part), free(r.decision), free(r.work);
    return status;
}
