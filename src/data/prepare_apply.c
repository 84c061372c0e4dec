/* prepare_apply.c -- raw cells to features
 *
 *   number  ((gap ? fill : x) - center) / scale, then 1 or 0 for a gap if training had gaps
 *   text    one 1 among zeros: the level, or "other" for the unknown and the missing
 *
 * Text that now reads as numbers ("1", "2") is matched by the shortest text of the
 * number. A sparse row starts as a copy of the features of a row of zeros, so it costs
 * its entries and one copy. Rows are independent and go in parallel. Neighbouring columns of
 * plain numbers without gaps go as one stretch, in vectors; a row with a gap or an overflow
 * in it is done again cell by cell.
 * Errors: infinite cells, cells so far from the training values that the feature
 * overflows, numbers where words were, gaps among kernel values.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "data/prepare_parts.h"
#include "simd/simd.h"

enum { PARALLEL_CELLS = 100000 }; /* below this, starting threads costs more */

/* What becomes of the cells of one column. */
typedef struct rule {
    const fenp_input *input;
    int64_t column, feature; /* column as in a binding; first feature             */
    int64_t *place;          /* text columns: code -> feature among the input's   */
    int numbers;             /* some level reads as a number                      */
    int gapless;             /* a gap is an error                                 */
    int64_t stretch;         /* so many rules from here on are plain numbers of
                                neighbouring columns; 0: not even this one        */
} rule;

typedef struct program {
    const fenp_simd *simd;
    rule *rules;
    int64_t count;
    int64_t features;
    double *center, *scale; /* of every rule                                     */
    int64_t *rule_of;       /* sparse tables: column -> rule, -1: none           */
    double *zeros;          /* sparse tables: features of a row of zeros         */
} program;

/* Rows of a table or of a view. */
typedef struct source {
    const fen_table *table; /* NULL: a view                                      */
    const double *cells;    /* NULL: sparse                                      */
    int64_t stride, rows;
    const int64_t *pick; /* may be NULL                                       */
} source;

static int64_t row_of(const source *s, int64_t i) { return s->pick ? s->pick[i] : i; }

/* ---- one cell ----------------------------------------------------------------------- */
typedef enum verdict { FINE, INFINITE, TOO_FAR, NOT_TEXT, GAP } verdict;

static verdict put_text(const rule *r, double cell, double *x)
{
    int64_t other = r->input->level_count, level = other;
    if (isinf(cell)) return INFINITE;
    if (!isnan(cell) && r->place)
        level = r->place[(int64_t)cell];
    else if (!isnan(cell)) {
        if (!r->numbers) return NOT_TEXT;
        level = fenp_input_level_of_number(r->input, cell);
    }
    memset(x, 0, (size_t)(other + 1) * sizeof *x);
    x[level < 0 ? other : level] = 1.0;
    return FINE;
}

static verdict put_number(const rule *r, double cell, double *x)
{
    const fenp_input *input = r->input;
    int gap = isnan(cell);
    if (isinf(cell)) return INFINITE;
    if (gap && r->gapless) return GAP;
    if (!input->constant) {
        *x = ((gap ? input->fill : cell) - input->center) / input->scale;
        if (!isfinite(*x)) return TOO_FAR;
        x++;
    }
    if (input->gaps) *x = gap;
    return FINE;
}

static verdict put(const rule *r, double cell, double *row)
{
    return r->input->text ? put_text(r, cell, row + r->feature)
                          : put_number(r, cell, row + r->feature);
}

/* ---- one row ------------------------------------------------------------------------ */
/* Of an idle column that is missing, a gap. */
static double dense_cell(const double *cells, int64_t column)
{
    return column >= 0 ? cells[column] : NAN;
}

static int put_dense_row(const program *p, const double *cells, double *x)
{
    for (int64_t k = 0; k < p->count;) {
        const rule *r = &p->rules[k];
        if (r->stretch && p->simd->standardise(cells + r->column, p->center + k, p->scale + k,
                                               r->stretch, x + r->feature)) {
            k += r->stretch;
            continue;
        }
        const int64_t end = k + (r->stretch ? r->stretch : 1);
        for (; k < end; k++)
            if (put(&p->rules[k], dense_cell(cells, p->rules[k].column), x) != FINE) return 0;
    }
    return 1;
}

