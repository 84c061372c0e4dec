/* cmd_select.c -- fenchel select: the table behind the choice
 *
 * A full grid is shown as a matrix, anything else as a list. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "report.h"

enum { ACROSS = 10, CELL = 6 }; /* ten columns of seven and the labels: 79 characters */

/* A number in CELL characters: as many digits as fit, 7.8e-4 rather than 0.00078. */
static const char *compact(double value, char out[32])
{
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

static const point *find(const grid *g, double gamma, double lambda)
{
    for (int64_t i = 0; i < g->count; i++)
        if (g->at[i].gamma == gamma && g->at[i].lambda == lambda) return &g->at[i];
    return NULL;
}

/* gammas across, lambdas down; a wide grid in several pieces */
static void print_matrix(const grid *g, axis gammas, axis lambdas)
{
    char text[32];
    for (int64_t from = 0; from < gammas.count; from += ACROSS) {
        int64_t to = from + ACROSS < gammas.count ? from + ACROSS : gammas.count;
        printf("%s   gamma\n%-9s", from > 0 ? "\nlambda" : "lambda", "");
        for (int64_t j = from; j < to; j++) printf(" %*s", CELL, compact(gammas.at[j], text));
        for (int64_t i = 0; i < lambdas.count; i++) {
            printf("\n%-9s", compact(lambdas.at[i], text));
            for (int64_t j = from; j < to; j++) {
                const point *p = find(g, gammas.at[j], lambdas.at[i]);
                int best = p == &g->at[g->best];
                printf("%c%*s", best ? '>' : ' ', CELL, compact(shown_score(g, p->score), text));
            }
        }
        putchar('\n');
    }
}

static void print_list(const grid *g)
{
    printf("  %14s %14s  %s\n", "gamma", "lambda", g->kind);
    for (int64_t i = 0; i < g->count; i++)
        printf("%c %14.5g %14.5g  %.6g\n", i == g->best ? '>' : ' ', g->at[i].gamma,
               g->at[i].lambda, shown_score(g, g->at[i].score));
}

static int is_full(const grid *g, axis gammas, axis lambdas)
{
    for (int64_t i = 0; i < gammas.count; i++)
        for (int64_t j = 0; j < lambdas.count; j++)
            if (!find(g, gammas.at[i], lambdas.at[j])) return 0;
    return 1;
}

static int print_grid(const grid *g)
{
    axis gammas = grid_axis(g, gamma_of), lambdas = grid_axis(g, lambda_of);
    int room = gammas.at && lambdas.at;
    if (room) {
        const point *best = &g->at[g->best];
        if (is_full(g, gammas, lambdas))
            print_matrix(g, gammas, lambdas);
        else
            print_list(g);
        printf("> %s %.6g at lambda %.6g", g->kind, shown_score(g, best->score), best->lambda);
        if (best->gamma > 0) printf(", gamma %.6g", best->gamma); /* 0: the kernel has none */
        printf("%s\n", g->unit);
    }
    free(gammas.at);
    free(lambdas.at);
    return room ? EXIT_DONE : complain(EXIT_ROOM, "out of memory while printing the table");
}

static void write_number(FILE *out, double value, char end)
{
    char text[32];
    fprintf(out, "%s%c", isfinite(value) ? shortest(value, text) : "", end);
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
