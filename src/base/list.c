/* list.c -- what there is to choose from, and the words for statuses and verdicts */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "base/registry.h"

/* From solver/solver.h and tensor/form.h, by name only: base includes nothing above itself. */
struct fenp_solver;
extern const struct fenp_solver *const fenp_solvers[];
struct fenp_route;
extern const struct fenp_route *const fenp_routes[];

/* Every table begins with these two. */
typedef struct heading {
    const char *name, *help;
} heading;
_Static_assert(offsetof(fen_loss, help) == offsetof(heading, help), "name and help come first");
_Static_assert(offsetof(fen_penalty, help) == offsetof(heading, help), "name and help come first");
_Static_assert(offsetof(fen_kernel, help) == offsetof(heading, help), "name and help come first");
_Static_assert(offsetof(fen_format, help) == offsetof(heading, help), "name and help come first");
_Static_assert(offsetof(fen_generator, help) == offsetof(heading, help),
               "name and help come first");

/* Penalties on coefficients have engines of their own (solver/linear.h, solver/homotopy.h). */
static const heading linear_engines[] = {
    { "active-set", "l1, elastic, group: working sets of columns, Newton or pivoting steps" },
    { "coordinate", "l1, elastic: working sets of columns, coordinate descent" },
    { "interior", "l1, elastic, group: interior points, for losses in pieces (absolute, hinge)" },
    { "homotopy", "l1, square loss, fenchel path: from breakpoint to breakpoint" },
};
enum { LINEAR_ENGINES = sizeof linear_engines / sizeof *linear_engines };

static const void *engine_at(int32_t i)
{
    int32_t of_kernels = 0;
    while (fenp_solvers[of_kernels]) of_kernels++;
    if (i < of_kernels) return fenp_solvers[i];
    return i - of_kernels < LINEAR_ENGINES ? &linear_engines[i - of_kernels] : NULL;
}

static const void *loss_at(int32_t i) { return fenp_losses[i]; }
static const void *penalty_at(int32_t i) { return fenp_penalties[i]; }
static const void *kernel_at(int32_t i) { return fenp_kernels[i]; }
static const void *format_at(int32_t i) { return fenp_formats[i]; }
static const void *route_at(int32_t i) { return fenp_routes[i]; }
static const void *generator_at(int32_t i) { return fenp_generators[i]; }

static const struct {
    const char *kind;
    const void *(*at)(int32_t i);
} lists[] = {
    { "loss", loss_at },           { "penalty", penalty_at }, { "kernel", kernel_at },
    { "format", format_at },       { "engine", engine_at },   { "route", route_at },
    { "generator", generator_at },
};

const char *fen_list(const char *kind, int32_t i, const char **help)
{
    size_t list = 0, count = sizeof lists / sizeof *lists;
    while (list < count && strcmp(lists[list].kind, kind) != 0) list++;
    if (list == count || i < 0) return NULL;
    for (int32_t k = 0; k < i; k++) /* i may lie beyond the NULL that ends a table */
        if (!lists[list].at(k)) return NULL;
    const void *entry = lists[list].at(i);
    if (!entry) return NULL;
    heading head;
    memcpy(&head, entry, sizeof head);
    if (help) *help = head.help;
    return head.name;
}

#define TEXT(name, text) text,

const char *fen_status_text(fen_status status)
{
    static const char *const texts[] = { FEN_STATUS_MAP(TEXT) };
    return (unsigned)status < FEN_STATUS_COUNT ? texts[status] : "unknown status";
}

const char *fen_verdict_text(fen_verdict verdict)
{
    static const char *const texts[] = { FEN_VERDICT_MAP(TEXT) };
    return (unsigned)verdict < FEN_VERDICT_COUNT ? texts[verdict] : "unknown verdict";
}

const char *fen_version(void) { return FEN_VERSION; }

void fen_text_free(char *text) { free(text); }
