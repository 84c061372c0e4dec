/* 05_which_columns_matter.c -- the lasso finds the five columns that friedman.csv is made of
 *
 * y = 10 sin(pi x1 x2) + 20 (x3 - 1/2)^2 + 10 x4 + 5 x5 + noise; x6 to x10 do nothing. A linear
 * model sees x1, x2, x4 and x5, but not x3, whose part is symmetric about its middle. lambda is
 * the largest within one standard error of the best. */
#include <fenchel/fenchel.h>
#include <stdio.h>
#include <stdlib.h>

static void check(fen_status status, const fen_error *err)
{
    if (status == FEN_OK) return;
    fprintf(stderr, "%s\n", err->message);
    exit(1);
}

int main(void)
{
    fen_options o = fen_options_default();
    fen_error err;
    fen_table *table = NULL;
    fen_model *model = NULL;
    check(fen_options_set(&o, "penalty", "l1", &err), &err);
    check(fen_options_set(&o, "select", "1se:10", &err), &err);
    check(fen_table_read("friedman.csv", &o, NULL, &table, &err), &err);
    check(fen_fit(table, &o, NULL, &model, &err), &err);

    const int64_t features = fen_model_features(model);
    double *value = calloc((size_t)features + 1, sizeof *value), intercept;
    if (!value) return 1;
    check(fen_model_coefficients(model, value, NULL, &intercept, &err), &err);
    printf("intercept %6.2f\n", intercept);
    for (int64_t j = 0; j < features; j++) {
        char name[64];
        fen_model_feature_name(model, j, name, sizeof name);
        if (value[j] != 0.0) printf("%-9s %6.2f\n", name, value[j]);
    }
    const fen_certificate c = fen_model_certificate(model, 0);
    printf("verdict   %s, gap %s 1e-6\n", fen_verdict_text(c.verdict),
           c.relative_gap <= 1e-6 ? "at most" : "above");
    free(value);
    fen_model_free(model);
    fen_table_free(table);
    return 0;
}
