/* fit_notes.c -- what a person should know about a fit, in words: model->note */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "loss/traits.h"
#include "penalty/traits.h"
#include "story_lp.h"

/* Further notes follow after a semicolon; what does not fit is cut off. */
__attribute__((format(printf, 2, 3))) static void note(fen_model *m, const char *format, ...)
{
    const size_t used = strlen(m->note);
    va_list list;
    if (used + 3 >= sizeof m->note) return;
    if (used) memcpy(m->note + used, "; ", 3);
    const size_t from = strlen(m->note);
    va_start(list, format);
    vsnprintf(m->note + from, sizeof m->note - from, format, list);
    va_end(list);
}

/* " (a, b)" where there are few of them. */
static void name_constants(const fenp_prep *prep, int64_t count, char *out, size_t room)
{
    enum { FEW = 3 };
    size_t used = 0;
    out[0] = '\0';
    for (int64_t j = 0; j < prep->inputs && count <= FEW && used < room; j++)
        if (prep->input[j].constant && prep->input[j].name)
            used += (size_t)snprintf(out + used, room - used, "%s%.40s", used ? ", " : " (",
                                     prep->input[j].name);
    if (used > 0 && used < room) snprintf(out + used, room - used, ")");
}

void fenp_note_preparation(const fenp_prep *prep, int64_t rows_without_target,
                           int64_t rows_without_weight, char *out, size_t room)
{
    int64_t constant = 0, text = 0, gaps = 0;
    char left_out[160], names[140];
    for (int64_t j = 0; j < prep->inputs; j++) {
        constant += prep->input[j].constant;
        text += prep->input[j].text && !prep->input[j].constant;
        gaps += prep->input[j].gaps != 0;
    }
    name_constants(prep, constant, names, sizeof names);
    snprintf(left_out, sizeof left_out, "%s left out", names);
    const struct {
        int64_t count;
        const char *what, *happened;
    } facts[] = {
        { rows_without_target, "row", " without a target left out" },
        { rows_without_weight, "row", " without weight left out" },
        { constant, "constant column", left_out },
        { text, "text column", " made into 0/1 features" },
        { gaps, "column", " with gaps filled by the mean and marked" },
    };
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        if (facts[i].count && used < room)
            used += (size_t)snprintf(out + used, room - used, "%s%lld %s%s%s", used ? "; " : "",
                                     (long long)facts[i].count, facts[i].what,
                                     facts[i].count > 1 ? "s" : "", facts[i].happened);
}

/* Two minima of the same height: the answer is one of them. */
void fenp_note_tie(fen_model *m)
{
    for (int64_t t = 0; m->power <= 1.0 && t < m->targets; t++) {
        const fen_certificate *c = &m->certificate[t];
        if (c->norm == 0.0 || !(fabs(c->primal - c->null) <= m->tolerance * c->null)) continue;
        note(m, "a tie: the constant function does as well");
        return;
    }
}

void fenp_note_labels(fen_model *m, const fenp_sample *sample)
{
    for (int64_t t = 0; m->loss->labels == FEN_NUMBERS && t < m->targets; t++) {
        const double *y = sample->y + t * m->n;
        int64_t i = 1;
        if (t > 0 && m->output[t].column == m->output[t - 1].column) continue;
        while (i < m->n && y[i] == y[0]) i++;
        if (i == m->n)
            note(m, "all values of \"%.60s\" are equal", m->prep->target[m->output[t].column]);
    }
}

/* "x6, x7 and 3 more": names 0, 1, ... of a list that was "", then their count. */
enum { SHOWN = 4, NAME_SIZE = 64, LIST_SIZE = 300 };

static void list_name(char out[LIST_SIZE], int64_t k, const char *name)
{
    const size_t used = strlen(out);
    if (k < SHOWN) snprintf(out + used, LIST_SIZE - used, "%s%s", k ? ", " : "", name);
}

static void end_list(char out[LIST_SIZE], int64_t count)
{
    const size_t used = strlen(out);
    if (count > SHOWN)
        snprintf(out + used, LIST_SIZE - used, " and %lld more", (long long)(count - SHOWN));
}

static void list_features(const fen_model *m, const int64_t *which, int64_t count,
                          char out[LIST_SIZE])
{
    for (int64_t k = 0; k < count && k < SHOWN; k++) {
        char name[NAME_SIZE];
        fenp_prep_feature_name(m->prep, which[k], name, sizeof name);
        list_name(out, k, name);
    }
    end_list(out, count);
}

