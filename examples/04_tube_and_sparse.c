/* 04_tube_and_sparse.c -- two problems, one answer: hard-tube regression and sparse approximation
 *
 *     smallest ||f||           such that |y_i - f(x_i)| <= e for all i             (loss tube:e)
 *     least 1/2 ||g - f||^2 + e sum |c_i|,   f = sum c_i k(x_i, .),   y_i = g(x_i)
 *
 * The first asks for the simplest function within a tube around the data, the second for a
 * good approximation of g with few kernel functions. The second is the dual of the first, so
 * the coefficients are the same: fenchel solves the first, the few lines of coordinate descent
 * below the second. A wider tube needs fewer kernel functions. */
#include <fenchel/fenchel.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 25 };

static void check(fen_status status, const fen_error *err)
{
    if (status == FEN_OK) return;
    fprintf(stderr, "%s\n", err->message);
    exit(1);
}

static double kernel(double s, double t) { return exp(-2.0 * (s - t) * (s - t)); }

/* c_i = soft(y_i - sum over j != i of k_ij c_j, e) / k_ii, row after row, until nothing moves */
static void approximate(const double *x, const double *y, double e, double *c)
{
    double moved = 1.0;
    memset(c, 0, N * sizeof *c);
    while (moved > 1e-13) {
        moved = 0.0;
        for (int i = 0; i < N; i++) {
            double rest = y[i];
            for (int j = 0; j < N; j++) rest -= j == i ? 0.0 : kernel(x[i], x[j]) * c[j];
            const double next = copysign(fmax(fabs(rest) - e, 0.0), rest);
            moved = fmax(moved, fabs(next - c[i]));
            c[i] = next;
        }
    }
}

/* The coefficients of the only point of a path. */
static void regress(const fen_table *table, const char *loss, double *c)
{
    fen_options o = fen_options_default();
    fen_error err;
    char *json = NULL;
    o.loss = loss;
    o.kernel = "gaussian", o.gamma = fen_value(2.0);
    o.lambda = fen_value(0.5); /* any: the tube is hard */
    o.bias = 0, o.scale = "none", o.tolerance = 1e-10;
    check(fen_path(table, &o, NULL, &json, &err), &err);
    const char *at = strstr(json, "\"solution\": [");
    for (int i = 0; at && i < N; i++) {
        char *end;
        c[i] = strtod(at += strcspn(at, "-0123456789"), &end);
        at = end;
    }
    fen_text_free(json);
}

int main(void)
{
    double x[N], y[N], tube[N], sparse[N];
    fen_table *table = NULL;
    fen_error err;
    for (int i = 0; i < N; i++) {
        x[i] = 0.4 * i;
        y[i] = sin(x[i]) + 0.5 * sin(3.0 * x[i]);
    }
    check(fen_table_copy((fen_view){ x, N, 1, 1 }, (fen_view){ y, N, 1, 1 }, NULL, &table, &err),
          &err);
    printf("tube   kernel functions   difference   at the edge\n");
    for (double e = 0.05; e < 1.0; e *= 2.0) {
        char loss[32];
        double difference = 0.0;
        int used = 0, edge = 0;
        snprintf(loss, sizeof loss, "tube:%g", e);
        regress(table, loss, tube);
        approximate(x, y, e, sparse);
        for (int i = 0; i < N; i++) {
            double f = 0.0;
            for (int j = 0; j < N; j++) f += kernel(x[i], x[j]) * sparse[j];
            difference = fmax(difference, fabs(tube[i] - sparse[i]));
            used += sparse[i] != 0.0;
            edge += sparse[i] != 0.0 && fabs(fabs(y[i] - f) - e) < 1e-9;
        }
        printf("%4.2f   %2d of %d           %s        %d\n", e, used, N,
               difference < 1e-5 ? "none" : "some", edge);
    }
    fen_table_free(table);
    return 0;
}
