/* some_model.h -- small models made by hand, one of every kind that a file can hold */
#ifndef SOME_MODEL_H
#define SOME_MODEL_H
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/random.h"
#include "base/registry.h"
#include "data/prepare_parts.h"
#include "model/model.h"
#include "tensor/form.h"

enum { SOME_ROWS = 5 };
typedef enum some_task { NUMBERS, TWO, REST, PAIRS, ONE_CLASS, QUANTILES } some_task;
typedef struct some_kind {
    const char *kernel;
    int64_t targets;
    int selected, bias;
    int64_t columns;           /* of random features; 0: the exact kernel */
    some_task task;
    const char *loss, *name;   /* name: of the file among the seeds; NULL: the kernel's */
    const char *penalty;       /* on coefficients; NULL: rkhs */
} some_kind;
static const some_kind some_kinds[] = {
    { "gaussian", 1, 1, 1, 0, NUMBERS, "square", NULL, NULL },
    { "linear", 2, 0, 1, 0, NUMBERS, "square", NULL, NULL },
    { "polynomial", 2, 1, 0, 0, NUMBERS, "square", NULL, NULL },
    { "laplace1", 1, 0, 0, 0, NUMBERS, "square", NULL, NULL },
    { "precomputed", 1, 0, 1, 0, NUMBERS, "square", NULL, NULL },
    { "gaussian", 1, 1, 1, 0, TWO, "hinge", "two", NULL },
    { "linear", 3, 0, 1, 0, REST, "logistic", "rest", NULL },
    { "gaussian", 3, 0, 1, 0, PAIRS, "sqhinge", "pairs", NULL },
    { "matern52", 1, 0, 0, 0, ONE_CLASS, "hinge", "one-class", NULL },
    { "gaussian", 2, 0, 1, 0, QUANTILES, "pinball", "quantiles", NULL },
    { "linear", 1, 1, 1, 0, NUMBERS, "square", "lasso", "l1" },
    { "linear", 2, 0, 1, 0, NUMBERS, "absolute", "elastic", "elastic:0.25" },
    { "linear", 1, 0, 0, 0, NUMBERS, "square", "group", "group" },
    { "linear", 2, 0, 1, 0, NUMBERS, "square", "joint", "group:targets" },
    { "linear", 1, 0, 1, 0, NUMBERS, "square", "least-squares", "none" },
    { "gaussian", 2, 1, 1, 0, NUMBERS, "eps", "kernel-lasso", "l1" },
    { "precomputed", 1, 0, 1, 0, NUMBERS, "square", "square-lasso", "l1" },
    { "matern32", 2, 1, 1, 8, NUMBERS, "square", NULL, NULL },
    { "linear", 2, 0, 1, 0, NUMBERS, "square", "lp", "lp:1.5" },
    { "tensor-linear", 1, 0, 0, 0, NUMBERS, "absolute", "lp-linear", "lp:8/7" },
    { "tensor-polynomial", 2, 1, 1, 0, NUMBERS, "square", "lp-polynomial", "lp:4/3" },
    { "tensor-exponential", 1, 0, 1, 0, TWO, "hinge", "lp-exponential", "lp:4/3" },
    { "tensor-exponential", 2, 0, 1, 0, NUMBERS, "eps", "lp-pivots", "lp:6/5" },
};
enum { SOME_LASSO = 10, SOME_ELASTIC, SOME_GROUP, SOME_JOINT, SOME_LEAST, SOME_KERNEL_LASSO };
enum { SOME_FEATURES = 17, SOME_LP, SOME_LP_LINEAR, SOME_LP_POLYNOMIAL, SOME_LP_EXPONENTIAL,
       SOME_LP_PIVOTS };
enum { SOME_KINDS = sizeof some_kinds / sizeof *some_kinds, SOME_TWO = 5, SOME_PAIRS = 7 };

/* age (with gaps), size, colour (text), zone (constant): age, age is missing, size,
 * colour = red, colour = blue, colour = other. */
