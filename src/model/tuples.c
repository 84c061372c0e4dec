/* tuples.c -- f by its definition, for the few rows that no list of features reaches
 *
 *     f(x) = sum over tuples of q - 1 rows of a_i1 a_i2 ... kappa(sum_j x_i1j x_i2j ... x_j)
 *
 * Method: multisets i1 <= i2 <= ... stand for their orders; the last member runs over all rows at
 *   once. Threads share the first member, whose sums are added in order.
 * Special cases: coefficients of 0 take no part.
 * Accuracy: kernel values in double, sums in long double. Terms cancel: the sum of their sizes
 *   tells what rounding may make of it.
 * Cost: C(kept + q - 2, q - 1) kernel values and p times as many multiplications, for each row. */
#include <math.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/error.h"
#include "model/lp.h"
#include "tensor/form.h"
#include "tensor/pivots.h"

typedef struct sum {
    const fenp_kernel *kernel;
    const double *rows, *a;
    int64_t n, p, members; /* q - 1                                   */
    double *work;          /* members x p: products so far; n: values */
    long double value, size;
} sum;

int64_t fenp_tuples_count(const fen_model *m)
{
    return fenp_multisets(m->kept, fenp_even_order(m->kernel.par.order) - 1);
}

/* The last member, from .. n - 1; run: how often `from` is there already. */
static void add_last(sum *s, int64_t from, int64_t run, const double *product, long double weight)
{
    double *value = s->work + s->members * s->p;
    const int64_t count = s->n - from;
    for (int64_t i = 0; i < count; i++) {
        const double *row = s->rows + (from + i) * s->p;
        double dot = 0.0;
#pragma omp simd reduction(+ : dot)
        for (int64_t j = 0; j < s->p; j++) dot += product[j] * row[j];
        value[i] = dot;
    }
    s->kernel->table->map(value, count, &s->kernel->par);
    for (int64_t i = 0; i < count; i++) {
        const long double each = weight * s->a[from + i] / (long double)(i == 0 ? run + 1 : 1);
        s->value += each * value[i];
        s->size += fabsl(each * value[i]);
    }
}

static void add_member(sum *s, int64_t depth, int64_t i, int64_t run, const double *before,
                       long double weight);

/* weight: q - 1, q - 2, ... orders of the members so far, times their coefficients. */
static void add_rest(sum *s, int64_t depth, int64_t from, int64_t run, const double *product,
                     long double weight)
{
    const long double more = weight * (long double)(depth + 1);
    if (depth == s->members - 1) {
        add_last(s, from, run, product, more);
        return;
    }
    for (int64_t i = from; i < s->n; i++)
        add_member(s, depth, i, i == from ? run + 1 : 1, product, more);
}

static void add_member(sum *s, int64_t depth, int64_t i, int64_t run, const double *before,
                       long double weight)
{
    double *product = s->work + depth * s->p;
    if (s->a[i] == 0.0) return;
    for (int64_t j = 0; j < s->p; j++) product[j] = before[j] * s->rows[i * s->p + j];
    add_rest(s, depth + 1, i, run, product, weight * s->a[i] / (long double)run);
}

/* Those whose first member is i; of one member alone, all. */
static sum part_of(const fen_model *m, const fenp_kernel *kernel, const double *rows,
                   const double *a, const double *x, int64_t i, int *failed)
{
    sum s = { .kernel = kernel,
              .rows = rows,
              .a = a,
              .n = m->kept,
              .p = m->p,
              .members = fenp_even_order(kernel->par.order) - 1 };
    s.work = fenp_new(s.members * s.p + s.n, sizeof *s.work);
    if (!s.work)
        *failed = 1;
    else if (s.members > 1)
        add_member(&s, 0, i, 1, x, 1.0L);
    else if (i == 0)
        add_last(&s, 0, 0, x, 1.0L);
    free(s.work);
    return s;
}

fen_status fenp_tuples_sum(const fen_model *m, const fenp_kernel *kernel, const double *rows,
                           int64_t t, const double *x, double *value, double *size, fen_error *err)
{
    double *a = fenp_new(m->kept, sizeof *a);
    sum *part = fenp_new(m->kept, sizeof *part);
    const int64_t bytes = fenp_bytes(m->kept, 1, sizeof *part);
    long double all = 0.0L, sizes = 0.0L;
    int failed = !a || !part;
    for (int64_t i = 0; !failed && i < m->kept; i++)
        a[i] = m->coef_scale[t] * m->dual[t * m->kept + i];
    if (!failed) {
        int lacking = 0;
#pragma omp parallel for schedule(dynamic) reduction(| : lacking)
        for (int64_t i = 0; i < m->kept; i++) part[i] = part_of(m, kernel, rows, a, x, i, &lacking);
        failed = lacking;
    }
    for (int64_t i = 0; !failed && i < m->kept; i++) all += part[i].value, sizes += part[i].size;
    *value = (double)all, *size = (double)sizes;
    free(a);
    free(part);
    return failed ? fenp_no_memory(err, bytes, "a prediction") : FEN_OK;
}