/* Groups of one coefficient each; those of dummy variables or of several targets have more. */
static int has_lone_groups(const fen_model *m)
{
    int64_t g = 0;
    while (m->groups.start && g < m->groups.count &&
           m->groups.start[g + 1] - m->groups.start[g] == 1)
        g++;
    return g > 1 && g == m->groups.count;
}

void fenp_note_linear(fen_model *m, int gamma_chosen)
{
    int64_t open = 0;
    char names[LIST_SIZE] = "";
    const int none = fenp_is_none(m->penalty);
    for (int64_t g = 0; m->groups.weight && !none && g < m->groups.count; g++)
        open += m->groups.weight[g] == 0.0;
    if (open)
        note(m, "%lld %s%s not penalised", (long long)open,
             m->groups.start ? "group" : "coefficient", open > 1 ? "s are" : " is");
    if (has_lone_groups(m)) note(m, "every column is a group by itself, as with --penalty l1");
    if (m->aliased_count) {
        list_features(m, m->aliased, m->aliased_count, names);
        note(m, "columns that earlier ones span: %s", names);
    }
    if (gamma_chosen) note(m, "gamma by leave-one-out of ridge regression");
}

/* Later columns that are the same as a first one, if one of both has a coefficient and the penalty
 * weighs them alike: which of them has it is not for the objective to say. Returns how many; which
 * gets them, ascending. */
static int64_t list_twins(const fen_model *m, const int64_t *twin, int64_t *which)
{
    int64_t count = 0;
    for (int64_t j = 0; j < m->p; j++) {
        const int64_t first = twin[j];
        int used = 0;
        if (first == j || fenp_group_weight(&m->groups, j) != fenp_group_weight(&m->groups, first))
            continue;
        for (int64_t t = 0; t < m->targets; t++)
            used |= m->weights[t * m->p + j] != 0.0 || m->weights[t * m->p + first] != 0.0;
        if (used) which[count++] = j;
    }
    return count;
}

void fenp_note_twins(fen_model *m, const fenp_design *x)
{
    if (!m->weights || m->groups.start || m->mix < 1.0 || fenp_is_none(m->penalty)) return;
    int64_t *twin = fenp_new(2 * m->p, sizeof *twin);
    if (twin && !fenp_design_twins(x, !m->nonnegative, twin)) {
        char names[LIST_SIZE] = "";
        const int64_t count = list_twins(m, twin, twin + m->p);
        list_features(m, twin + m->p, count, names);
        if (count)
            note(m, "the same as an earlier column: %s; how they share a coefficient is arbitrary",
                 names);
    }
    free(twin);
}

/* The largest number of every column, without its sign. */
static void column_sizes(const fenp_design *x, double *room, double *size)
{
    for (int64_t j = 0; j < x->p; j++) size[j] = 0.0;
    for (int64_t i = 0; fenp_design_is_by_rows(x) && i < x->n; i++) {
        const double *row = fenp_design_rows(x, i, 1, room);
        for (int64_t j = 0; j < x->p; j++) size[j] = fmax(size[j], fabs(row[j]));
    }
    for (int64_t j = 0; !fenp_design_is_by_rows(x) && j < x->p; j++) {
        const double *value = x->start ? x->value + x->start[j] : x->dense + j * x->n;
        const int64_t count = x->start ? x->start[j + 1] - x->start[j] : x->n;
        for (int64_t i = 0; i < count; i++) size[j] = fmax(size[j], fabs(value[i]));
    }
}

static int is_proved(const fen_model *m)
{
    int64_t t = 0;
    while (t < m->targets && m->certificate[t].verdict == FEN_VERDICT_OPTIMAL) t++;
    return t == m->targets;
}

void fenp_note_sizes(fen_model *m, const fenp_design *x)
{
    enum { ORDERS = 8 }; /* of magnitude: more than half of the digits */
    if (is_proved(m) || m->terms || strcmp(m->prep->scaling, "none") != 0) return;
    double *size = fenp_new(2 * x->p, sizeof *size), least = INFINITY, most = 0.0;
    if (size) column_sizes(x, size + x->p, size);
    for (int64_t j = 0; size && j < x->p; j++) {
        if (size[j] == 0.0) continue;
        least = fmin(least, size[j]);
        most = fmax(most, size[j]);
    }
    if (log10(most) - log10(least) > ORDERS)
        note(m, "columns differ in size by %.0f orders of magnitude, as --scale none leaves them",
             log10(most) - log10(least));
    free(size);
}