static inline fenp_prep *some_preparation(int64_t targets)
{
    static const char *const names[] = { "age", "size \"m\"", "colour", "zone" };
    fenp_prep *prep = fenp_prep_new(4, targets);
    for (int i = 0; i < 4; i++) prep->input[i].name = fenp_strdup(names[i]);
    prep->input[0].gaps = 1;
    prep->input[0].fill = 41.25, prep->input[0].center = 40.1, prep->input[0].scale = 0.1;
    prep->input[1].center = -1.0 / 3, prep->input[1].scale = 7;
    prep->input[2].text = 1;
    prep->input[2].levels = fenp_new(2, sizeof(char *));
    prep->input[2].levels[0] = fenp_strdup("red");
    prep->input[2].levels[1] = fenp_strdup("blue, gr\xc3\xbcn");
    prep->input[2].level_count = 2;
    prep->input[3].constant = 1;
    prep->weights = targets == 2 ? fenp_strdup("w") : NULL;
    return prep;
}

static inline fenp_prep *some_square_preparation(int64_t targets)
{
    fenp_prep *prep = fenp_prep_new(SOME_ROWS, targets);
    for (int i = 0; i < SOME_ROWS; i++) {
        char name[16];
        snprintf(name, sizeof name, "x%d", i + 1);
        prep->input[i].name = fenp_strdup(name);
    }
    prep->precomputed = 1;
    return prep;
}

static inline double *some_numbers(int64_t count, uint64_t stream)
{
    double *at = fenp_new(count, sizeof *at);
    for (int64_t i = 0; i < count; i++) at[i] = fenp_normal(11, stream, (uint64_t)i);
    return at;
}

static inline int64_t some_columns(const some_kind *kind)
{
    return kind->task == NUMBERS ? kind->targets : kind->task != ONE_CLASS;
}

static inline void some_classes(fenp_prep *prep, int64_t count)
{
    static const char *const labels[] = { "a, \"b\"", "gr\xc3\xbcn", "no" };
    prep->class_count = count;
    prep->classes = fenp_new(count, sizeof *prep->classes);
    prep->class_rows = fenp_new(count, sizeof *prep->class_rows);
    for (int64_t k = 0; k < count; k++) {
        prep->classes[k] = fenp_strdup(labels[k]);
        prep->class_rows[k] = k + 1;
    }
}

static inline void some_outputs(fen_model *m, const some_kind *kind)
{
    static const fenp_output rest[] = { { 0, 0, -1, 0, { 0, 0 }, 0 },
                                        { 0, 1, -1, 0, { 0, 0 }, 0 },
                                        { 0, 2, -1, 0, { 0, 0 }, 0 } };
    static const fenp_output pairs[] = { { 0, 1, 0, 0, { -1.5, 0.25 }, 0 },
                                         { 0, 2, 0, 0, { -0.1, 0 }, 0 },
                                         { 0, 2, 1, 0, { -3, -1 }, 0 } };
    static const fenp_output one = { -1, -1, -1, 0.75, { 0, 0 }, 0 };
    static const fenp_output quantiles[] = { { 0, -1, -1, 0.1, { 0, 0 }, 0 },
                                             { 0, -1, -1, 0.9, { 0, 0 }, 0 } };
    static const fenp_output two = { 0, 1, 0, 1, { 0, 0 }, 0 };
    const fenp_output *of[] = { m->output, &two, rest, pairs, &one, quantiles };
    if (kind->task != NUMBERS)
        memcpy(m->output, of[kind->task], (size_t)m->targets * sizeof *m->output);
    if (kind->task == PAIRS) m->class_weights = some_numbers(3, 9);
    for (int64_t k = 0; k < 3 && m->class_weights; k++)
        m->class_weights[k] = 0.5 + fabs(m->class_weights[k]);
    if (m->prep->class_count) m->train_error = 0.2;
    if (kind->task == ONE_CLASS) m->nu = 0.3, m->train_error = 0.4;
    if (kind->task == QUANTILES) m->crossing = 0;
}

/* Rows 0, 2, 3 of five. */
static inline void some_support(fen_model *m)
{
    m->support = fenp_new(3, sizeof *m->support);
    m->support[0] = 0, m->support[1] = 2, m->support[2] = 3;
    m->kept = 3;
}

