/* coefficients.c -- the table of a linear model's coefficients for people, or a kernel lasso's
 *
 * Those that are not 0, the largest on the scale of the prepared features first, in the units of
 * the file; of rows there is one scale. One target: both scales, and the group where there are groups. Several: a column
 * each. All within 79 characters but for long names of groups, which stand last. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "report.h"

enum { SHOWN = 20, ACROSS = 4 };

typedef struct listing {
    const json_t *all;
    int64_t *order; /* of all of them */
    size_t count;   /* of those that are not 0 */
    int64_t targets;
    int scaled, groups; /* columns that say something */
} listing;

static const json_t *entry(const listing *l, size_t rank)
{
    return json_array_get(l->all, (size_t)l->order[rank]);
}

static const char *scale_of(const json_t *entry)
{
    return json_object_get(entry, "standardised") ? "standardised" : "value";
}

/* The largest on the prepared scale in any target. */
static double size_of(const void *of, int64_t k)
{
    const listing *l = of;
    const json_t *json = json_array_get(l->all, (size_t)k);
    double size = 0;
    for (int64_t t = 0; t < l->targets; t++)
        size = fmax(size, fabs(json_at_target(json, scale_of(json), t)));
    return size;
}

static listing list_coefficients(const json_t *model, int64_t targets)
{
    listing l = { .all = json_object_get(model, "coefficients"), .targets = targets };
    const size_t all = json_array_size(l.all);
    for (size_t j = 0; j < all; j++) {
        const json_t *json = json_array_get(l.all, j);
        for (int64_t t = 0; t < targets; t++)
            l.scaled |= json_at_target(json, scale_of(json), t) != json_at_target(json, "value", t);
        l.groups |= json_object_get(json, "group") != NULL;
        l.count += size_of(&l, (int64_t)j) > 0;
    }
    l.order = largest_first((int64_t)all, size_of, &l);
    return l;
}

const char *fitted(const char *name, int width, char *out, size_t size)
{
    char shown[512];
    name = printable(name, shown, sizeof shown);
    const size_t length = strlen(name), room = (size_t)width;
    if (length <= room || room < 4)
        snprintf(out, size, "%s", name);
    else { /* the end tells levels of one column apart; no character is cut in two */
        size_t head = (room - 2) / 2, tail = length - (room - 2 - head);
        while (((unsigned char)name[tail] & 0xC0) == 0x80) tail++;
        if (head > 1 && name[tail - 1] == ' ') tail--, head--; /* ".. = level", not "..= level" */
        while (head > 0 && ((unsigned char)name[head] & 0xC0) == 0x80) head--;
        snprintf(out, size, "%.*s..%s", (int)head, name, name + tail);
    }
    return out;
}

static void print_name(const char *name, int width)
{
    char text[256];
    printf("%*s%-*s", LABEL_WIDTH, "", width, fitted(name, width, text, sizeof text));
}

static const char *aliased_mark(const json_t *json)
{
    return json_is_true(json_object_get(json, "aliased")) ? " *" : "";
}

static int any_aliased(const listing *l, size_t shown)
{
    size_t j = 0;
    while (j < shown && !aliased_mark(entry(l, j))[0]) j++;
    return j < shown;
}

/* ---- one target --------------------------------------------------------------------------- */

enum { NAME = 26, NUMBER = 13 };

static void print_one(const listing *l, const json_t *model, size_t shown)
{
    const int range = strcmp(json_text_at(model, "scale"), "range") == 0;
    char name[256];
    printf("%-*s%-*s %*s", LABEL_WIDTH, "Coefficients", NAME, "", NUMBER, "value");
    if (l->scaled) printf(" %*s", NUMBER, range ? "over range" : "standardised");
    printf("%s\n", l->groups ? "  group" : "");
    for (size_t j = 0; j < shown; j++) {
        const json_t *json = entry(l, j);
        print_name(json_text_at(json, "name"), NAME);
        printf(" %*.6g", NUMBER, json_at_target(json, "value", 0));
        if (l->scaled) printf(" %*.6g", NUMBER, json_at_target(json, "standardised", 0));
        if (l->groups) printf("  %s", printable(json_text_at(json, "group"), name, sizeof name));
        printf("%s\n", aliased_mark(json));
    }
    print_name("(intercept)", NAME);
    printf(" %*.6g\n", NUMBER, json_at_target(model, "intercept", 0));
}

/* ---- several ------------------------------------------------------------------------------ */

enum { SHORT_NAME = 20, CELL = 10 };

static void print_several(const listing *l, const json_t *model, size_t shown)
{
    const int64_t across = l->targets < ACROSS ? l->targets : ACROSS;
    const json_t *names = json_object_get(model, "targets");
    char text[256];
    printf("%-*s%-*s", LABEL_WIDTH, "Coefficients", SHORT_NAME, "");
    for (int64_t t = 0; t < across; t++) {
        const char *name = json_string_value(json_array_get(names, (size_t)t));
        printf(" %*s", CELL, fitted(name ? name : "", CELL, text, sizeof text));
    }
    putchar('\n');
    for (size_t j = 0; j < shown; j++) {
        const json_t *json = entry(l, j);
        print_name(json_text_at(json, "name"), SHORT_NAME);
        for (int64_t t = 0; t < across; t++)
            printf(" %*.4g", CELL, json_at_target(json, "value", t));
        printf("%s\n", aliased_mark(json));
    }
    print_name("(intercept)", SHORT_NAME);
    for (int64_t t = 0; t < across; t++)
        printf(" %*.4g", CELL, json_at_target(model, "intercept", t));
    putchar('\n');
    if (across < l->targets)
        report("", "the first %" PRId64 " of %" PRId64 " outputs", across, l->targets);
}

void report_sign(const json_t *model)
{
    const json_t *output = json_array_get(json_object_get(model, "outputs"), 0);
    const char *plus = json_text_at(output, "plus");
    if (plus[0]) report("", "above 0: in favour of %.60s", plus);
}

void report_coefficients(const json_t *model)
{
    if (!json_object_get(model, "coefficients")) return;
    const json_t *targets = json_object_get(model, "targets");
    listing l = list_coefficients(model, (int64_t)json_array_size(targets));
    const size_t shown = l.count < SHOWN ? l.count : SHOWN;
    if (!l.order) return;
    if (l.targets == 1)
        print_one(&l, model, shown);
    else
        print_several(&l, model, shown);
    if (l.count > shown)
        report("", "and %zu smaller ones: fenchel info MODEL --json has all", l.count - shown);
    if (l.targets == 1) report_sign(model);
    if (any_aliased(&l, shown)) report("", "* spanned by columns that stand before it in the file");
    free(l.order);
}