void fenp_note_idle(fen_model *m, const char *select)
{
    note(m, "--select %.20s had nothing to choose: lambda was given", select);
}

void fenp_note_products(fen_model *m)
{
    const int degree = (int)m->kernel.par.degree;
    if (!fenp_model_is_lp(m) || !m->kernel.table->uses_coef0 || degree < 2) return;
    note(m, "products of exactly %d columns; --coef0 1 adds those of fewer", degree);
}

void fenp_note_cut(fen_model *m)
{
    note(m, m->selection.count ? "the time limit cut the selection short: the best point so far"
                               : "the time limit left no time to select");
}

void fenp_note_capped(fen_model *m)
{
    for (int64_t t = 0; t < m->targets; t++)
        if (m->certificate[t].verdict != FEN_VERDICT_OPTIMAL) {
            note(m, "the low-rank factor ended where the memory does: more --memory makes it exact "
                    "enough");
            return;
        }
}

/* ---- what the scores of the training rows say -------------------------------------------- */

/* How far beyond its bounds the loss was forgiven, or that it could not be. */
static void note_tube(fen_model *m, const fenp_sample *sample, const double *scores)
{
    double beyond = 0.0, most = 0.0;
    char number[32];
    for (int64_t t = 0; t < m->targets; t++) {
        if (!(m->certificate[t].mean_loss < INFINITY)) {
            note(m, "no function was found that stays inside the tube at every row: rows that are "
                    "alike may need a wider one");
            return;
        }
        for (int64_t i = 0; i < m->n; i++) {
            const double y = sample->y[t * m->n + i], e = m->output[t].par;
            const double at = scores[t * m->n + i] + m->offset[t];
            most = fmax(most, e + fabs(y));
            beyond = fmax(beyond, fabs(y - at) - e);
        }
    }
    if (!(beyond > 1e-14 * most)) return;
    fenp_print_short(beyond, number);
    note(m, "residuals leave the tube by at most %s", number);
}

/* The share of the rows whose residuals are beyond k. */
static double share_beyond(const fen_model *m, const fenp_sample *sample, const double *scores,
                           int64_t t)
{
    double beyond = 0.0, all = 0.0;
    for (int64_t i = 0; i < m->n; i++) {
        const double r = sample->y[t * m->n + i] - scores[t * m->n + i] - m->offset[t];
        all += sample->w[i];
        beyond += fabs(r) > m->output[t].par ? sample->w[i] : 0.0;
    }
    return beyond / all;
}

/* A k far below the residuals is the absolute loss by another name: k is in units of the target. If
 * it is that of the noise, it is the function that is far from the rows. */
static void note_huber(fen_model *m, const fenp_sample *sample, const double *scores, int by_noise)
{
    static const double NEARLY_ALL = 0.95;
    char names[LIST_SIZE] = " of ", name[NAME_SIZE];
    int64_t count = 0;
    double least = 1.0;
    for (int64_t t = 0; t < m->targets; t++) {
        const double share = share_beyond(m, sample, scores, t);
        if (m->output[t].by_noise != by_noise || !(share > NEARLY_ALL)) continue;
        fenp_output_name(m->prep, m->output, m->targets, t, name, sizeof name);
        list_name(names, count++, name);
        least = fmin(least, share);
    }
    if (count == 0) return;
    end_list(names, count);
    note(m, "%s%.0f %% of the residuals%s are beyond k%s", count > 1 ? "at least " : "",
         floor(100.0 * least), m->targets > 1 ? names : "",
         by_noise
             ? ", which auto took from the noise: the function is far from the rows, a smaller "
               "--lambda may bring it nearer"
             : ": this is nearly the absolute loss; k is in units of the target, --loss "
               "huber:auto goes by its noise");
}

/* Scores by coefficients without a penalty: nothing is proved where all labels have their sign, for
 * such coefficients twice as large would do better. */