/* P of lp:P, or 0. */
static inline double some_exponent(const some_kind *kind)
{
    fenp_penalty_choice choice;
    if (!kind->penalty || strncmp(kind->penalty, "lp:", 3) != 0) return 0.0;
    return fenp_parse_penalty(kind->penalty, &choice, NULL) == FEN_OK ? choice.par : NAN;
}

static inline void some_arrays(fen_model *m, const some_kind *kind)
{
    int linear = m->kernel.table->linear;
    int square = strcmp(kind->kernel, "precomputed") == 0;
    const int terms = kind->penalty && !linear && some_exponent(kind) == 0.0;
    if (kind->task == TWO || kind->task == REST || (terms && !square)) some_support(m);
    if (terms) m->terms = some_numbers(m->targets * m->kept, 6);
    free(m->dual), free(m->offset);
    m->dual = kind->columns ? NULL : some_numbers(m->targets * fenp_model_duals(m), 1);
    m->offset = some_numbers(m->targets, 2);
    for (int64_t t = 0; t < m->targets; t++) {
        if (!kind->bias) m->offset[t] = 0;
        m->coef_scale[t] = 0.3 + (double)t;
        m->certificate[t] = (fen_certificate){ 1.5, 1.25, 0.25, 1e-7, 2, 1.1, 0.7, 1e-9,
                                               t ? FEN_VERDICT_STALLED : FEN_VERDICT_OPTIMAL,
                                               NAN, NAN, NAN };
    }
    if (linear) m->weights = some_numbers(m->targets * m->p, 3);
    if (!linear && !square && !kind->columns) m->inputs = some_numbers(m->kept * m->p, 4);
    if (!kind->columns) return;
    fenp_fourier_draw(&m->approx, &m->kernel, m->p, m->seed, m->frequencies);
    for (int64_t i = 0; i < m->targets * kind->columns; i++)
        m->feature_weights[i] = fenp_normal(11, 5, (uint64_t)i);
}

/* Features {1, 3}, {0, 2, 4, 5}; of two targets: feature j of both. */
static inline void some_groups(fen_model *m)
{
    static const int64_t parts[] = { 1, 3, 0, 2, 4, 5 };
    fenp_groups *g = &m->groups;
    const int joint = m->copies > 1;
    const int64_t all = m->copies * m->p;
    g->count = joint ? m->p : 2;
    g->start = fenp_new(g->count + 1, sizeof *g->start);
    g->member = fenp_new(all, sizeof *g->member);
    g->weight = fenp_new(g->count, sizeof *g->weight);
    g->name = fenp_new(g->count, sizeof *g->name);
    for (int64_t k = 0; k <= g->count; k++) g->start[k] = joint ? 2 * k : k == 0 ? 0 : 4 * k - 2;
    for (int64_t i = 0; i < all; i++) g->member[i] = joint ? i / 2 + i % 2 * m->p : parts[i];
    for (int64_t k = 0; k < g->count; k++) {
        g->weight[k] = sqrt(2.0) * (double)k;
        g->name[k] = fenp_strdup(k ? "gr\xc3\xbcn \"2\"" : "first");
    }
}

/* Products of rows 0 0 1, 1 2 4, 3 3 3 and so on of the kept ones. */
static inline void some_pivots(fen_model *m)
{
    static const int64_t rows[] = { 0, 0, 1, 1, 2, 4, 3, 3, 3, 0, 2, 4 };
    m->pivot_count = 4;
    m->pivots = fenp_new(12, sizeof *m->pivots);
    memcpy(m->pivots, rows, sizeof rows);
    m->pivot_weights = some_numbers(m->targets * 4, 7);
    m->prediction_error = 1e-8;
}

/* Of the second target there is no bound; lp-linear is one that was not told (an older file). */
static inline void some_distances(fen_model *m)
{
    for (int64_t t = 0; t < m->targets; t++) {
        m->certificate[t].norm_distance = 1e-3;
        m->certificate[t].bias_distance = m->bias ? 2e-3 : 0.0;
        m->certificate[t].optimum_distance = t ? INFINITY : 3e-3;
    }
}

