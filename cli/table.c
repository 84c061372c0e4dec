/* table.c -- the scores of a grid for people
 *
 * A full grid in two coordinates is a matrix, in three the best of every gamma and the
 * matrix of the best one; anything else, and lambdas alone, is a list, with powers of the best
 * lambda of each.
 * All within 79 columns. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "report.h"

enum { ACROSS = 10, CELL = 6 }; /* ten columns of seven and the labels: 79 characters */

/* A number in CELL characters: as many digits as fit, 7.8e-4 rather than 0.00078; no number: - */
static const char *compact(double value, char out[32])
{
    if (!isfinite(value)) return "-";
    for (int digits = 4; digits > 0; digits--) {
        snprintf(out, 32, "%.*g", digits, value);
        if (strlen(out) <= CELL) return out;
        snprintf(out, 32, "%.*e", digits - 1, value);
        char *exponent = strchr(out, 'e'), *zeros = exponent ? exponent + 2 : NULL;
        while (zeros && *zeros == '0' && zeros[1]) memmove(zeros, zeros + 1, strlen(zeros));
        if (exponent && exponent[1] == '+')
            memmove(exponent + 1, exponent + 2, strlen(exponent + 1));
        if (strlen(out) <= CELL) return out;
    }
    return out;
}

typedef struct coordinate {
    const char *name;
    double (*of)(const point *);
    axis values;
} coordinate;

static const point *find(const grid *g, const coordinate *a, double x, const coordinate *b,
                         double y)
{
    for (int64_t i = 0; i < g->count; i++)
        if (a->of(&g->at[i]) == x && b->of(&g->at[i]) == y) return &g->at[i];
    return NULL;
}

static int is_full(const grid *g, const coordinate *a, const coordinate *b)
{
    for (int64_t i = 0; i < a->values.count; i++)
        for (int64_t j = 0; j < b->values.count; j++)
            if (!find(g, a, a->values.at[i], b, b->values.at[j])) return 0;
    return 1;
}

static double score_shown(const grid *g, const point *p) { return shown_score(g, p->score); }
static double error_shown(const grid *g, const point *p)
{
    (void)g;
    return isfinite(p->score) ? shown_error(p) : NAN;
}

/* A wide matrix comes in several pieces. */
static void print_matrix(const grid *g, const coordinate *across, const coordinate *down,
                         double (*shown)(const grid *, const point *))
{
    char text[32];
    const axis x = across->values, y = down->values;
    for (int64_t from = 0; from < x.count; from += ACROSS) {
        int64_t to = from + ACROSS < x.count ? from + ACROSS : x.count;
        printf("%s%-9s%s\n%-9s", from > 0 ? "\n" : "", down->name, across->name, "");
        for (int64_t j = from; j < to; j++) printf(" %*s", CELL, compact(x.at[j], text));
        for (int64_t i = 0; i < y.count; i++) {
            printf("\n%-9s", compact(y.at[i], text));
            for (int64_t j = from; j < to; j++) {
                const point *p = find(g, across, x.at[j], down, y.at[i]);
                int best = p == &g->at[g->best];
                printf("%c%*s", best ? '>' : ' ', CELL, compact(shown(g, p), text));
            }
        }
        putchar('\n');
    }
}

/* The way that needs fewer pieces. */
static void print_either_way(const grid *g, const coordinate *across, const coordinate *down)
{
    int turned = across->values.count > ACROSS && down->values.count <= ACROSS;
    const coordinate *x = turned ? down : across, *y = turned ? across : down;
    print_matrix(g, x, y, score_shown);
    if (!g->classes) return;
    puts("\nerror rate in percent");
    print_matrix(g, x, y, error_shown);
}

static void print_line(const grid *g, const point *p, int powers)
{
    char text[32];
    printf("%c", p == &g->at[g->best] ? '>' : ' ');
    if (g->gammas) printf(" %14.5g", p->gamma);
    printf(" %14.5g", p->lambda);
    if (powers) printf(" %9.4g", p->power);
    if (g->classes && isfinite(p->score)) printf(" %7.2f%%", shown_error(p));
    if (g->classes && !isfinite(p->score)) printf(" %8s", "-");
    printf("  %s\n", score_text(g, p->score, text));
}

static void print_head(const grid *g, const char *lambda, const char *power)
{
    putchar(' ');
    if (g->gammas) printf(" %14s", "gamma");
    printf(" %14s%s%s  %s\n", lambda, power, g->classes ? "   errors" : "", g->kind);
}

/* The best point of every value of a coordinate. */
static void print_best(const grid *g, const coordinate *c)
{
    print_head(g, "best lambda", "     power");
    for (int64_t i = 0; i < c->values.count; i++)
        print_line(g, grid_best_at(g, c->of, c->values.at[i]), 1);
}

static void print_list(const grid *g)
{
    print_head(g, "lambda", "");
    for (int64_t i = 0; i < g->count; i++) print_line(g, &g->at[i], 0);
}

/* Powers of one gamma; lambdas of our own choice are others for every power. */
static int print_powers(const grid *g, const coordinate *powers)
{
    coordinate lambdas = { "lambda", lambda_of, grid_axis(g, lambda_of) };
    if (!lambdas.values.at) return 0;
    if (is_full(g, powers, &lambdas))
        print_either_way(g, powers, &lambdas);
    else
        print_best(g, powers);
    free(lambdas.values.at);
    return 1;
}

