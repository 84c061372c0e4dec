/* prepare_learn.c -- which column is what, and the preparation of a training table
 *
 * Columns are target, weights or input. Names win over numbers: --target 3 is the column
 * called "3" if there is one, else the third.
 * Precomputed kernels: input j of the file is the kernel value against row j, so a row
 * that is left out takes its column with it; nothing is scaled.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/registry.h"
#include "base/text.h"
#include "data/prepare_parts.h"

enum { INPUT, TARGET, WEIGHTS };

/* ---- roles -------------------------------------------------------------------------- */
typedef struct roles {
    const fen_table *table;
    char *of;                 /* per column                                           */
    int64_t *target;          /* columns in the order asked for                       */
    int64_t targets, weights; /* weights -1: none                                     */
    int64_t left_out;         /* targets that --task one-class does without           */
    fen_status status;
    fen_error *err;
} roles;

static fen_status unknown_column(const fen_table *table, const char *option, const char *name,
                                 fen_error *err)
{
    const char *near =
        fenp_nearest_member(name, &table->column->name, table->cols, sizeof *table->column);
    int64_t number;
    const char *title = fenp_table_title(table);
    if (fenp_parse_int(name, (int64_t)strlen(name), &number))
        return fenp_fail(err, FEN_BAD_DATA, "%s %.60s: %.200s has columns 1 to %lld", option, name,
                         title, (long long)table->cols);
    if (near)
        return fenp_fail(err, FEN_BAD_DATA,
                         "%s %.60s: %.200s has no such column; did you mean "
                         "\"%.60s\"?",
                         option, name, title, near);
    char list[256];
    fenp_list_members(&table->column->name, table->cols, sizeof *table->column, list, sizeof list);
    return fenp_fail(err, FEN_BAD_DATA, "%s %.60s: %.200s has no such column; its columns are %s",
                     option, name, title, list);
}

/* The column that a name or a 1-based number means. */
static fen_status resolve(const fen_table *table, const char *option, const char *item,
                          int64_t length, int64_t *column, fen_error *err)
{
    char *name = fenp_new(length + 1, 1);
    if (!name) return fenp_no_memory(err, length, "a column name");
    memcpy(name, item, (size_t)length);
    name[length] = '\0';
    int64_t number;
    fen_status status = FEN_OK;
    *column = fenp_table_find(table, name);
    if (*column < 0) {
        if (fenp_parse_int(name, length, &number) && number >= 1 && number <= table->cols)
            *column = number - 1;
        else
            status = unknown_column(table, option, name, err);
    }
    free(name);
    return status;
}

static int add_target(void *user, const char *item, int64_t length)
{
    roles *r = user;
    int64_t column = -1;
    r->status = resolve(r->table, "--target", item, length, &column, r->err);
    if (r->status != FEN_OK) return 1;
    if (r->of[column] != INPUT) {
        r->status = fenp_fail(r->err, FEN_BAD_CALL,
                              r->of[column] == WEIGHTS
                                  ? "column \"%.60s\" cannot be both the target and the weights"
                                  : "--target names column \"%.60s\" twice",
                              r->table->column[column].name);
        return 1;
    }
    r->of[column] = TARGET;
    r->target[r->targets++] = column;
    return 0;
}

/* Last, since it is where most files have it; the weights may stand behind it. */
static void default_target(roles *r)
{
    int64_t column = r->table->cols - 1;
    column -= column > 0 && column == r->weights;
    r->of[column] = TARGET;
    r->target[r->targets++] = column;
}

static fen_status check_task(const fen_options *o, fen_error *err)
{
    if (strcmp(o->approx, "none") == 0 || strcmp(o->task, "auto") == 0 ||
        strcmp(o->task, "regression") == 0)
        return FEN_OK;
    return fenp_fail(err, FEN_BAD_CALL, "--approx is for regression; leave it out, or --task %s",
                     o->task);
}

