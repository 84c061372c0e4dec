/* cmd_select.c -- fenchel select: the table behind the choice
 *
 * A full grid is shown as a matrix, the shorter side across; anything else, or what is
 * too wide for the screen, as a list. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include "report.h"

enum { ACROSS_MAX = 7, CELL = 9 };

typedef struct axis {
    double *at;
    int64_t count;
} axis;

static double gamma_of(const point *p) { return p->gamma; }
static double lambda_of(const point *p) { return p->lambda; }

/* The distinct values, ascending; at is NULL when memory ran out. */
static axis distinct(const grid *g, double (*of)(const point *))
{
    axis a = { calloc((size_t)g->count + 1, sizeof(double)), 0 };
    if (!a.at) return a;
    for (int64_t i = 0; i < g->count; i++) a.at[i] = of(&g->at[i]);
    qsort(a.at, (size_t)g->count, sizeof *a.at, ascending);
    for (int64_t i = 0; i < g->count; i++)
        if (a.count == 0 || a.at[i] != a.at[a.count - 1]) a.at[a.count++] = a.at[i];
    return a;
}

static const point *find(const grid *g, double gamma, double lambda)
{
    for (int64_t i = 0; i < g->count; i++)
        if (g->at[i].gamma == gamma && g->at[i].lambda == lambda) return &g->at[i];
    return NULL;
}

static void print_matrix(const grid *g, axis down, axis across, int gamma_across)
{
    printf("%-10s  %s\n%10s", gamma_across ? "lambda" : "gamma", gamma_across ? "gamma" : "lambda",
           "");
    for (int64_t j = 0; j < across.count; j++) printf(" %*.3g", CELL, across.at[j]);
    putchar('\n');
    for (int64_t i = 0; i < down.count; i++) {
        printf("%-10.3g", down.at[i]);
        for (int64_t j = 0; j < across.count; j++) {
            const point *p = gamma_across ? find(g, across.at[j], down.at[i])
                                          : find(g, down.at[i], across.at[j]);
            int best = p == &g->at[g->best];
            printf("%c%*.5g%s", best ? '>' : ' ', CELL, shown_score(g, p->score),
                   j + 1 == across.count ? "\n" : "");
        }
    }
}

static void print_list(const grid *g)
{
    printf("  %14s %14s  %s\n", "gamma", "lambda", g->kind);
    for (int64_t i = 0; i < g->count; i++)
        printf("%c %14.5g %14.5g  %.6g\n", i == g->best ? '>' : ' ', g->at[i].gamma,
               g->at[i].lambda, shown_score(g, g->at[i].score));
}

static int print_grid(const grid *g)
{
    axis gammas = distinct(g, gamma_of), lambdas = distinct(g, lambda_of);
    int room = gammas.at && lambdas.at;
    if (room) {
        int gamma_across = gammas.count <= lambdas.count;
        axis across = gamma_across ? gammas : lambdas, down = gamma_across ? lambdas : gammas;
        int full = g->count == gammas.count * lambdas.count; /* points are distinct */
        if (full && across.count <= ACROSS_MAX && !isnan(across.at[0]) && !isnan(down.at[0]))
            print_matrix(g, down, across, gamma_across);
        else
            print_list(g);
        const point *best = &g->at[g->best];
        printf("> %s %.6g at gamma %.6g, lambda %.6g%s\n", g->kind, shown_score(g, best->score),
               best->gamma, best->lambda, g->unit);
    }
    free(gammas.at);
    free(lambdas.at);
    return room ? EXIT_DONE : complain(EXIT_ROOM, "out of memory while printing the table");
}

static void write_number(FILE *out, double value, char end)
{
    char text[32];
    fprintf(out, "%s%c", isnan(value) ? "" : shortest(value, text), end);
}

static int write_grid(const grid *g, const char *path)
{
    sink s;
    int code = sink_open(&s, path);
    if (code != EXIT_DONE) return code;
    fputs("gamma,lambda,score\n", s.stream);
    for (int64_t i = 0; i < g->count; i++) {
        write_number(s.stream, g->at[i].gamma, ',');
        write_number(s.stream, g->at[i].lambda, ',');
        write_number(s.stream, g->at[i].score, '\n');
    }
    return sink_close(&s, EXIT_DONE);
}

static int64_t count_targets(const char *list)
{
    int64_t count = 1;
    for (; *list; list++) count += *list == ',';
    return count;
}

static int answer(const request *r, const char *text)
{
    grid g = { 0 };
    int code = EXIT_ROOM;
    json_t *json = json_parse(text);
    if (json && grid_read(&g, json, r->options.loss, count_targets(r->options.target))) {
        code = r->output ? write_grid(&g, r->output) : EXIT_DONE;
        if (code == EXIT_DONE && r->json)
            code = json_print(json_incref(json));
        else if (code == EXIT_DONE && g.best < 0)
            code = complain(EXIT_DATA, "no point of the grid has a finite score");
        else if (code == EXIT_DONE)
            code = print_grid(&g);
    }
    grid_free(&g);
    json_decref(json);
    return code;
}

static int run(const request *r)
{
    fen_table *data = NULL;
    fen_error err;
    char *text = NULL;
    int code = check_output(r->output, (const char *const[]){ r->operand[0], NULL });
    if (code != EXIT_DONE) return code;
    fen_status status =
        fen_table_read(r->operand[0], &r->options, progress_begin(r->quiet), &data, &err);
    if (!status) status = fen_select(data, &r->options, progress_begin(r->quiet), &text, &err);
    fen_table_free(data);
    progress_end();
    code = status ? fail(&err) : answer(r, text);
    fen_text_free(text);
    return code;
}

/* clang-format off */
static const char *const examples[] = {
    "the leave-one-out score of every point that fit would try", "fenchel select train.csv",
    "your own grid by ten folds, the table as CSV",
    "fenchel select train.csv --gamma 0.01:1:9 --lambda 1e-8:1:17 --select kfold:10 -o grid.csv",
    NULL
};

const command command_select = {
    .name = "select", .operands = "DATA", .operand_count = 1,
    .output = "TABLE", .output_help = "write gamma, lambda and score of every point as CSV",
    .summary = "the table behind the choice of gamma, lambda",
    .description = "Scores every pair of gamma and lambda as fit would, and marks the one that "
                   "fit would take. For the square loss scores are shown as root mean square "
                   "errors in units of the target; JSON and CSV hold the mean squares.",
    .examples = examples, .run = run,
};
/* clang-format on */