/* The points of the best gamma are a grid of their own. */
static int print_three(const grid *g, const coordinate *gammas, const coordinate *powers)
{
    grid one = *g;
    one.at = calloc((size_t)g->count, sizeof *one.at);
    if (!one.at) return 0;
    one.count = 0;
    for (int64_t i = 0; i < g->count; i++) {
        if (g->at[i].gamma != g->at[g->best].gamma) continue;
        if (i == g->best) one.best = one.count;
        one.at[one.count++] = g->at[i];
    }
    print_best(g, gammas);
    printf("\ngamma %.5g\n", g->at[g->best].gamma);
    int done = print_powers(&one, powers);
    free(one.at);
    return done;
}

static int print_coordinates(const grid *g, const coordinate *c)
{
    const coordinate *gammas = &c[0], *lambdas = &c[1], *powers = &c[2];
    if (powers->values.count > 1)
        return gammas->values.count > 1 ? print_three(g, gammas, powers) : print_powers(g, powers);
    if (g->gammas && is_full(g, gammas, lambdas))
        print_either_way(g, gammas, lambdas);
    else
        print_list(g);
    return 1;
}

static void print_choice(const grid *g, const point *best)
{
    char text[320], gamma[32] = "", power[32] = "", errors[32] = "";
    if (g->classes) snprintf(errors, sizeof errors, ", %.2f%% errors", shown_error(best));
    if (g->gammas) snprintf(gamma, sizeof gamma, ", gamma %.6g", best->gamma);
    if (!g->given_power && (best->power != 2 || grid_count(g, power_of) > 1))
        snprintf(power, sizeof power, ", power %.6g", best->power);
    snprintf(text, sizeof text, "%s %.6g%s at lambda %.6g%s%s%s", g->kind,
             shown_score(g, best->score), errors, best->lambda, gamma, power, g->unit);
    print_wrapped(stdout, "> ", text);
}

int print_grid(const grid *g)
{
    coordinate c[] = { { "gamma", gamma_of, grid_axis(g, gamma_of) },
                       { "lambda", lambda_of, grid_axis(g, lambda_of) },
                       { "power", power_of, grid_axis(g, power_of) } };
    int done = c[0].values.at && c[1].values.at && c[2].values.at && print_coordinates(g, c);
    if (done) print_choice(g, &g->at[g->best]);
    for (int i = 0; i < 3; i++) free(c[i].values.at);
    return done ? EXIT_DONE : complain(EXIT_ROOM, "out of memory while printing the table");
}

/* ---- some lines for a report: the best of every gamma, else of every power, else lambdas ---- */

/* What the rows of the table go by, and which columns say something. */
typedef struct outline {
    axis rows;
    double (*of)(const point *);
    int gammas, powers;
} outline;

static outline outline_of(const grid *g)
{
    outline o = { .gammas = grid_count(g, gamma_of) > 1, .powers = grid_count(g, power_of) > 1 };
    o.of = o.gammas ? gamma_of : o.powers ? power_of : lambda_of;
    o.rows = grid_axis(g, o.of);
    return o;
}

static void choice_row(const grid *g, const outline *o, const point *p)
{
    const int chosen = p == &g->at[g->best], width = (int)strlen(g->kind);
    char gamma[32] = "", power[32] = "", score[32], error[32] = "", line[256];
    if (o->gammas) snprintf(gamma, sizeof gamma, "%.4g", p->gamma);
    if (o->powers) snprintf(power, sizeof power, " %6.4g", p->power);
    if (g->classes && isfinite(p->score))
        snprintf(error, sizeof error, "  %6.2f%%", shown_error(p));
    else if (g->classes)
        snprintf(error, sizeof error, "  %7s", "-");
    snprintf(line, sizeof line, "%*s%c %12s  %12.4g%s  %*s%s", LABEL_WIDTH, "", chosen ? '>' : ' ',
             gamma, p->lambda, power, width, score_text(g, p->score, score), error);
    const char *mark = "  <- chosen"; /* where the line has room: '>' says it as well */
    printf("%s%s\n", line, chosen && strlen(line) + strlen(mark) < 80 ? mark : "");
}

/* The chosen point and its neighbours: the report stays within a screen. */
void print_neighbours(const grid *g)
{
    enum { SHOWN = 7 };
    outline o = outline_of(g);
    int64_t at = 0;
    while (at < o.rows.count - 1 && o.rows.at[at] != o.of(&g->at[g->best])) at++;
    int64_t first = at - SHOWN / 2;
    if (first + SHOWN > o.rows.count) first = o.rows.count - SHOWN;
    if (first < 0) first = 0;
    printf("%*s  %12s  %12s%s  %s%s\n", LABEL_WIDTH, "", o.gammas ? "gamma" : "",
           o.gammas || o.powers ? "best lambda" : "lambda", o.powers ? "  power" : "", g->kind,
           g->classes ? "   errors" : "");
    for (int64_t i = first; i < o.rows.count && i < first + SHOWN; i++)
        choice_row(g, &o, grid_best_at(g, o.of, o.rows.at[i]));
    free(o.rows.at);
}