static fen_status assign_roles(roles *r, const fen_options *o)
{
    const fen_table *table = r->table;
    r->weights = -1;
    if (table->cols == 0)
        return fenp_fail(r->err, FEN_BAD_DATA, "%.200s has no columns", fenp_table_title(table));
    r->of = fenp_new_zeroed(table->cols, 1);
    r->target = fenp_new(table->cols, sizeof *r->target);
    if (!r->of || !r->target) return fenp_no_memory(r->err, 9 * table->cols, "the columns");
    if (o->weights && o->weights[0]) {
        fen_status status = resolve(table, "--weights", o->weights, (int64_t)strlen(o->weights),
                                    &r->weights, r->err);
        if (status != FEN_OK) return status;
        r->of[r->weights] = WEIGHTS;
    }
    if (o->target) fenp_each_item(o->target, add_target, r);
    if (r->status != FEN_OK) return r->status;
    if (strcmp(o->task, "one-class") == 0)
        r->left_out = r->targets, r->targets = 0; /* named ones are no inputs, that is all */
    else if (r->targets == 0)
        default_target(r);
    if (r->left_out + r->targets + (r->weights >= 0) >= table->cols)
        return fenp_fail(r->err, FEN_BAD_DATA,
                         "%.200s has no input column: its %lld column%s used "
                         "up by target and weights",
                         fenp_table_title(table), (long long)table->cols,
                         table->cols > 1 ? "s are" : " is");
    return FEN_OK;
}

/* ---- the preparation without what is learned ---------------------------------------- */
fen_status fenp_copy_name(const char *title, const char *name, char **out, fen_error *err)
{
    json_t *json = fenp_json_string(name);
    int same = json && strcmp(json_string_value(json), name) == 0;
    *out = json && same ? fenp_strdup(name) : NULL;
    int memory = !json || (same && !*out);
    json_decref(json);
    if (memory) return fenp_no_memory(err, (int64_t)strlen(name), "a name");
    return same ? FEN_OK
                : fenp_fail(err, FEN_BAD_DATA,
                            "%.200s: \"%.60s\" is not UTF-8 text; convert the "
                            "file, for example with iconv -f LATIN1 -t UTF-8",
                            title, name);
}

static fen_status name_columns(fenp_prep *prep, const roles *r, fen_error *err)
{
    const fen_table *table = r->table;
    const char *title = fenp_table_title(table);
    fen_status status = FEN_OK;
    for (int64_t j = 0, i = 0; status == FEN_OK && j < table->cols; j++) {
        if (r->of[j] != INPUT) continue;
        prep->input[i].text = table->column[j].text;
        status = fenp_copy_name(title, table->column[j].name, &prep->input[i++].name, err);
    }
    for (int64_t t = 0; status == FEN_OK && t < r->targets; t++)
        status = fenp_copy_name(title, table->column[r->target[t]].name, &prep->target[t], err);
    if (status == FEN_OK && r->weights >= 0)
        status = fenp_copy_name(title, table->column[r->weights].name, &prep->weights, err);
    return status;
}

/* Columns of svmlight files are called by their indices. */
static fen_status take_reading(const fen_table *table, fenp_prep *prep, fen_error *err)
{
    char *words = NULL;
    if (table->start) prep->reading.counts_from = fenp_table_find(table, "x0") < 0;
    if (!table->reading.missing) return FEN_OK;
    fen_status status = fenp_copy_name("--missing", table->reading.missing, &words, err);
    free(words);
    if (status == FEN_OK && fenp_reading_copy(&table->reading, &prep->reading) != 0)
        status = fenp_no_memory(err, 0, "the words for missing cells");
    return status;
}

/* A linear model without bias may have its own column of ones, unless that is centred away. */
static int keeps_constants(const fenp_prep *prep, const fen_options *o)
{
    return !o->bias && fenp_on_coefficients(o) && fenp_kernel_of(o)->linear &&
           (prep->sparse || strcmp(prep->scaling, "none") == 0);
}

