/* cmd_predict.c -- fenchel predict: a model on the rows of a file of any length
 *
 * Rows come, are predicted and are written block by block. Where DATA holds the targets
 * too, the errors are summed up on the way: Welford's recurrence for the variance of the
 * labels, so that R2 does not cancel. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cli.h"

typedef struct quality {
    double count, squares, absolutes, mean, spread;
} quality;

typedef struct job {
    const request *r;
    fen_model *model;
    int64_t targets, rows;
    quality *quality;    /* one per target */
    json_t *predictions; /* NULL: they go to the sink */
    int lost;            /* memory ran out for one of them */
    sink sink;
} job;

static void judge(quality *q, double label, double score)
{
    if (isnan(label)) return;
    double error = label - score, step = label - q->mean;
    q->count++;
    q->squares += error * error;
    q->absolutes += fabs(error);
    q->mean += step / q->count;
    q->spread += step * (label - q->mean);
}
static double rmse(const quality *q) { return sqrt(q->squares / q->count); }
static double mae(const quality *q) { return q->absolutes / q->count; }
static double r2(const quality *q) { return 1 - q->squares / q->spread; }

/* ---- writing ------------------------------------------------------------------------- */

static void write_header(const job *j)
{
    FILE *out = j->sink.stream;
    if (j->predictions) return;
    if (j->targets == 1) fputs("prediction", out);
    for (int64_t t = 0; j->targets > 1 && t < j->targets; t++) {
        if (t > 0) fputc(',', out);
        csv_name(out, "prediction_", fen_model_target_name(j->model, t));
    }
    fputc('\n', out);
}

static void write_row(job *j, const double *scores)
{
    char text[32];
    if (j->predictions) {
        j->lost |= json_array_append_new(j->predictions, json_numbers(scores, j->targets));
        return;
    }
    for (int64_t t = 0; t < j->targets; t++)
        fprintf(j->sink.stream, "%s%s", t > 0 ? "," : "", shortest(scores[t], text));
    fputc('\n', j->sink.stream);
}

/* ---- one block, all blocks -------------------------------------------------------------- */

static int predict_block(job *j, const fen_table *block)
{
    int64_t rows = fen_table_rows(block);
    double *scores = calloc((size_t)(rows * j->targets) + 1, sizeof *scores);
    double *labels = calloc((size_t)(rows * j->targets) + 1, sizeof *labels);
    fen_error err;
    int code = EXIT_DONE;
    if (!scores || !labels)
        code = complain(EXIT_ROOM, "out of memory for a block of %" PRId64 " rows", rows);
    else if (fen_predict_table(j->model, block, &j->r->options, scores, labels, &err))
        code = fail(&err);
    if (code == EXIT_DONE && j->rows == 0) write_header(j); /* nothing before the first success */
    for (int64_t i = 0; code == EXIT_DONE && i < rows; i++) {
        write_row(j, scores + i * j->targets);
        for (int64_t t = 0; t < j->targets; t++)
            judge(&j->quality[t], labels[i * j->targets + t], scores[i * j->targets + t]);
    }
    if (j->lost) code = complain(EXIT_ROOM, "out of memory for the predictions; use -o");
    j->rows += rows;
    free(scores);
    free(labels);
    return code;
}

static int predict_stream(job *j, fen_stream *stream, const fen_host *host)
{
    fen_table *block = NULL;
    fen_error err;
    int code = EXIT_DONE;
    while (code == EXIT_DONE) {
        if (fen_stream_next(stream, &block, &err)) return fail(&err);
        if (!block) break;
        code = predict_block(j, block);
        fen_table_free(block);
        block = NULL;
        if (host->progress(host->user, "predicting", fen_stream_fraction(stream)))
            code = complain(EXIT_INTERRUPTED, "interrupted; nothing was written");
        if (ferror(j->sink.stream)) break; /* closing the sink says why */
    }
    if (code == EXIT_DONE && j->rows == 0)
        code = complain(EXIT_DATA, "%s holds no rows to predict", j->r->operand[1]);
    return code;
}

