/* 01_first_fit.c -- data in arrays, everything chosen for you, the certificate printed
 *
 * A noisy sine on 60 points. gamma and lambda come from exact leave-one-out; the
 * certificate says how far the result can be from the best possible one. */
#include <fenchel/fenchel.h>
#include <math.h>
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
    enum { N = 60 };
    double x[N], y[N];
    for (int i = 0; i < N; i++) {
        x[i] = 6.0 * i / N;
        y[i] = sin(x[i]) + (i % 2 ? 0.05 : -0.05);
    }
    fen_options o = fen_options_default();
    fen_error err;
    fen_table *table = NULL;
    fen_model *model = NULL;
    check(fen_table_copy((fen_view){ x, N, 1, 1 }, (fen_view){ y, N, 1, 1 }, NULL, &table, &err),
          &err);
    check(fen_fit(table, &o, NULL, &model, &err), &err);

    const fen_certificate c = fen_model_certificate(model, 0);
    printf("verdict        %s\n", fen_verdict_text(c.verdict));
    printf("relative gap   %s 1e-9\n", c.relative_gap < 1e-9 ? "below" : "above");
    printf("training RMSE  %.2f\n", sqrt(c.mean_loss));

    const double fresh[] = { 0.5, 1.5, 4.5 };
    double score[3];
    check(fen_predict(model, (fen_view){ fresh, 3, 1, 1 }, NULL, NULL, score, &err), &err);
    for (int i = 0; i < 3; i++)
        printf("f(%.1f) = %5.2f   sin = %5.2f\n", fresh[i], score[i], sin(fresh[i]));

    fen_model_free(model);
    fen_table_free(table);
    return 0;
}
