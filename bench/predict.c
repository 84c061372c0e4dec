/* predict.c -- predictions of many rows, everything in memory
 *
 *     bench_predict TRAIN QUERY GAMMA LAMBDA OUT        job: predict
 *
 * Fits TRAIN (target last) once; the job is one call of fen_predict on the rows of QUERY (no
 * target). The predictions of the last job are left in OUT, so that they can be compared. */
#include "data/table.h"
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
    must(fen_predict(d->model, d->rows, d->scores, &err), &err);
    return fenp_now() - start;
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
    static const job jobs[] = { { "predict", time_predict } };
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
    const int code = serve(jobs, 1, &d);
    write_scores(&d, argv[5]);
    free(d.scores);
    fen_model_free(d.model);
    fen_table_free(train);
    fen_table_free(query);
    return code;
}
