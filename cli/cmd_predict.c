/* cmd_predict.c -- fenchel predict: a model on the rows of a file of any length
 *
 * Rows come, are predicted and are written block by block. Numbers: one column per output.
 * Classes: the label, the probabilities that the model has and, with --scores, the decision
 * scores; one class: 1 inside, -1 outside. Where DATA holds the targets too, the errors are
 * summed up on the way (quality.c). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "quality.h"
#include "report.h"

typedef struct job {
    const request *r;
    fen_model *model;
    json_t *outputs, *names; /* of fen_model_json                    */
    int64_t targets, classes, rows;
    int64_t lacking;                 /* columns that are not needed          */
    fen_odd_cells odd;               /* cells that training did not have     */
    fen_far far;                     /* rows far from those of training      */
    char contrast[320];              /* of the reading to that of training   */
    char unfinished[256];            /* the model, in a sentence; "": it is  */
    int one_class, probable, scores; /* what is written                      */
    quality quality;
    json_t *predictions;   /* NULL: they go to the sink            */
    json_t *laws, *scored; /* probabilities and scores beside them */
    int lost;              /* memory ran out for one of them       */
    sink sink;
} job;

/* What is known of the rows of a block. */
typedef struct answers {
    double *scores, *labels; /* rows x targets                       */
    double *laws;            /* rows x classes, or NULL              */
    int64_t *codes;          /* rows                                 */
} answers;

static int decides(const job *j) { return j->classes > 0 || j->one_class; }

/* ---- columns -------------------------------------------------------------------------- */

static const json_t *output_at(const job *j, int64_t t)
{
    return json_array_get(j->outputs, (size_t)t);
}

/* Has another output the same target? Then they differ by the parameter of the loss. */
static int is_one_of_several(const job *j, int64_t t)
{
    const char *target = json_text_at(output_at(j, t), "target");
    int count = 0;
    for (int64_t s = 0; s < j->targets; s++)
        count += strcmp(json_text_at(output_at(j, s), "target"), target) == 0;
    return count > 1;
}

static int one_target(const job *j)
{
    for (int64_t t = 1; t < j->targets; t++)
        if (strcmp(json_text_at(output_at(j, t), "target"),
                   json_text_at(output_at(j, 0), "target")))
            return 0;
    return 1;
}

/* "prediction", "prediction_rent", "prediction_0.1", "prediction_rent_0.1" */
static void number_column(const job *j, int64_t t)
{
    char name[640], par[32];
    const char *target = one_target(j) ? "" : json_text_at(output_at(j, t), "target");
    const int several = is_one_of_several(j, t);
    snprintf(name, sizeof name, "%s%.500s%s%s", target[0] ? "_" : "", target, several ? "_" : "",
             several ? shortest(json_at(output_at(j, t), "parameter"), par) : "");
    csv_name(j->sink.stream, "prediction", name);
}

/* "score", "score_red", "score_red_blue": positive speaks for red */
static void score_column(const job *j, int64_t t)
{
    char name[1024];
    const char *plus = json_text_at(output_at(j, t), "plus");
    const char *minus = json_text_at(output_at(j, t), "minus");
    snprintf(name, sizeof name, "%s%.500s%s%.500s", plus[0] ? "_" : "", plus, minus[0] ? "_" : "",
             minus);
    csv_name(j->sink.stream, "score", j->targets > 1 ? name : "");
}

static void write_header(const job *j)
{
    FILE *out = j->sink.stream;
    if (j->predictions) return;
    for (int64_t t = 0; !decides(j) && t < j->targets; t++) {
        if (t > 0) fputc(',', out);
        number_column(j, t);
    }
    if (decides(j)) fputs("prediction", out);
    for (int64_t k = 0; j->probable && k < j->classes; k++) {
        fputc(',', out);
        csv_name(out, "probability_", fen_model_class(j->model, k));
    }
    for (int64_t t = 0; j->scores && t < j->targets; t++) {
        fputc(',', out);
        score_column(j, t);
    }
    fputc('\n', out);
}

/* ---- rows ----------------------------------------------------------------------------- */

static void write_numbers(const job *j, const double *values, int64_t count, int first)
{
    char text[32];
    for (int64_t k = 0; k < count; k++)
        fprintf(j->sink.stream, "%s%s", first && k == 0 ? "" : ",", shortest(values[k], text));
}

/* Always an array, also of one. */
static json_t *numbers(const double *values, int64_t count)
{
    json_t *array = json_array();
    for (int64_t k = 0; k < count; k++) json_array_append_new(array, json_number(values[k]));
    return array;
}

