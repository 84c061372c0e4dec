/* routes.c -- the three routes to the form of an l^p penalty, and which of them to take
 *
 * Method: the one with the least work among those that are possible and fit into the room that
 *   there is; work = opening it and SOLVE curvatures, about what a Newton method takes. Low rank,
 *   which leaves a little of the kernel out, has to be APPROXIMATE times faster. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/error.h"
#include "base/text.h"
#include "tensor/form.h"

static const double AT_LEAST = 1e8; /* flops that are nothing: exact forms are better then */
static const double SOLVE = 15.0;
static const double APPROXIMATE = 2.0;
static const double CLOSE = 1e-9; /* relative: p is written with few digits */
static const double HIGHEST = 1024.0;

const fenp_route *const fenp_routes[] = { &fenp_route_features, &fenp_route_packed,
                                          &fenp_route_low_rank, NULL };

int64_t fenp_even_order(double q)
{
    const double even = 2.0 * nearbyint(0.5 * q);
    if (!(even >= 2.0 && even <= HIGHEST && fabs(q - even) <= CLOSE * even)) return 0;
    return (int64_t)even;
}

const fenp_route *fenp_find_route(const char *name)
{
    for (int i = 0; fenp_routes[i]; i++)
        if (strcmp(fenp_routes[i]->name, name) == 0) return fenp_routes[i];
    return NULL;
}

/* ---- why not ----------------------------------------------------------------------------- */

enum { TEXT = 96, SHORT = FENP_BYTES_TEXT };

const char *fenp_bytes_text(int64_t bytes, char text[SHORT])
{
    static const char *const units[] = { "bytes", "kB", "MB", "GB", "TB", "PB", "EB" };
    char number[32];
    int unit = 0;
    double left = (double)bytes;
    for (; left >= 999.5; unit++) left /= 1000.0;
    const double digits = left < 99.95 ? 10.0 : 1.0; /* three of them */
    fenp_print_short(nearbyint(left * digits) / digits, number);
    if (bytes < 0)
        snprintf(text, SHORT, "more than any machine has");
    else
        snprintf(text, SHORT, "%s %s", number, units[unit]);
    return text;
}

static const fenp_route *not_even(const char *what, double q, const char *instead, fen_error *err)
{
    char order[32];
    fenp_print_short(q, order);
    fenp_fail(err, FEN_BAD_CALL,
              "%s needs an even q = p/(p-1), and here q is %s: use %s--penalty lp:P with P = 2, "
              "4/3, 6/5, 8/7, ...",
              what, order, instead);
    return NULL;
}

/* What would do instead of a route that takes too much. */
static const char *smaller(const fenp_route *route, const fenp_form_size *size)
{
    return route != &fenp_route_low_rank && fenp_route_low_rank.possible(size)
               ? "raise --memory, use --route low-rank or fewer rows"
               : "raise --memory, or use fewer rows";
}

/* ", and there is room for 8 GB" */
static const char *room_text(int64_t room, char text[TEXT])
{
    char has[SHORT];
    text[0] = '\0';
    if (room) snprintf(text, TEXT, ", and there is room for %s", fenp_bytes_text(room, has));
    return text;
}

static int fits(const fenp_route *route, const fenp_form_size *size)
{
    const int64_t bytes = route->bytes(size);
    return bytes >= 0 && (size->room == 0 || bytes <= size->room);
}

static const fenp_route *too_large(const fenp_route *route, const fenp_form_size *size,
                                   fen_error *err)
{
    char takes[SHORT], has[TEXT], order[32];
    fenp_print_short(size->kernel.par.order, order);
    fenp_fail(err, FEN_MEMORY, "--route %s of %lld rows and q = %s takes %s%s: %s", route->name,
              (long long)size->n, order, fenp_bytes_text(route->bytes(size), takes),
              room_text(size->room, has), smaller(route, size));
    return NULL;
}

/* A route that was asked for and does not exist for this kernel or q. */
static const fenp_route *impossible(const fenp_route *route, const fenp_form_size *size,
                                    fen_error *err)
{
    const fen_kernel *table = size->kernel.table;
    char what[TEXT];
    snprintf(what, sizeof what, "--route %s", route->name);
    if (fenp_even_order(size->kernel.par.order) == 0)
        return not_even(what, size->kernel.par.order, table->linear ? "--route features, or " : "",
                        err);
    if (route != &fenp_route_features) return too_large(route, size, err);
    fenp_fail(err, FEN_BAD_CALL,
              "--kernel %s has features without end, so there is no --route %s: use --route "
              "packed or low-rank",
              table->name, route->name);
    return NULL;
}

const fenp_route *fenp_least_route(const char *name, const fenp_form_size *size, int64_t *bytes)
{
    const fenp_form_size tight = { size->n, size->p, size->kernel, 1 };
    const fenp_route *least = NULL;
    for (int i = 0; fenp_routes[i]; i++) {
        const fenp_route *route = fenp_routes[i];
        if (strcmp(name, "auto") != 0 && strcmp(name, route->name) != 0) continue;
        const int64_t takes = route->possible(&tight) ? route->bytes(&tight) : -1;
        if (takes >= 0 && (!least || takes < *bytes)) least = route, *bytes = takes;
    }
    return least;
}

/* No route is possible at all: q is not even; or none fits. */
static const fenp_route *none(const fenp_form_size *size, fen_error *err)
{
    char what[TEXT], packed[SHORT], rank[SHORT], has[TEXT];
    int64_t takes;
    const fenp_route *least = fenp_least_route("auto", size, &takes);
    if (least == &fenp_route_features || !fenp_route_packed.possible(size)) {
        if (fenp_route_features.possible(size)) return too_large(&fenp_route_features, size, err);
        snprintf(what, sizeof what, "--kernel %s", size->kernel.table->name);
        return not_even(what, size->kernel.par.order, "--kernel linear, or ", err);
    }
    fenp_fail(err, FEN_MEMORY,
              "the kernel tensor of %lld rows takes %s, --route low-rank %s%s: raise --memory, or "
              "use fewer rows",
              (long long)size->n, fenp_bytes_text(fenp_route_packed.bytes(size), packed),
              fenp_bytes_text(fenp_route_low_rank.bytes(size), rank), room_text(size->room, has));
    return NULL;
}

/* ---- which ------------------------------------------------------------------------------- */

double fenp_route_work(const fenp_route *route, const fenp_form_size *size, double solves)
{
    const double work = route->build(size) + SOLVE * solves * route->step(size);
    return route == &fenp_route_low_rank ? APPROXIMATE * work + AT_LEAST : work;
}

const fenp_route *fenp_pick_route(const char *name, const fenp_form_size *size, fen_error *err)
{
    const fenp_route *best = NULL;
    double least = INFINITY;
    if (strcmp(name, "auto") != 0) {
        const fenp_route *route = fenp_find_route(name);
        if (!route) {
            fenp_fail(err, FEN_BAD_CALL, "there is no --route %.40s", name);
            return NULL;
        }
        if (!route->possible(size)) return impossible(route, size, err);
        return fits(route, size) ? route : too_large(route, size, err);
    }
    for (int i = 0; fenp_routes[i]; i++) {
        const fenp_route *route = fenp_routes[i];
        if (!route->possible(size) || !fits(route, size)) continue;
        const double work = fenp_route_work(route, size, 1.0);
        if (!best || work < least) {
            best = route;
            least = work;
        }
    }
    return best ? best : none(size, err);
}