/* ---- what is said afterwards ------------------------------------------------------------- */

static void say_quality(const job *j)
{
    for (int64_t t = 0; t < j->targets && !j->r->quiet; t++) {
        const quality *q = &j->quality[t];
        if (q->count > 0)
            fprintf(stderr, "%s: RMSE %.5g, MAE %.5g, R2 %.4f on %.0f rows\n",
                    fen_model_target_name(j->model, t), rmse(q), mae(q), r2(q), q->count);
    }
}

static void add_quality(const job *j, json_t *json, const char *key, double (*of)(const quality *))
{
    json_t *array = json_array();
    for (int64_t t = 0; t < j->targets; t++)
        json_array_append_new(array, json_number(of(&j->quality[t])));
    if (j->targets == 1)
        json_object_set(json, key, json_array_get(array, 0));
    else
        json_object_set(json, key, array);
    json_decref(array);
}

static int print_json(job *j)
{
    json_t *json = json_object(), *names = json_array();
    double judged = 0;
    for (int64_t t = 0; t < j->targets; t++) {
        json_array_append_new(names, json_text(fen_model_target_name(j->model, t)));
        judged += j->quality[t].count;
    }
    json_object_set_new(json, "rows", json_integer(j->rows));
    json_object_set_new(json, "targets", names);
    if (j->predictions)
        json_object_set(json, "predictions", j->predictions);
    else
        json_object_set_new(json, "path", json_text(j->r->output));
    if (judged > 0) {
        add_quality(j, json, "rmse", rmse);
        add_quality(j, json, "mae", mae);
        add_quality(j, json, "r2", r2);
    }
    return json_print(json);
}

/* ---- the command --------------------------------------------------------------------------- */

static int predict(job *j)
{
    fen_stream *stream = NULL;
    fen_error err;
    j->targets = fen_model_targets(j->model);
    j->quality = calloc((size_t)j->targets, sizeof *j->quality);
    if (!j->quality)
        return complain(EXIT_ROOM, "out of memory for %" PRId64 " targets", j->targets);
    if (fen_stream_open(j->r->operand[1], &j->r->options, &stream, &err)) return fail(&err);
    int code = sink_open(&j->sink, j->r->output);
    if (code == EXIT_DONE) {
        code = predict_stream(j, stream, progress_begin(j->r->quiet));
        progress_end();
        code = sink_close(&j->sink, code);
    }
    fen_stream_close(stream);
    if (code != EXIT_DONE) return code;
    if (j->r->json) return print_json(j);
    say_quality(j);
    return EXIT_DONE;
}

static int run(const request *r)
{
    job j = { .r = r };
    fen_error err;
    int code = check_output(r->output, (const char *const[]){ r->operand[0], r->operand[1], NULL });
    if (code != EXIT_DONE) return code;
    if (fen_model_load(r->operand[0], &j.model, &err)) return fail(&err);
    if (r->json && !r->output) j.predictions = json_array();
    code = predict(&j);
    json_decref(j.predictions);
    free(j.quality);
    fen_model_free(j.model);
    return code;
}

/* clang-format off */
static const char *const examples[] = {
    "one column, \"prediction\", a line per row of new.csv", "fenchel predict train.fen new.csv",
    "into a file; the error is printed when test.csv holds the target",
    "fenchel predict train.fen test.csv -o predictions.csv",
    NULL
};

const command command_predict = {
    .name = "predict", .operands = "MODEL DATA", .operand_count = 2,
    .output = "OUT", .output_help = "CSV file with the predictions (default: stdout)",
    .summary = "predictions for raw rows, columns matched by name",
    .description = "Predicts every row of DATA, block by block, so that DATA may be larger than "
                   "memory. Columns are matched by name, in any order. Where DATA has the target "
                   "too, the errors are reported on standard error.",
    .examples = examples, .run = run,
};
/* clang-format on */
