/* predict.c -- predictions of many rows, everything in memory
 *
 *     bench_predict TRAIN QUERY GAMMA LAMBDA OUT        jobs: predict, one, arithmetic
 *
 * Fits TRAIN (target last) once. predict is one call of fen_predict on the rows of QUERY (no
 * target); one is a call for every one of its first ONES rows; arithmetic is what these have to
 * compute: distances, exponentials and sums, two rows at a time over centres that lie ready. The
 * predictions of the last job are left in OUT, so that they can be compared. */
#include "data/table.h"
#include "model/model.h"
#include "simd/simd.h"
#include "worker.h"

typedef struct predict_data {
    fen_model *model;
    fen_view rows;
    double *scores;
} predict_data;

static double time_predict(void *data)
{
    const predict_data *d = data;
    fen_error err;
    const double start = fenp_now();
    must(fen_predict(d->model, d->rows, NULL, NULL, d->scores, &err), &err);
    return fenp_now() - start;
}

enum { ONES = 4000 };

static double time_one(void *data)
{
    const predict_data *d = data;
    fen_error err;
    const double start = fenp_now();
    for (int64_t i = 0; i < ONES && i < d->rows.rows; i++) {
        const fen_view row = { d->rows.at + i * d->rows.stride, 1, d->rows.cols, d->rows.cols };
        must(fen_predict(d->model, row, NULL, NULL, d->scores + i, &err), &err);
    }
    return fenp_now() - start;
}

static double time_arithmetic(void *data)
{
    enum { BLOCK = 512, WIDTH = BLOCK + 8 };
    const predict_data *d = data;
    const fen_model *m = d->model;
    const fenp_simd *simd = fenp_simd_get();
    _Alignas(64) double value[2][WIDTH];
    double part, *memory = room(m->kept / BLOCK + 1, (size_t)(m->p * WIDTH + 8) * sizeof *memory);
    double *points = memory + 8 - (uintptr_t)memory / 8 % 8; /* a cache line begins there */
    for (int64_t i = 0; i < m->kept; i++)
        for (int64_t k = 0; k < m->p; k++)
            points[(i / BLOCK * m->p + k) * WIDTH + i % BLOCK] = m->inputs[i * m->p + k];
    const double start = fenp_now();
    for (int64_t i = 0; i + 1 < ONES && i + 1 < d->rows.rows; i += 2) {
        const double *x = d->rows.at + i * d->rows.stride;
        d->scores[i] = d->scores[i + 1] = m->offset[0];
        for (int64_t from = 0; from < m->kept; from += BLOCK) {
            const int64_t count = m->kept - from < BLOCK ? m->kept - from : BLOCK;
            const double *u = m->dual + from;
            simd->distance_two(
                FEN_SQUARED_DISTANCE, x, x + d->rows.stride,
                (fenp_points){ points + from * m->p / BLOCK * WIDTH, m->p, WIDTH, count }, value[0],
                value[1]);
            for (int r = 0; r < 2; r++) {
                simd->exp_scaled(value[r], count, -m->kernel.par.gamma);
                simd->dots(1, count, &u, value[r], &part);
                d->scores[i + r] += m->coef_scale[0] * part;
            }
        }
    }
    const double seconds = fenp_now() - start;
    free(memory);
    return seconds;
}

static void write_scores(const predict_data *d, const char *path)
{
    fen_view none = { NULL, d->rows.rows, 0, 0 }, scores = { d->scores, d->rows.rows, 1, 1 };
    fen_table *table = NULL;
    fen_error err;
    must(fen_table_copy(none, scores, NULL, &table, &err), &err);
    must(fen_table_write(table, path, "npy", &err), &err);
    fen_table_free(table);
}

int main(int argc, char **argv)
{
    static const job jobs[] = { { "predict", time_predict },
                                { "one", time_one },
                                { "arithmetic", time_arithmetic } };
    fen_options o = fen_options_default();
    fen_table *train = NULL, *query = NULL;
    fen_error err;
    if (argc != 6) {
        fprintf(stderr, "usage: bench_predict TRAIN QUERY GAMMA LAMBDA OUT\n");
        return EXIT_FAILURE;
    }
    must(fen_options_set(&o, "gamma", argv[3], &err), &err);
    must(fen_options_set(&o, "lambda", argv[4], &err), &err);
    must(fen_options_set(&o, "scale", "none", &err), &err);
    must(fen_options_set(&o, "no-bias", NULL, &err), &err);
    must(fen_table_read(argv[1], &o, NULL, &train, &err), &err);
    must(fen_table_read(argv[2], &o, NULL, &query, &err), &err);
    predict_data d = { .rows = { query->cells, query->rows, query->cols, query->cols } };
    d.scores = room(query->rows, sizeof *d.scores);
    must(fen_fit(train, &o, NULL, &d.model, &err), &err);
    const int code = serve(jobs, 3, &d);
    write_scores(&d, argv[5]);
    free(d.scores);
    fen_model_free(d.model);
    fen_table_free(train);
    fen_table_free(query);
    return code;
}