fen_status fenp_prep_start(const fen_table *table, const fen_options *o, fenp_prep **prep,
                           fen_error *err)
{
    roles r = { .table = table, .status = FEN_OK, .err = err };
    const fen_kernel *kernel = fenp_kernel_of(o);
    fenp_prep *made = NULL;
    fen_status status = check_task(o, err);
    if (status == FEN_OK) status = assign_roles(&r, o);
    if (status == FEN_OK) {
        made = fenp_prep_new(table->cols - r.left_out - r.targets - (r.weights >= 0), r.targets);
        status = made ? name_columns(made, &r, err)
                      : fenp_no_memory(err, fenp_bytes(table->cols, 1, sizeof(fenp_input)),
                                       "the preparation");
        if (status == FEN_OK) status = take_reading(table, made, err);
    }
    free(r.of);
    free(r.target);
    if (status != FEN_OK) {
        fenp_prep_free(made);
        return status;
    }
    made->sparse = table->start != NULL;
    made->precomputed = kernel && kernel->basis == FEN_PRECOMPUTED;
    strncpy(made->scaling, made->precomputed ? "none" : o->scale, sizeof made->scaling - 1);
    made->constants = keeps_constants(made, o);
    *prep = made;
    return FEN_OK;
}

/* ---- precomputed kernels ------------------------------------------------------------ */
static fen_status start_precomputed(fenp_prep *prep, const fenp_block *b, fen_error *err)
{
    const fen_table *table = b->binding.table;
    if (prep->inputs != table->rows)
        return fenp_fail(err, FEN_BAD_DATA,
                         "%.200s: %lld rows with %lld kernel values each; a "
                         "precomputed kernel needs one value per training row",
                         fenp_table_title(table), (long long)table->rows, (long long)prep->inputs);
    for (int64_t j = 0, used = 0; j < prep->inputs; j++) {
        if (prep->input[j].text)
            return fenp_fail(err, FEN_BAD_DATA,
                             "%.200s: column \"%.60s\" holds text, but a "
                             "precomputed kernel holds numbers",
                             fenp_table_title(table), prep->input[j].name);
        int kept = used < b->rows->n && b->pick[used] == j;
        prep->input[j].constant = !kept;
        used += kept;
    }
    return FEN_OK;
}

static fen_status check_symmetric(const fen_table *table, const int64_t *pick, const fenp_sample *s,
                                  fen_error *err)
{
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t j = 0; j < i; j++) {
            double a = s->x[i * s->p + j], b = s->x[j * s->p + i];
            /* |k(x,z)| <= sqrt(k(x,x) k(z,z)): rounding errors are of that size */
            double size = fmax(fmax(fabs(a), fabs(b)),
                               sqrt(fabs(s->x[i * s->p + i])) * sqrt(fabs(s->x[j * s->p + j])));
            if (fabs(a - b) > 1e-8 * size)
                return fenp_fail(err, FEN_BAD_DATA,
                                 "%.200s: the kernel is not symmetric: value %lld "
                                 "of row %lld and value %lld of row %lld differ",
                                 fenp_table_title(table), (long long)(pick[j] + 1),
                                 (long long)(pick[i] + 1), (long long)(pick[i] + 1),
                                 (long long)(pick[j] + 1));
        }
    return FEN_OK;
}

/* ---- learning ----------------------------------------------------------------------- */
static fen_status check_levels(const fenp_prep *prep, const char *title, fen_error *err)
{
    fen_status status = FEN_OK;
    for (int64_t i = 0; i < prep->inputs; i++)
        for (int64_t k = 0; status == FEN_OK && k < prep->input[i].level_count; k++) {
            char *copy = NULL;
            status = fenp_copy_name(title, prep->input[i].levels[k], &copy, err);
            free(copy);
        }
    return status;
}

fen_status fenp_prep_finish(fenp_prep *prep, const char *title, fen_error *err)
{
    fen_status status = check_levels(prep, title, err);
    if (status != FEN_OK) return status;
    fenp_prep_count(prep);
    if (prep->features > 0) return FEN_OK;
    return fenp_fail(err, FEN_BAD_DATA,
                     "%.200s: %s%.60s\"%s constant; there is nothing to "
                     "learn from",
                     title,
                     prep->inputs > 1 ? "all input columns, \"" : "the only input column, \"",
                     prep->input[0].name, prep->inputs > 1 ? " and the others, are" : ", is");
}

