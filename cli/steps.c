/* steps.c -- the path of a penalty on coefficients: who enters when, and all of it as CSV
 *
 * People see the lambdas at which coefficients come or go, the first, the last and the selected
 * one; the CSV is wide: a row for every lambda, a column for every feature that was ever in. */
#include <math.h>
#include <string.h>
#include "report.h"
#include "steps.h"

enum { WIDTH = 79, LINES = 4 };

/* ---- for people ------------------------------------------------------------------------- */

typedef struct columns {
    int square; /* losses are shown as roots                                */
    int scored, criterion;
    int grouped;     /* the features of a column come and go together            */
    double selected; /* NAN: none                                                */
} columns;

static int is_there(const json_t *step, const char *figure)
{
    return json_object_get(step, figure) != NULL;
}

char gap_mark(const json_t *path, const json_t *step)
{
    const double gap = json_at(step, "relative_gap"); /* NAN: infinite */
    return is_there(step, "relative_gap") && !(gap <= json_at(path, "tolerance")) ? '!' : ' ';
}

const char *gap_legend(const json_t *path)
{
    return json_at(path, "above_tolerance") > 0 ? "; ! a relative gap above the tolerance" : "";
}

static double shown(const columns *c, double loss) { return c->square ? sqrt(loss) : loss; }

/* The length of the column that both are features of: "kind = a" and "kind = b", "age" and "age is
 * missing"; 0: of two. */
static int common_column(const char *a, const char *b)
{
    const size_t whole = strlen(a);
    if (strncmp(a, b, whole) == 0 && strcmp(b + whole, " is missing") == 0) return (int)whole;
    for (int k = 0; a[k] && a[k] == b[k]; k++)
        if (strncmp(a + k, " = ", 3) == 0 && strncmp(b + k, " = ", 3) == 0) return k;
    return 0;
}

/* How many features from i on have one name on the screen: groups are not told by their levels.
 * length: of that name. */
static size_t named_at_once(const columns *c, const json_t *list, size_t i, int *length)
{
    const char *name = json_string_value(json_array_get(list, i)), *next;
    size_t count = 1;
    *length = (int)strlen(name);
    while (c->grouped && (next = json_string_value(json_array_get(list, i + count))) &&
           common_column(name, next) > 0)
        *length = common_column(name, next), count++;
    return count;
}

static size_t count_names(const columns *c, const json_t *list)
{
    size_t names = 0;
    int length;
    for (size_t i = 0; i < json_array_size(list); names++) i += named_at_once(c, list, i, &length);
    return names;
}

/* "+bmi +s5 -age" in what is left of the line and of some more; "(7 more)" for what is not. */
static void print_changes(const columns *c, const json_t *step, int column)
{
    const json_t *lists[] = { json_object_get(step, "entered"), json_object_get(step, "left") };
    size_t rest = count_names(c, lists[0]) + count_names(c, lists[1]), count;
    int used = column, line = 1, length;
    for (int which = 0; which < 2; which++)
        for (size_t i = 0; i < json_array_size(lists[which]); i += count, rest--) {
            const char *name = json_string_value(json_array_get(lists[which], i));
            const int last = line == LINES, spare = last && rest > 1 ? 12 : 0;
            count = named_at_once(c, lists[which], i, &length);
            if (used + length + 2 + spare > WIDTH && used > column) {
                printf(last ? " (%zu more)" : "\n", rest);
                if (last) return;
                printf("%*s", column - 1, "");
                used = column, line++;
            }
            char whole[1024], clear[1024];
            snprintf(whole, sizeof whole, "%.*s", length, name);
            printf(" %c%s", which == 0 ? '+' : '-', printable(whole, clear, sizeof clear));
            used += length + 2;
        }
}

/* What would be printed as -0.0000 is 0. */
static double share(double explained) { return fabs(explained) < 5e-5 ? 0.0 : explained; }

static int is_worth_a_line(const json_t *step, const columns *c, int end)
{
    return end || json_array_size(json_object_get(step, "entered")) > 0 ||
           json_array_size(json_object_get(step, "left")) > 0 ||
           json_at(step, "lambda") == c->selected;
}

static void print_step(const json_t *path, const json_t *step, const columns *c)
{
    const char mark = json_at(step, "lambda") == c->selected ? '>' : ' ';
    char part[32] = "-"; /* of a constant target there is nothing to explain */
    if (!isnan(json_at(step, "explained")))
        snprintf(part, sizeof part, "%.4f", share(json_at(step, "explained")));
    int used =
        printf("%c%c%11.5g %6.0f %9s %11.5g", mark, gap_mark(path, step), json_at(step, "lambda"),
               json_at(step, "terms"), part, shown(c, json_at(step, "mean_loss")));
    const double score = json_at(step, "score");
    if (c->scored) used += printf(" %11.5g", c->criterion ? score : shown(c, score));
    print_changes(c, step, used + 1);
    putchar('\n');
}