static int put_sparse_row(const program *p, const fen_table *table, int64_t row, double *x)
{
    memcpy(x, p->zeros, (size_t)p->features * sizeof *x);
    for (int64_t e = table->start[row]; e < table->start[row + 1]; e++) {
        int64_t k = p->rule_of[table->index[e]];
        if (k >= 0 && put(&p->rules[k], table->value[e], x) != FINE) return 0;
    }
    int64_t k = p->rule_of[table->cols - 1];
    return k < 0 || put(&p->rules[k], table->label[row], x) == FINE;
}

static double cell_at(const source *s, int64_t row, int64_t column)
{
    if (s->cells) return dense_cell(s->cells + row * s->stride, column);
    return column >= 0 ? fenp_table_cell(s->table, row, column) : 0.0;
}

/* The end of the sentence about a cell; room: 320 bytes for one that is composed. */
static const char *remark_on(const fenp_input *input, verdict why, char room[320])
{
    static const char *const remark[] = {
        [INFINITE] = "; leave it out if it is not known",
        [TOO_FAR] = ", too far from the training values to be computed with",
        [GAP] = ", but a precomputed kernel needs every value",
    };
    char levels[128];
    if (why != NOT_TEXT) return remark[why];
    fenp_list_members(input->levels, input->level_count, sizeof *input->levels, levels,
                      sizeof levels);
    snprintf(room, 320,
             ", but the column held text%s%s%s when the model was trained: write text there, or "
             "leave the cell empty if it is not known",
             levels[0] ? " (" : "", levels, levels[0] ? ")" : "");
    return room;
}

/* The sentence for the first cell of row that cannot be used; x: a row to work in. */
static fen_status say_bad(const program *p, const source *s, int64_t row, double *x, fen_error *err)
{
    for (int64_t k = 0; k < p->count; k++) {
        const rule *r = &p->rules[k];
        double cell = cell_at(s, row, r->column);
        verdict why = put(r, cell, x);
        if (why == FINE) continue;
        char number[33], place[256], room[320];
        const fen_table nameless = { .rows = s->rows };
        if (isfinite(cell)) number[fenp_print_double(cell, number)] = '\0';
        return fenp_fail(
            err, FEN_BAD_DATA, "%s: column \"%.60s\" is %s%s",
            fenp_table_place(s->table ? s->table : &nameless, row, place, sizeof place),
            r->input->name,
            isnan(cell)   ? "missing"
            : isinf(cell) ? "infinite"
                          : number,
            remark_on(r->input, why, room));
    }
    return FEN_OK;
}

/* ---- all rows ----------------------------------------------------------------------- */
static int put_row(const program *p, const source *s, int64_t i, double *x)
{
    const int64_t row = row_of(s, i);
    return s->cells ? put_dense_row(p, s->cells + row * s->stride, x + i * p->features)
                    : put_sparse_row(p, s->table, row, x + i * p->features);
}

static fen_status run(const program *p, const source *s, double *x, fen_error *err)
{
    int64_t bad = s->rows;
    if (s->rows <= 1 || p->features <= PARALLEL_CELLS / s->rows) { /* even a region of one thread
                                                                      costs a call of the system */
        bad = 0;
        while (bad < s->rows && put_row(p, s, bad, x)) bad++;
    } else {
#pragma omp parallel for schedule(static) reduction(min : bad)
        for (int64_t i = 0; i < s->rows; i++)
            if (!put_row(p, s, i, x) && i < bad) bad = i;
    }
    return bad < s->rows ? say_bad(p, s, row_of(s, bad), x + bad * p->features, err) : FEN_OK;
}

static void free_program(program *p)
{
    for (int64_t k = 0; k < p->count; k++) free(p->rules[k].place);
    free(p->rules);
    free(p->center);
    free(p->scale);
    free(p->rule_of);
    free(p->zeros);
}

/* Where every level of the table's column goes among the features of the input. */
static fen_status place_levels(rule *r, const fenp_column *column, fen_error *err)
{
    r->place = fenp_new(column->level_count, sizeof *r->place);
    if (!r->place)
        return fenp_no_memory(err, 8 * column->level_count, "the levels of a text column");
    for (int64_t code = 0; code < column->level_count; code++) {
        int64_t level = fenp_input_level(r->input, column->levels[code]);
        r->place[code] = level < 0 ? r->input->level_count : level;
    }
    return FEN_OK;
}

static int is_plain(const rule *r)
{
    return !r->input->text && !r->input->constant && !r->input->gaps && !r->gapless &&
           r->column >= 0;
}