static void keep_row(job *j, const answers *a, int64_t i)
{
    const double *scores = a->scores + i * j->targets;
    json_t *prediction = j->classes > 0 ? json_text(fen_model_class(j->model, a->codes[i]))
                         : j->one_class ? json_integer(a->codes[i])
                                        : json_numbers(scores, j->targets);
    j->lost |= json_array_append_new(j->predictions, prediction);
    if (j->probable)
        j->lost |= json_array_append_new(j->laws, numbers(a->laws + i * j->classes, j->classes));
    if (j->scores) j->lost |= json_array_append_new(j->scored, json_numbers(scores, j->targets));
}

static void write_row(job *j, const answers *a, int64_t i)
{
    const double *scores = a->scores + i * j->targets;
    FILE *out = j->sink.stream;
    if (j->predictions) {
        keep_row(j, a, i);
        return;
    }
    if (j->classes > 0)
        csv_name(out, "", fen_model_class(j->model, a->codes[i]));
    else if (j->one_class)
        fprintf(out, "%" PRId64, a->codes[i]);
    else
        write_numbers(j, scores, j->targets, 1);
    if (j->probable) write_numbers(j, a->laws + i * j->classes, j->classes, 0);
    if (j->scores) write_numbers(j, scores, j->targets, 0);
    fputc('\n', out);
}

static void judge_row(job *j, const answers *a, int64_t i)
{
    const double *labels = a->labels + i * j->targets;
    if (j->classes > 0)
        judge_class(&j->quality, labels[0], a->codes[i],
                    j->probable ? a->laws + i * j->classes : NULL);
    else if (j->one_class)
        judge_inside(&j->quality, a->codes[i]);
    else
        judge_numbers(&j->quality, labels, a->scores + i * j->targets);
}

/* ---- one block, all blocks -------------------------------------------------------------- */

static void answers_free(answers *a)
{
    free(a->scores);
    free(a->labels);
    free(a->laws);
    free(a->codes);
}

static int answer(job *j, const fen_table *block, answers *a)
{
    const int64_t rows = fen_table_rows(block);
    const size_t cells = (size_t)(rows * j->targets) + 1;
    fen_error err;
    *a = (answers){ .scores = calloc(cells, sizeof(double)),
                    .labels = calloc(cells, sizeof(double)),
                    .laws =
                        calloc((size_t)(rows * (j->probable ? j->classes : 0)) + 1, sizeof(double)),
                    .codes = calloc((size_t)rows + 1, sizeof(int64_t)) };
    if (!a->scores || !a->labels || !a->laws || !a->codes)
        return complain(EXIT_ROOM, "out of memory for a block of %" PRId64 " rows", rows);
    if (fen_predict_table(j->model, block, &j->r->options, a->scores, a->labels, &err) ||
        fen_predict_odd(j->model, block, &j->odd, &err) ||
        fen_predict_far(j->model, block, a->scores, &j->far, &err))
        return fail(&err);
    if (decides(j) &&
        fen_decide(j->model, a->scores, rows, a->codes, j->probable ? a->laws : NULL, &err))
        return fail(&err);
    return EXIT_DONE;
}