static void print_heading(const json_t *path, const columns *c)
{
    printf("  %11s %6s %9s %11s", "lambda", "terms", c->square ? "R2" : "explained",
           c->square ? "train RMSE" : "mean loss");
    const char *kind = json_text_at(path, "score_kind");
    if (c->scored)
        printf(" %11s", c->criterion               ? kind
                        : strcmp(kind, "gcv") == 0 ? "gcv RMSE"
                        : c->square                ? "held RMSE"
                                                   : "held loss");
    puts("  enters (+), leaves (-)");
}

static void print_note(const json_t *path, const columns *c, int advice)
{
    char text[512];
    const int exact = strcmp(json_text_at(path, "solution"), "breakpoints") == 0;
    snprintf(text, sizeof text, "%s%s%s%s",
             exact ? "breakpoints of the exact path: terms are those just below lambda"
                   : "shown: where coefficients come or go, of all lambdas solved",
             isnan(c->selected) ? "" : "; > what fit would take", gap_legend(path),
             advice ? "; -o FILE.csv writes every coefficient in the units of the file, "
                      "--plot FILE.svg draws them"
                    : "");
    print_wrapped(stdout, "", text);
}

/* Across targets a level is a group by itself. */
static int is_grouped(const char *penalty)
{
    return strncmp(penalty, "group", 5) == 0 && strcmp(penalty, "group:targets") != 0;
}

void print_steps(const json_t *path, int advice)
{
    const json_t *points = json_object_get(path, "points");
    const size_t count = json_array_size(points);
    const columns c = { .square = strcmp(json_text_at(path, "loss"), "square") == 0,
                        .scored = json_object_get(json_array_get(points, 0), "score") != NULL,
                        .criterion = is_criterion(path),
                        .grouped = is_grouped(json_text_at(path, "penalty")),
                        .selected = json_at(path, "selected") };
    const char *target = "";
    const char *last = json_text_at(json_array_get(points, count - 1), "target");
    const int several = strcmp(json_text_at(json_array_get(points, 0), "target"), last) != 0;
    printf("penalty %s, %s loss, %.0f rows, %.0f features\n", json_text_at(path, "penalty"),
           json_text_at(path, "loss"), json_at(path, "n"), json_at(path, "d"));
    if (!several) print_heading(path, &c);
    for (size_t i = 0; i < count; i++) {
        const json_t *step = json_array_get(points, i), *next = json_array_get(points, i + 1);
        const int begins = strcmp(json_text_at(step, "target"), target) != 0 || i == 0;
        const int ends = strcmp(json_text_at(next, "target"), json_text_at(step, "target")) != 0;
        target = json_text_at(step, "target");
        if (begins && several) {
            printf("\n%s\n", target);
            print_heading(path, &c);
        }
        if (is_worth_a_line(step, &c, begins || ends)) print_step(path, step, &c);
    }
    print_note(path, &c, advice);
}

/* ---- as CSV ------------------------------------------------------------------------------- */

static const char *const figures[] = { "lambda",       "terms",     "mean_loss", "objective",
                                       "relative_gap", "explained", "score",     "standard_error",
                                       "intercept",    NULL };

void write_steps(const json_t *path, FILE *out)
{
    const json_t *points = json_object_get(path, "points");
    const json_t *names = json_object_get(path, "features"), *first = json_array_get(points, 0);
    fputs("target", out);
    for (int i = 0; figures[i]; i++)
        if (is_there(first, figures[i])) fprintf(out, ",%s", figures[i]);
    for (size_t j = 0; j < json_array_size(names); j++) {
        fputc(',', out);
        csv_name(out, "coef:", json_string_value(json_array_get(names, j)));
    }
    fputc('\n', out);
    for (size_t i = 0; i < json_array_size(points); i++) {
        const json_t *step = json_array_get(points, i);
        const json_t *of = json_object_get(step, "coefficients");
        const size_t width = json_array_size(names);
        csv_name(out, "", json_text_at(step, "target"));
        fputc(',', out);
        for (int k = 0; figures[k]; k++)
            if (is_there(first, figures[k]))
                csv_number(out, json_at(step, figures[k]), figures[k + 1] || width ? ',' : '\n');
        for (size_t j = 0; j < width; j++) {
            const json_t *value = json_object_get(of, json_string_value(json_array_get(names, j)));
            csv_number(out, value ? json_number_value(value) : 0.0, j + 1 < width ? ',' : '\n');
        }
    }
}