static int note_separated(fen_model *m, const fenp_sample *sample, const double *scores)
{
    for (int64_t t = 0; t < m->targets; t++) {
        int64_t i = 0;
        for (; i < m->n; i++) { /* 0: of no concern to a pair of classes */
            const double y = sample->y[t * m->n + i], at = scores[t * m->n + i] + m->offset[t];
            if (y != 0.0 && !(y * at > 0.0)) break;
        }
        if (i < m->n || m->certificate[t].verdict == FEN_VERDICT_OPTIMAL) continue;
        note(m, fenp_is_none(m->penalty)
                    ? "a linear function separates the classes: no minimum exists without a penalty"
                    : "columns without a penalty separate the classes: no minimum exists");
        return 1;
    }
    return 0;
}

/* One column is enough for that if all rows beyond an end of it are of one class: with the others
 * at 0 by the bias, or by themselves, scores along it are right or 0 everywhere. The objective may
 * well be proved to be near its bound; the coefficient is as large as the tolerance asked for. Returns
 * the end, -1 or 1; 0: no such thing. */
static int open_end(const fen_model *m, const double *x, const double *y)
{
    double end[2] = { INFINITY, -INFINITY };
    for (int64_t i = 0; i < m->n; i++)
        if (y[i] != 0.0) end[0] = fmin(end[0], x[i]), end[1] = fmax(end[1], x[i]);
    for (int k = 0; k < 2 && end[0] < end[1]; k++) {
        int right = 0, wrong = 0; /* for a coefficient above 0 */
        if (!m->bias && end[k] != 0.0) continue;
        for (int64_t i = 0; i < m->n; i++) {
            right |= y[i] * (x[i] - end[k]) > 0.0;
            wrong |= y[i] * (x[i] - end[k]) < 0.0;
        }
        if (right != wrong && (right || !m->nonnegative)) return k ? 1 : -1;
    }
    return 0;
}

static void take_column(const fenp_sample *s, int64_t j, double *out)
{
    for (int64_t i = 0; i < s->n; i++) out[i] = s->x ? s->x[i * s->p + j] : 0.0;
    for (int64_t k = s->x ? 0 : s->start[j]; !s->x && k < s->start[j + 1]; k++)
        out[s->row[k]] = s->value[k];
}

/* Groups of one coefficient each: those without a penalty. Others are left alone. */
static void note_open_column(fen_model *m, const fenp_sample *sample)
{
    double *x = fenp_new(m->n, sizeof *x);
    char name[NAME_SIZE];
    for (int64_t t = 0; x && t < m->targets; t++) {
        for (int64_t j = 0; j < m->p; j++) {
            if (!fenp_is_none(m->penalty) &&
                (m->groups.start || fenp_group_weight(&m->groups, j) != 0.0))
                continue;
            take_column(sample, j, x);
            const int end = open_end(m, x, sample->y + t * m->n);
            if (end == 0) continue;
            fenp_prep_feature_name(m->prep, j, name, sizeof name);
            note(m, "rows with \"%s\" %s value are all of one class: no minimum exists%s", name,
                 end > 0 ? "below its largest" : "above its least",
                 fenp_is_none(m->penalty) ? " without a penalty" : "");
            free(x);
            return;
        }
    }
    free(x);
}

/* Penalty lp: kernel values of rows far apart ask for more digits than there are. */
static void note_gamma(fen_model *m, const fenp_sample *sample)
{
    static const double LARGE = 10.0; /* times the rule */
    int64_t t = 0;
    double rule;
    char number[32];
    while (t < m->targets && m->certificate[t].verdict == FEN_VERDICT_OPTIMAL) t++;
    if (t == m->targets || fenp_lp_gamma(&m->kernel, sample, &rule, NULL) != FEN_OK) return;
    if (!(m->kernel.par.gamma > LARGE * rule)) return;
    snprintf(number, sizeof number, "%.2g", rule);
    note(m, "gamma is large for these rows (auto takes %s)", number);
}

void fenp_note_scores(fen_model *m, const fenp_sample *sample, const double *scores)
{
    if (fenp_model_is_lp(m) && m->kernel.table->uses_gamma) note_gamma(m, sample);
    if (fenp_tells_odds(m->loss) && fenp_model_on_coefficients(m) &&
        !note_separated(m, sample, scores) && m->weights)
        note_open_column(m, sample);
    if (fenp_is_tube(m->loss)) note_tube(m, sample, scores);
    for (int by_noise = 0; fenp_is_huber(m->loss) && by_noise < 2; by_noise++)
        note_huber(m, sample, scores, by_noise);
}
