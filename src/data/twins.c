/* twins.c -- columns of a design that are the same, or mirrored
 *
 * Method: products of all columns with two random vectors; columns are sorted by the first, and
 *   those beside each other are compared by both.
 * Special cases: columns of zeros have no twin. A product that is small beside its column by
 *   chance may hide a twin; nobody is called one that is not, but for odds of 1e-20 a pair.
 * Accuracy: columns count as the same if ten digits of both products are.
 * Cost: the columns are read once, and a sort. */
#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/linalg.h"
#include "base/random.h"
#include "data/design.h"

enum { VECTORS = 2, SOME = 256 };
static const double NOTHING = 1e-10;

typedef struct sketch {
    double product[VECTORS]; /* mirrored: the first is not below 0 */
    int64_t column;
} sketch;

static int by_product(const void *a, const void *b)
{
    const sketch *s = a, *t = b;
    if (s->product[0] != t->product[0]) return s->product[0] < t->product[0] ? -1 : 1;
    return s->column < t->column ? -1 : s->column > t->column;
}

static int same(const sketch *s, const sketch *t)
{
    for (int v = 0; v < VECTORS; v++)
        if (!(fabs(s->product[v] - t->product[v]) <= NOTHING * fabs(t->product[v]))) return 0;
    return s->product[0] != 0.0;
}

/* out = X'u of dense rows, some at a time. */
static int multiply_rows(const fenp_design *x, const double *u, double *out)
{
    double *room = fenp_new(fenp_bytes(SOME, x->p, sizeof *room), 1);
    const int lacking = !room;
    for (int64_t j = 0; j < x->p; j++) out[j] = 0.0;
    for (int64_t i = 0; room && i < x->n; i += SOME) {
        const int64_t count = x->n - i < SOME ? x->n - i : SOME;
        cblas_dgemv(CblasRowMajor, CblasTrans, (int)count, (int)x->p, 1.0,
                    fenp_design_rows(x, i, count, room), (int)x->p, u + i, 1, 1.0, out, 1);
    }
    free(room);
    return lacking;
}

/* Nonzero: no memory. */
static int draw(const fenp_design *x, int mirrored, double *u, double *out, sketch *of)
{
    int failed = 0;
    for (int v = 0; v < VECTORS && !failed; v++) {
        for (int64_t i = 0; i < x->n; i++) u[i] = fenp_normal(0, (uint64_t)v, (uint64_t)i);
        if (fenp_design_is_by_rows(x))
            failed = multiply_rows(x, u, out);
        else
            fenp_design_products(x, u, NULL, x->p, out);
        for (int64_t j = 0; j < x->p; j++) of[j].product[v] = out[j], of[j].column = j;
    }
    for (int64_t j = 0; j < x->p && mirrored; j++)
        if (of[j].product[0] < 0.0)
            for (int v = 0; v < VECTORS; v++) of[j].product[v] = -of[j].product[v];
    return failed;
}

/* Runs of the same products: the first column of each stands for all of them. */
static void match(const sketch *of, int64_t p, int64_t *twin)
{
    for (int64_t head = 0, end; head < p; head = end) {
        int64_t first = of[head].column;
        for (end = head + 1; end < p && same(&of[end], &of[head]); end++)
            if (of[end].column < first) first = of[end].column;
        for (int64_t k = head; k < end; k++) twin[of[k].column] = first;
    }
}

int fenp_design_twins(const fenp_design *x, int mirrored, int64_t *twin)
{
    sketch *of = fenp_new(x->p, sizeof *of);
    double *u = fenp_new(x->n + x->p, sizeof *u);
    const int failed = !of || !u || draw(x, mirrored, u, u + x->n, of);
    if (!failed) {
        qsort(of, (size_t)x->p, sizeof *of, by_product);
        match(of, x->p, twin);
    }
    free(of), free(u);
    return failed;
}