static fen_status check_memory(const fenp_prep *prep, const fenp_block *block, const fen_options *o,
                               fen_error *err)
{
    int64_t bytes = block->by_columns ? fenp_column_bytes(prep, block)
                                      : fenp_bytes(block->rows->n, prep->features, sizeof(double));
    int64_t limit = o->memory_limit_bytes > 0 ? o->memory_limit_bytes : fenp_memory_available();
    if (bytes >= 0 && bytes <= limit) return FEN_OK;
    if (!block->binding.table->start || block->by_columns)
        return fenp_no_memory(err, bytes, "the prepared inputs");
    return fenp_fail(err, FEN_MEMORY,
                     "%lld rows of %lld columns with all their zeros, which this kernel needs, "
                     "take %.3g GB; raise --memory, or use --penalty l1, elastic or none with "
                     "--kernel linear, which take sparse rows as they are",
                     (long long)block->rows->n, (long long)prep->features, (double)bytes / 1e9);
}

/* A linear model with a penalty on its coefficients takes sparse rows as they are. */
static int stays_sparse(const fen_table *table, const fen_options *o)
{
    return table->start && fenp_on_coefficients(o) && fenp_kernel_of(o)->linear;
}

static fen_status learn(fenp_prep *prep, fenp_block *block, const fen_options *o,
                        fenp_sample **sample, fen_error *err)
{
    const fen_table *table = block->binding.table;
    const char *title = fenp_table_title(table);
    fen_status status = fenp_enough_rows(prep, title, block->rows, err);
    if (status != FEN_OK) return status;
    fenp_prep_see_targets(prep, block->rows);
    if (block->unwritten) block->products = fenp_learn_products(prep, block, o);
    status = prep->precomputed  ? start_precomputed(prep, block, err)
             : !block->products ? fenp_learn_inputs(prep, block, err)
                                : FEN_OK;
    if (status == FEN_OK) status = fenp_prep_finish(prep, title, err);
    if (status == FEN_OK) status = check_memory(prep, block, o, err);
    if (status == FEN_OK) status = fenp_block_sample(prep, block, sample, err);
    if (status != FEN_OK || !prep->precomputed) return status;
    return check_symmetric(table, block->pick, *sample, err);
}

static fen_status learn_table(const fen_table *table, const fen_options *o, int nameless,
                              int unwritten, fenp_prep **prep, fenp_sample **sample, fen_error *err)
{
    fenp_prep *made = NULL;
    fenp_sample *rows = NULL;
    fenp_block block = { .pick = NULL };
    fen_status status = fenp_prep_start(table, o, &made, err);
    if (status == FEN_OK) status = fenp_prep_find_classes(made, table, o, err);
    if (status == FEN_OK) status = fenp_block_open(made, table, &block, err);
    block.by_columns = stays_sparse(table, o), block.nameless = nameless;
    block.unwritten = unwritten && !table->start;
    if (status == FEN_OK) status = learn(made, &block, o, &rows, err);
    fenp_block_close(&block);
    if (status != FEN_OK) {
        fenp_prep_free(made);
        fenp_sample_free(rows);
        return status;
    }
    *prep = made;
    *sample = rows;
    return FEN_OK;
}

fen_status fenp_prep_learn(const fen_table *table, const fen_options *o, fenp_prep **prep,
                           fenp_sample **sample, fen_error *err)
{
    return learn_table(table, o, 0, 0, prep, sample, err);
}

fen_status fenp_prep_learn_nameless(const fen_table *table, const fen_options *o, fenp_prep **prep,
                                    fenp_sample **sample, fen_error *err)
{
    return learn_table(table, o, 1, 0, prep, sample, err);
}

fen_status fenp_prep_learn_unwritten(const fen_table *table, const fen_options *o, fenp_prep **prep,
                                     fenp_sample **sample, fen_error *err)
{
    return learn_table(table, o, 1, 1, prep, sample, err);
}