static int predict_block(job *j, const fen_table *block)
{
    const int64_t rows = fen_table_rows(block);
    answers a;
    int code = answer(j, block, &a);
    if (code == EXIT_DONE && j->rows == 0) {
        write_header(j); /* nothing before the first success */
        j->lacking = fen_predict_lacking(j->model, block);
    }
    for (int64_t i = 0; code == EXIT_DONE && i < rows; i++) {
        write_row(j, &a, i);
        judge_row(j, &a, i);
    }
    if (j->lost) code = complain(EXIT_ROOM, "out of memory for the predictions; use -o");
    j->rows += rows;
    answers_free(&a);
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

enum { NOTES = 6, NOTE_ROOM = 640 };

/* "line 17, column "income" is 9e+06, training had 0 to 1e+05" */
static const char *far_text(const fen_far_row *row, char *out, size_t size)
{
    char range[160] = "its kernel values with all rows of the model are all but 0";
    char number[3][32];
    if (row->kind != FEN_FAR_ALONE)
        snprintf(range, sizeof range, "is %s, training had %s to %s",
                 shortest(row->value, number[0]), shortest(row->least, number[1]),
                 shortest(row->largest, number[2]));
    snprintf(out, size, "%s %" PRId64 ", %s%s%s%s", row->line > 0 ? "line" : "row",
             row->line > 0 ? row->line : row->row,
             row->kind == FEN_FAR_COLUMN       ? "column \""
             : row->kind == FEN_FAR_PREDICTION ? "the prediction of \""
                                               : "",
             row->column, row->kind == FEN_FAR_ALONE ? "" : "\" ", range);
    return out;
}

static json_t *json_of_far(const fen_far *far)
{
    static const char *const why[] = { "", "column", "alone", "prediction" };
    json_t *list = json_array();
    for (int64_t k = 0; k < far->rows && k < FEN_FAR_SHOWN; k++) {
        const fen_far_row *row = &far->first[k];
        json_t *one = json_object();
        json_object_set_new(one, "row", json_integer(row->row));
        if (row->line > 0) json_object_set_new(one, "line", json_integer(row->line));
        json_object_set_new(one, "why", json_string(why[row->kind]));
        if (row->kind != FEN_FAR_ALONE) {
            json_object_set_new(one, "column", json_text(row->column));
            json_object_set_new(one, "value", json_number(row->value));
            json_object_set_new(one, "least", json_number(row->least));
            json_object_set_new(one, "largest", json_number(row->largest));
        }
        json_array_append_new(list, one);
    }
    return list;
}

/* What the predictions do without, or go by all the same; how many notes there are. */
static int write_notes(const job *j, char note[][NOTE_ROOM])
{
    const fen_odd_cells *odd = &j->odd;
    int count = 0;
    char where[448];
    if (j->unfinished[0]) snprintf(note[count++], NOTE_ROOM, "%s", j->unfinished);
    if (j->contrast[0]) snprintf(note[count++], NOTE_ROOM, "%s", j->contrast);
    if (j->lacking > 0)
        snprintf(note[count++], NOTE_ROOM,
                 "%" PRId64 " column%s that the model does not use %s missing", j->lacking,
                 j->lacking > 1 ? "s" : "", j->lacking > 1 ? "are" : "is");
    if (odd->filled > 0)
        snprintf(note[count++], NOTE_ROOM,
                 "%" PRId64 " number%s missing (first in \"%s\") where no training row lacks one: "
                 "the training mean stands in",
                 odd->filled, odd->filled > 1 ? "s are" : " is", odd->filled_column);
    if (odd->unseen > 0)
        snprintf(note[count++], NOTE_ROOM,
                 "%" PRId64 " text%s in no training row (first \"%s\" in \"%s\"): predicted as "
                 "\"other\", as a missing text is",
                 odd->unseen, odd->unseen > 1 ? "s are" : " is", odd->unseen_text,
                 odd->unseen_column);
    if (j->far.rows > 0)
        snprintf(note[count++], NOTE_ROOM,
                 "%" PRId64 " of %" PRId64 " rows %s far from the training data (%s%s): %s "
                 "extrapolation%s",
                 j->far.rows, j->rows, j->far.rows > 1 ? "are" : "is",
                 j->far.rows > 1 ? "first: " : "", far_text(&j->far.first[0], where, sizeof where),
                 j->far.rows > 1 ? "their predictions are" : "its prediction is an",
                 j->far.rows > 1 ? "s" : "");
    return count;
}

/* All in one; "": none. */
static json_t *json_of_notes(const job *j)
{
    char note[NOTES][NOTE_ROOM], all[NOTES * (NOTE_ROOM + 2)] = "";
    const int count = write_notes(j, note);
    for (int k = 0; k < count; k++) {
        if (k > 0) strcat(all, "; ");
        strcat(all, note[k]);
    }
    return json_text(all);
}

static void say_notes(const job *j)
{
    char note[NOTES][NOTE_ROOM];
    const int count = write_notes(j, note);
    char file[1024], line[NOTE_ROOM];
    printable(j->r->operand[1], file, sizeof file);
    for (int k = 0; k < count; k++)
        fprintf(stderr, "%s: %s\n", file, printable(note[k], line, sizeof line));
}

static int print_json(job *j)
{
    json_t *json = json_object();
    json_object_set_new(json, "rows", json_integer(j->rows));
    json_object_set(json, "targets", j->names);
    if (j->classes > 0) {
        json_t *labels = json_array();
        for (int64_t k = 0; k < j->classes; k++)
            json_array_append_new(labels, json_text(fen_model_class(j->model, k)));
        json_object_set_new(json, "classes", labels);
    }
    if (j->predictions)
        json_object_set(json, "predictions", j->predictions);
    else
        json_object_set_new(json, "path", json_text(j->r->output));
    if (j->predictions && j->probable) json_object_set(json, "probabilities", j->laws);
    if (j->predictions && j->scores) json_object_set(json, "scores", j->scored);
    json_object_set_new(json, "finished", json_boolean(fen_model_finished(j->model)));
    json_object_set_new(json, "filled", json_integer(j->odd.filled));
    json_object_set_new(json, "unseen", json_integer(j->odd.unseen));
    json_object_set_new(json, "far", json_integer(j->far.rows));
    json_object_set_new(json, "far_rows", json_of_far(&j->far));
    json_object_set_new(json, "note", json_of_notes(j));
    add_quality(&j->quality, json);
    return json_print(json);
}

/* ---- the command --------------------------------------------------------------------------- */

static int predict(job *j)
{
    fen_stream *stream = NULL;
    fen_error err;
    fen_options reading = j->r->options;
    reading.like = fen_model_reading(j->model);
    if (fen_stream_open(j->r->operand[1], &reading, &stream, &err)) return fail(&err);
    int code = sink_open(&j->sink, j->r->output) ? fail(&j->sink.err) : EXIT_DONE;
    if (code == EXIT_DONE) {
        code = predict_stream(j, stream, progress_begin(j->r->quiet));
        progress_end();
        if (sink_close(&j->sink, code == EXIT_DONE)) code = fail(&j->sink.err);
    }
    fen_stream_close(stream);
    if (code != EXIT_DONE) return code;
    if (j->r->json) return print_json(j);
    if (j->r->quiet) return EXIT_DONE;
    say_notes(j);
    say_quality(&j->quality, j->names, fen_model_target_name(j->model, 0));
    return EXIT_DONE;
}

/* What the model is about, and what is to be written. */
static int look(job *j)
{
    json_t *json = model_json(j->model);
    if (!json) return EXIT_ROOM;
    j->outputs = json_incref(json_object_get(json, "outputs"));
    j->names = json_incref(json_object_get(json, "targets"));
    j->targets = fen_model_targets(j->model);
    j->classes = fen_model_classes(j->model);
    j->one_class = strcmp(json_text_at(json, "task"), "one-class") == 0;
    j->probable = fen_model_has_probabilities(j->model);
    j->scores = j->r->options.scores;
    const int quantiles = strcmp(json_text_at(json, "loss"), "pinball") == 0;
    reading_contrast(j->r, json, j->contrast, sizeof j->contrast);
    unfinished_text(json, j->unfinished, sizeof j->unfinished);
    json_decref(json);
    if (j->scores && !decides(j))
        return complain(EXIT_USAGE, "%s predicts numbers: --scores is for classes",
                        j->r->operand[0]);
    if (quality_open(&j->quality, decides(j) ? 0 : j->targets, quantiles)) return EXIT_DONE;
    return complain(EXIT_ROOM, "out of memory for %" PRId64 " targets", j->targets);
}

static int run(const request *r)
{
    job j = { .r = r };
    fen_error err;
    int code = check_output(r->output, (const char *const[]){ r->operand[0], r->operand[1], NULL });
    if (code != EXIT_DONE) return code;
    if (fen_model_load(r->operand[0], &j.model, &err))
        return fail_to_load(&err, r->operand[0], r->operand[1]);
    if (r->json && !r->output)
        j.predictions = json_array(), j.laws = json_array(), j.scored = json_array();
    code = look(&j);
    if (code == EXIT_DONE) code = predict(&j);
    json_decref(j.predictions);
    json_decref(j.laws);
    json_decref(j.scored);
    json_decref(j.outputs);
    json_decref(j.names);
    quality_free(&j.quality);
    fen_model_free(j.model);
    return code;
}

/* clang-format off */
static const char *const examples[] = {
    "one column, \"prediction\", a line per row of new.csv", "fenchel predict train.fen new.csv",
    "into a file; the error is printed when test.csv holds the target",
    "fenchel predict train.fen test.csv -o predictions.csv",
    "labels, probabilities where the model has them, and decision scores",
    "fenchel predict flowers.fen new.csv --scores",
    NULL
};

const command command_predict = {
    .name = "predict", .operands = "MODEL DATA", .operand_count = 2,
    .output = "OUT", .output_help = "CSV file with the predictions (default: stdout)",
    .summary = "predictions for raw rows, columns matched by name",
    .description = "Predicts every row of DATA, block by block, so that DATA may be larger than "
                   "memory. Columns are matched by name, in any order. Where DATA has the target "
                   "too, the errors are reported on standard error. Classes are written as they "
                   "were in the training file; a label that it did not have counts as wrong. "
                   "Missing numbers and texts that training had nothing like are counted in a note "
                   "(filled, unseen in JSON).",
    .examples = examples, .run = run,
};
/* clang-format on */