/* From the last rule to the first: each stretch is one longer than the next. */
static fen_status join_stretches(program *p, fen_error *err)
{
    p->center = fenp_new(p->count, sizeof *p->center);
    p->scale = fenp_new(p->count, sizeof *p->scale);
    if (!p->center || !p->scale) return fenp_no_memory(err, 16 * p->count, "the preparation");
    for (int64_t k = p->count - 1; k >= 0; k--) {
        rule *r = &p->rules[k];
        const int joins = k + 1 < p->count && r[1].column == r->column + 1;
        p->center[k] = r->input->center;
        p->scale[k] = r->input->scale;
        r->stretch = is_plain(r) ? 1 + (joins ? r[1].stretch : 0) : 0;
    }
    return FEN_OK;
}

/* columns: of the inputs, as in a binding; NULL: input i is column i. */
static fen_status make_program(const fenp_prep *prep, const fen_table *table,
                               const int64_t *columns, program *p, fen_error *err)
{
    *p = (program){ .simd = fenp_simd_get(),
                    .rules = fenp_new_zeroed(prep->inputs, sizeof *p->rules) };
    if (!p->rules)
        return fenp_no_memory(err, prep->inputs * (int64_t)sizeof *p->rules, "the preparation");
    for (int64_t i = 0; i < prep->inputs; i++) {
        const fenp_input *input = &prep->input[i];
        int64_t features = fenp_input_features(input), column = columns ? columns[i] : i;
        if (features == 0) continue;
        rule *r = &p->rules[p->count++];
        *r = (rule){ input, column, p->features, NULL, 0, prep->precomputed, 0 };
        p->features += features;
        double number;
        for (int64_t k = 0; k < input->level_count && !r->numbers; k++)
            r->numbers =
                fenp_parse_double(input->levels[k], (int64_t)strlen(input->levels[k]), &number);
        fen_status status = input->text && table && column >= 0 && table->column[column].text
                                ? place_levels(r, &table->column[column], err)
                                : FEN_OK;
        if (status != FEN_OK) return status;
    }
    return join_stretches(p, err);
}

/* What a sparse table needs besides; a zero that no rule can take is left to say_bad. */
static fen_status add_zeros(program *p, const source *s, fen_error *err)
{
    const fen_table *table = s->table;
    p->rule_of = fenp_new(table->cols, sizeof *p->rule_of);
    p->zeros = fenp_new_zeroed(p->features, sizeof *p->zeros);
    if (!p->rule_of || !p->zeros)
        return fenp_no_memory(err, 8 * (table->cols + p->features), "sparse rows");
    for (int64_t j = 0; j < table->cols; j++) p->rule_of[j] = -1;
    int fine = 1;
    for (int64_t k = 0; k < p->count; k++) {
        if (p->rules[k].column >= 0) p->rule_of[p->rules[k].column] = k;
        fine &= put(&p->rules[k], 0.0, p->zeros) == FINE;
    }
    return fine || s->rows == 0 ? FEN_OK : say_bad(p, s, row_of(s, 0), p->zeros, err);
}

fen_status fenp_apply_rows(const fenp_prep *prep, const fenp_binding *binding, const int64_t *pick,
                           int64_t rows, double *x, fen_error *err)
{
    const fen_table *table = binding->table;
    source s = { table, table->start ? NULL : table->cells, table->cols, rows, pick };
    program p;
    fen_status status = make_program(prep, table, binding->input, &p, err);
    if (status == FEN_OK && table->start) status = add_zeros(&p, &s, err);
    if (status == FEN_OK) status = run(&p, &s, x, err);
    free_program(&p);
    return status;
}

/* ---- rows that are not written down ---------------------------------------------------- */
struct fenp_unwritten {
    program p;
    source s;
    fenp_binding binding;
    int64_t *pick;
    double *room;
};

fen_status fenp_unwritten_open(const fenp_prep *prep, fenp_block *block, int64_t rows,
                               struct fenp_unwritten **out, fen_error *err)
{
    const fen_table *table = block->binding.table;
    struct fenp_unwritten *u = fenp_new_zeroed(1, sizeof *u);
    if (!u) return fenp_no_memory(err, (int64_t)sizeof *u, "the preparation");
    fen_status status = make_program(prep, table, block->binding.input, &u->p, err);
    const int64_t bytes = fenp_bytes(FENP_UNWRITTEN_ROOM, prep->features, sizeof *u->room);
    u->room = fenp_new(bytes, 1);
    if (status == FEN_OK && !u->room) status = fenp_no_memory(err, bytes, "some rows");
    u->binding = block->binding, block->binding = (fenp_binding){ .table = table };
    u->pick = block->pick, block->pick = NULL;
    u->s = (source){ table, table->cells, table->cols, rows, u->pick };
    *out = u;
    return status;
}

