/* 06_which_products_matter.c -- finds the interaction that made the data
 *
 * y = 2 x1 x3 - x2^2 + noise among 30 columns, seen in 120 rows. There are 465 products of two
 * columns. The penalty sum |w_k|^(4/3) on the weights of all of them shrinks those that do
 * nothing far more than those that matter; ridge regression with a polynomial kernel has the
 * same products, and shrinks all of them alike. 06_which_products_matter.sh does the same with
 * the tool. */
#include <fenchel/fenchel.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { COLUMNS = 30, TRAIN = 120, FRESH = 500, SHOWN = 3 };

static void check(fen_status status, const fen_error *err)
{
    if (status == FEN_OK) return;
    fprintf(stderr, "%s\n", err->message);
    exit(1);
}

/* Uniform between -1 and 1, the same everywhere. */
static double uniform(int64_t *state)
{
    *state = 16807 * *state % 2147483647;
    return 2.0 * (double)*state / 2147483647.0 - 1.0;
}

static void draw(int64_t *state, int rows, double *x, double *y)
{
    for (int i = 0; i < rows; i++, x += COLUMNS) {
        for (int j = 0; j < COLUMNS; j++) x[j] = uniform(state);
        y[i] = 2.0 * x[0] * x[2] - x[1] * x[1] + 0.5 * uniform(state);
    }
}

static fen_model *fit(const fen_table *table, const char *penalty, const char *kernel)
{
    fen_options o = fen_options_default();
    fen_error err;
    fen_model *model = NULL;
    o.penalty = penalty, o.kernel = kernel, o.degree = 2; /* lambda: by held-out rows */
    check(fen_fit(table, &o, NULL, &model, &err), &err);
    return model;
}

static double error_of(const fen_model *model, const double *x, const double *y)
{
    static double f[FRESH];
    double sum = 0.0;
    fen_error err;
    check(fen_predict(model, (fen_view){ x, FRESH, COLUMNS, COLUMNS }, NULL, NULL, f, &err), &err);
    for (int i = 0; i < FRESH; i++) sum += (f[i] - y[i]) * (f[i] - y[i]) / FRESH;
    return sqrt(sum);
}

/* The largest weights, by name. */
static void show(const fen_model *model)
{
    const int64_t count = fen_model_implied(model);
    double *w = calloc((size_t)count + 1, sizeof *w);
    fen_error err;
    if (!w) exit(1);
    check(fen_model_implied_weights(model, 0, w, NULL, &err), &err);
    printf("%d products of columns, the largest weights:\n", (int)count);
    for (int shown = 0; shown < SHOWN; shown++) {
        int64_t most = 0;
        char name[64];
        for (int64_t k = 1; k < count; k++)
            if (fabs(w[k]) > fabs(w[most])) most = k;
        fen_model_implied_name(model, most, name, sizeof name);
        printf("    %-8s %5.2f\n", name, w[most]);
        w[most] = 0.0;
    }
    free(w);
}

int main(void)
{
    static double x[TRAIN * COLUMNS], y[TRAIN], fresh_x[FRESH * COLUMNS], fresh_y[FRESH];
    int64_t state = 20;
    fen_error err;
    fen_table *table = NULL;
    draw(&state, TRAIN, x, y);
    draw(&state, FRESH, fresh_x, fresh_y);
    check(fen_table_copy((fen_view){ x, TRAIN, COLUMNS, COLUMNS }, (fen_view){ y, TRAIN, 1, 1 },
                         NULL, &table, &err),
          &err);
    fen_model *lp = fit(table, "lp:4/3", "tensor-polynomial");
    fen_model *ridge = fit(table, "rkhs", "polynomial");
    const fen_certificate c = fen_model_certificate(lp, 0);
    show(lp);
    printf("verdict %s\n", fen_verdict_text(c.verdict));
    printf("RMSE on %d fresh rows: %.2f, ridge regression %.2f\n", FRESH,
           error_of(lp, fresh_x, fresh_y), error_of(ridge, fresh_x, fresh_y));
    fen_model_free(lp);
    fen_model_free(ridge);
    fen_table_free(table);
    return 0;
}