static inline void some_lp(fen_model *m, const some_kind *kind)
{
    if (strcmp(kind->name, "lp-linear") != 0) some_distances(m);
    m->penalty = fenp_find_penalty("lp");
    m->power = some_exponent(kind);
    m->kernel.par.order = fenp_order_of(m->power);
    for (int64_t i = 0; m->inputs && i < m->kept * m->p; i++) m->inputs[i] *= 0.5;
    if (strcmp(kind->name, "lp-pivots") == 0) some_pivots(m);
    snprintf(m->method, sizeof m->method, "lp-newton, %s", m->pivots ? "low-rank" : "features");
}

static inline void some_penalty(fen_model *m, const some_kind *kind)
{
    fenp_penalty_choice choice;
    if (some_exponent(kind) > 0.0) {
        some_lp(m, kind);
        return;
    }
    if (!kind->penalty || fenp_parse_penalty(kind->penalty, &choice, NULL) != FEN_OK) return;
    m->penalty = choice.penalty, m->mix = choice.par;
    m->groups.count = m->weights ? m->p : m->n;
    if (strcmp(kind->penalty, "l1") == 0 && m->weights) m->groups.weight = some_numbers(m->p, 8);
    for (int64_t j = 0; m->groups.weight && j < m->p; j++)
        m->groups.weight[j] = j ? fabs(m->groups.weight[j]) : 0.0;
    m->nonnegative = choice.par < 1.0;
    if (choice.how) m->copies = strcmp(choice.how, "targets") == 0 ? m->targets : 1;
    if (choice.how) some_groups(m);
    if (strcmp(kind->penalty, "none") == 0) {
        m->lambda = 0.0, m->rank = 4, m->condition = 17.5, m->aliased_count = 2;
        m->aliased = fenp_new(2, sizeof *m->aliased);
        m->aliased[0] = 2, m->aliased[1] = 5;
    }
    for (int64_t t = 0; t < m->targets; t++) m->coef_scale[t] = 1.0;
    snprintf(m->method, sizeof m->method, "active-set");
}

static inline fen_model *some_model(const some_kind *kind)
{
    int square = strcmp(kind->kernel, "precomputed") == 0;
    fenp_prep *prep = square ? some_square_preparation(kind->targets)
                             : some_preparation(some_columns(kind));
    if (kind->task == TWO) some_classes(prep, 2);
    if (kind->task == REST || kind->task == PAIRS) some_classes(prep, 3);
    for (int64_t t = 0; t < some_columns(kind); t++) prep->target[t] = fenp_strdup(t ? "y2" : "y1");
    strcpy(prep->scaling, square ? "none" : "standard");
    fenp_prep_count(prep);
    const fenp_approx approx = { kind->columns, 1 };
    fen_model *m =
        kind->columns ? fenp_model_new_features(SOME_ROWS, prep->features, kind->targets, approx)
                      : fenp_model_new(SOME_ROWS, prep->features, kind->targets);
    m->seed = kind->columns ? 12345 : kind->task == PAIRS ? UINT64_MAX : 0;
    m->prep = prep;
    m->loss = fenp_find_loss(kind->loss);
    m->kernel = (fenp_kernel){ fenp_find_kernel(kind->kernel), { 0.1, 3, 1.0 / 3, 0.0 } };
    m->lambda = 1e-3 / 3, m->power = 2, m->tolerance = 1e-6, m->bias = kind->bias;
    m->hash = 0xfedcba9876543210u;
    m->seconds = 0.125;
    snprintf(m->method, sizeof m->method, "%s",
             strcmp(kind->loss, "square") == 0     ? "cholesky"
             : strcmp(kind->loss, "logistic") == 0 ? "newton"
                                                   : "block");
    snprintf(m->note, sizeof m->note, "1 column left out (zone): \"constant\"\n");
    some_outputs(m, kind);
    some_arrays(m, kind);
    some_penalty(m, kind);
    if (kind->selected) {
        m->selection = (fenp_selection){ "kfold:10", 4, 0.75, 3, fenp_new(3, sizeof(fenp_score)) };
        for (int i = 0; i < 3; i++)
            m->selection.grid[i] = (fenp_score){ 0.1 * i, 1e-3, 2, i == 2 ? INFINITY : 0.75 + i,
                                                 m->prep->class_count ? 0.1 * i : NAN, NAN,
                                                 NAN };
    }
    return m;
}
#endif