void fenp_unwritten_free(struct fenp_unwritten *u)
{
    if (!u) return;
    free_program(&u->p);
    fenp_unbind(&u->binding);
    free(u->pick);
    free(u->room);
    free(u);
}

double *fenp_unwritten_room(const struct fenp_unwritten *u) { return u->room; }

static const double *cells_of(const struct fenp_unwritten *u, int64_t i)
{
    return u->s.cells + row_of(&u->s, i) * u->s.stride;
}

/* A row is often a page, beyond which processors do not look ahead by themselves. */
static void fetch_row(const struct fenp_unwritten *u, int64_t i)
{
    enum { LINE = 64 / sizeof(double) };
    const double *cells = cells_of(u, i);
    for (int64_t j = 0; j < u->s.stride; j += LINE) __builtin_prefetch(cells + j, 0, 2);
}

int64_t fenp_unwritten_rows(const struct fenp_unwritten *u, int64_t from, int64_t count, double *x)
{
    enum { AHEAD = 8 };
    int64_t bad = -1;
    for (int64_t i = from; i < from + count && bad < 0; i++, x += u->p.features) {
        if (i + AHEAD < u->s.rows) fetch_row(u, i + AHEAD);
        if (!put_dense_row(&u->p, cells_of(u, i), x)) bad = i;
    }
    return bad;
}

fen_status fenp_unwritten_say_bad(const struct fenp_unwritten *u, int64_t row, fen_error *err)
{
    return say_bad(&u->p, &u->s, row_of(&u->s, row), u->room, err);
}

fen_status fenp_prep_apply(const fenp_prep *prep, const fen_table *table, double *x, fen_error *err)
{
    fenp_binding binding;
    fen_status status = fenp_bind(prep, table, 0, &binding, err);
    if (status != FEN_OK) return status;
    status = fenp_apply_rows(prep, &binding, NULL, table->rows, x, err);
    fenp_unbind(&binding);
    return status;
}

fen_status fenp_prep_apply_view(const fenp_prep *prep, fen_view inputs, double *x, fen_error *err)
{
    if (inputs.cols != prep->inputs)
        return fenp_fail(err, FEN_BAD_DATA,
                         "the rows have %lld columns, but the model was trained "
                         "on %lld",
                         (long long)inputs.cols, (long long)prep->inputs);
    source s = { NULL, inputs.at, inputs.stride, inputs.rows, NULL };
    program p;
    fen_status status = make_program(prep, NULL, NULL, &p, err);
    if (status == FEN_OK) status = run(&p, &s, x, err);
    free_program(&p);
    return status;
}

fen_status fenp_prep_labels(const fenp_prep *prep, const fen_table *table, double *labels,
                            fen_error *err)
{
    fenp_binding binding;
    fenp_codes codes = { .classes = 0 };
    fen_status status = fenp_bind(prep, table, 0, &binding, err);
    if (status != FEN_OK) return status;
    if (prep->class_count > 0)
        status = fenp_class_codes(prep, table, binding.target[0], &codes, err);
    for (int64_t t = 0; t < prep->targets && status == FEN_OK; t++) {
        int64_t column = binding.target[t];
        if (prep->class_count == 0 && column >= 0 && table->column[column].text &&
            table->column[column].level_count > 0)
            status = fenp_fail(err, FEN_BAD_DATA,
                               "%.200s: column \"%.60s\", the target, holds text "
                               "(\"%.40s\"); empty its cells or remove it",
                               fenp_table_title(table), prep->target[t],
                               table->column[column].levels[0]);
    }
    for (int64_t i = 0; i < table->rows && status == FEN_OK; i++)
        for (int64_t t = 0; t < prep->targets; t++)
            labels[i * prep->targets + t] = /* beyond the width of a sparse file: unknown */
                binding.target[t] >= 0
                    ? fenp_class_code(&codes, fenp_bound_cell(&binding, i, binding.target[t]))
                    : NAN;
    fenp_class_codes_free(&codes);
    fenp_unbind(&binding);
    return status;
}
