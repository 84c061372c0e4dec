/* story_lp.c -- what --penalty lp:P asks of a fit, besides its solver
 *
 *   q        p/(p-1); tensor kernels need q = 2, 4, 6, ...: p = 2, 4/3, 6/5, ...
 *   gamma    given, or such that the largest exponent gamma sum_j |x_ij|^q of a row is 1
 *   lambda   candidates.c, in units of kappa^(2/q), kappa the mean of k(x, .., x): f(x) is at
 *            most kappa(x)^(1/q) |w|_p, as it is at most k(x,x)^(1/2) ||f|| with other penalties
 *   rows     values of k(x, .., x) beyond 1e100 leave T(a) no room
 *   route    tensor/form.h: of those that --route allows and that fit the fastest; where none
 *            fits the one that takes least, so that a plan can say how much
 *   memory   what a route takes as a rule; low rank begins with less, and is then less exact
 *
 * Special cases: sums of |x|^q that leave the range of numbers although their root does not
 * (linear kernels, q = 1001) are taken relative to the largest |x|. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/registry.h"
#include "base/text.h"
#include "certify.h"
#include "loss/traits.h"
#include "model/lp.h"
#include "model/ready.h"
#include "solver/lp.h"
#include "story_lp.h"
#include "tensor/pivots_parts.h"

static const double MOST_CERTIFIED = 1e12; /* flops: more are not spent on pairs */
static const double LARGEST_VALUE = 1e100; /* of a kernel; linear ones: at q = 4 */
enum { VECTORS = 64 };                     /* n long, of solvers and what drives them */

/* ---- q ----------------------------------------------------------------------------------- */

fenp_kernel fenp_kernel_asked(const fen_options *o, const fen_kernel *table)
{
    const double p = fenp_exponent_of(o);
    return (fenp_kernel){ table, { 0.0, o->degree, o->coef0, p > 0.0 ? fenp_order_of(p) : 0.0 } };
}

/* Of the even orders around q the one whose p is nearest. */
static int64_t nearest_even(double p)
{
    const double q = p / (p - 1.0), below = fmax(2.0 * floor(0.5 * q), 2.0);
    const double above = below + 2.0;
    return (int64_t)(below / (below - 1.0) - p < p - above / (above - 1.0) ? below : above);
}

static fen_status check_even(const fen_options *o, double p, fen_error *err)
{
    char written[32], order[32], nearest[64] = "2";
    const int64_t even = nearest_even(p);
    if (fenp_kernel_of(o)->basis != FEN_TENSOR || fenp_even_order(p / (p - 1.0))) return FEN_OK;
    if (even > 2)
        snprintf(nearest, sizeof nearest, "%lld/%lld", (long long)even, (long long)(even - 1));
    const double q = p / (p - 1.0);
    const int digits = fabs(q - (double)even) < 1e-4; /* all of them: 1.333333 is not 4/3 */
    (digits ? fenp_print_double : fenp_print_short)(p, written);
    (digits ? fenp_print_double : fenp_print_short)(q, order);
    return fenp_fail(err, FEN_BAD_CALL,
                     "--kernel %s needs an even q = p/(p-1), which is %s for p = %s: p can be 2, "
                     "4/3, 6/5, 8/7 and so on, the nearest is --penalty lp:%s; any p goes "
                     "with --kernel linear",
                     o->kernel, order, written, nearest);
}

fen_status fenp_settle_lp(fen_options *o, const fen_loss *loss, fen_error *err)
{
    const double p = fenp_exponent_of(o);
    if (!(p > 0.0)) return FEN_OK;
    if (fenp_is_tube(loss))
        return fenp_fail(err, FEN_BAD_CALL,
                         "--loss tube does not go with --penalty %.64s; use --loss eps",
                         o->penalty);
    const fen_status status = check_even(o, p, err);
    if (status != FEN_OK) return status;
    const double q = fenp_order_of(p);
    o->power = fen_value(q == p / (p - 1.0) ? p : q / (q - 1.0));
    return FEN_OK;
}

/* ---- rows -------------------------------------------------------------------------------- */

/* sum_j |x_j / unit|^q */
static double row_sum(const double *x, int64_t p, double q, double unit)
{
    double sum = 0.0;
    for (int64_t j = 0; j < p; j++) sum += pow(fabs(x[j]) / unit, q);
    return sum;
}

static double largest_entry(const fenp_sample *s)
{
    double most = 0.0;
    for (int64_t k = 0; k < s->n * s->p; k++) most = fmax(most, fabs(s->x[k]));
    return most;
}

fen_status fenp_lp_gamma(const fenp_kernel *kernel, const fenp_sample *s, double *gamma,
                         fen_error *err)
{
    double most = 0.0;
    for (int64_t i = 0; i < s->n; i++)
        most = fmax(most, row_sum(s->x + i * s->p, s->p, kernel->par.order, 1.0));
    *gamma = most > 0.0 ? 1.0 / most : 1.0;
    if (isfinite(*gamma) && *gamma > 0.0) return FEN_OK;
    return fenp_fail(err, FEN_BAD_DATA,
                     "%.200s: no --gamma fits rows of this size: use --scale standard", s->title);
}

double fenp_lp_diagonal(const fenp_kernel *kernel, const fenp_sample *s)
{
    const double q = kernel->par.order, most = largest_entry(s);
    const double unit = kernel->table->linear && most > 0.0 ? most : 1.0;
    double mean = 0.0;
    for (int64_t i = 0; i < s->n; i++)
        mean +=
            s->w[i] * kernel->table->value(row_sum(s->x + i * s->p, s->p, q, unit), &kernel->par);
    return pow(mean, 2.0 / q) * unit * unit;
}

/* A linear kernel has q of any size: rows whose |x|_q^q overflows do no harm where |x|_q^4 does
 * not. */
static int overflows(const fenp_kernel *kernel, const fenp_sample *s, int64_t i)
{
    const double q = kernel->par.order, *x = s->x + i * s->p;
    double most = 0.0;
    if (kernel->table->basis == FEN_TENSOR)
        return !(kernel->table->value(row_sum(x, s->p, q, 1.0), &kernel->par) <= LARGEST_VALUE);
    for (int64_t j = 0; j < s->p; j++) most = fmax(most, fabs(x[j]));
    if (most == 0.0) return 0;
    const double norm = most * pow(row_sum(x, s->p, q, most), 1.0 / q);
    return !(pow(norm, fmin(q, 4.0)) <= LARGEST_VALUE);
}

/* "row 3", "rows 3, 17 and 5 more" */
static int64_t list_overflows(const fenp_kernel *kernel, const fenp_sample *s, char *out,
                              size_t room)
{
    enum { SHOWN = 3 };
    int64_t count = 0;
    size_t used = 0;
    out[0] = '\0';
    for (int64_t i = 0; i < s->n; i++) {
        if (!overflows(kernel, s, i)) continue;
        if (count++ < SHOWN && used < room)
            used += (size_t)snprintf(out + used, room - used, "%s%lld", used ? ", " : "",
                                     (long long)(i + 1));
    }
    if (count > SHOWN && used < room)
        snprintf(out + used, room - used, " and %lld more", (long long)(count - SHOWN));
    return count;
}

/* What would do: a smaller coef0 where no row is needed to overflow, another scaling than that of
 * o, a smaller gamma, a lower degree. */
static void advise(const fenp_kernel *kernel, const fenp_sample *s, const fen_options *o, char *out,
                   size_t room)
{
    const fen_kernel *table = kernel->table;
    const char *scale = strcmp(o->scale, "standard") == 0 ? "range" : "standard";
    const double power = table->uses_degree ? kernel->par.degree : 1.0;
    char number[32];
    double rule;
    if (table->uses_coef0 && !(table->value(0.0, &kernel->par) <= 0.01 * LARGEST_VALUE)) {
        fenp_print_short(pow(10.0, floor(log10(LARGEST_VALUE) / power) - 1.0), number);
        snprintf(out, room, "take a smaller --coef0, %s at most", number);
    } else if (table->uses_gamma && fenp_lp_gamma(kernel, s, &rule, NULL) == FEN_OK) {
        fenp_print_short(rule, number);
        snprintf(out, room, "take a smaller --gamma (auto is %s), or --scale %s", number, scale);
    } else
        snprintf(out, room, "use --scale %s%s", scale, power > 1.0 ? ", or a lower --degree" : "");
}

fen_status fenp_lp_rows_fit(const fenp_kernel *kernel, const fenp_sample *s, const fen_options *o,
                            fen_error *err)
{
    char rows[128], advice[96];
    const int64_t count = list_overflows(kernel, s, rows, sizeof rows);
    if (!count) return FEN_OK;
    advise(kernel, s, o, advice, sizeof advice);
    return fenp_fail(err, FEN_BAD_DATA, "%.200s: --kernel %s overflows in row%s %s%s: %s", s->title,
                     kernel->table->name, count > 1 ? "s" : "", rows,
                     s->dropped_missing + s->dropped_weightless ? " of those that are used" : "",
                     advice);
}

/* ---- the route --------------------------------------------------------------------------- */

static fenp_form_size form_size(const fenp_size *size, int64_t room)
{
    return (fenp_form_size){ size->n, size->p, size->kernel, room };
}

/* What is left of so many bytes when a solver has its matrices. */
static int64_t room_beside(const fenp_size *size, const fenp_route *route, int64_t left)
{
    const fenp_form_size form = form_size(size, left > 0 ? left : 1);
    const int64_t system = fenp_lp_system_bytes(&form, route);
    const int64_t vectors = VECTORS * fenp_arena_bytes(size->n);
    return system >= 0 && left - system > vectors ? left - system - vectors : 1;
}

int64_t fenp_lp_room(const fenp_size *size, int64_t left)
{
    const fenp_form_size form = form_size(size, 1);
    const int64_t room = room_beside(size, fenp_find_route(size->route), left);
    int64_t least = 1;
    fenp_least_route(size->route, &form, &least);
    return room > least ? room : least;
}

/* fenp_pick_route has one solve in mind: where there are many, what is done once counts less. */
const fenp_route *fenp_lp_route(const fenp_size *size, int64_t left, double solves, fen_error *err)
{
    const int automatic = strcmp(size->route, "auto") == 0;
    const fenp_route *best = NULL;
    double least = INFINITY;
    int64_t takes;
    for (int i = 0; fenp_routes[i]; i++) {
        const fenp_route *route = fenp_routes[i];
        if (!automatic && strcmp(route->name, size->route) != 0) continue;
        const fenp_form_size form = form_size(size, room_beside(size, route, left));
        const int64_t bytes = route->possible(&form) ? route->bytes(&form) : -1;
        if (bytes < 0 || bytes > form.room) continue;
        const double work = fenp_route_work(route, &form, solves);
        if (work < least) best = route, least = work;
    }
    const fenp_form_size form = form_size(size, 0);
    if (!best) best = fenp_least_route(size->route, &form, &takes);
    return best ? best : fenp_pick_route(size->route, &form, err); /* which says why not */
}

double fenp_lp_opening(const fenp_size *size)
{
    const fenp_form_size form = form_size(size, size->room);
    const fenp_route *route = fenp_is_lp(&size->kernel) ? fenp_find_route(size->route) : NULL;
    return route ? route->build(&form) : 0.0;
}

/* Multisets of k out of n. */
static double multisets(int64_t n, int64_t k)
{
    double count = 1.0;
    for (int64_t i = 1; i <= k; i++) count *= (double)(n + i - 1) / (double)i;
    return count;
}

double fenp_lp_certify_flops(const fenp_size *size)
{
    const double n = (double)size->n, p = (double)size->p;
    const double points = multisets(size->n, fenp_even_order(size->kernel.par.order) / 2);
    const double pairs = 0.5 * points * points * (2.0 * p + 20.0);
    if (size->kernel.table->linear) return 0.0;
    return fmin(40.0 * n * (double)fenp_feature_count(&size->kernel, size->p),
                fmin(pairs, MOST_CERTIFIED));
}

int64_t fenp_lp_blas_bytes(const fenp_size *size)
{
    enum { DEEP = 384, WIDE = 2048, OTHER = 1 << 21 }; /* a panel of OpenBLAS; of malloc */
    int64_t wide = size->n < WIDE ? size->n : WIDE;
    if (!fenp_is_lp(&size->kernel)) return 0;
    const int64_t count = fenp_feature_count(&size->kernel, size->p);
    if (strcmp(size->route, "packed") != 0 && count < wide) wide = count; /* a root */
    return OTHER + omp_get_max_threads() * DEEP * wide * (int64_t)sizeof(double);
}

/* The features of predictions (model/lp_scores.c); of a series without end so many degrees as they
 * take where gamma is our own, and there is room for. 0: there are too many. */
static int64_t predicting_features(const fenp_size *size)
{
    enum { MOST = 13, LEAST = 8 };
    const int64_t count = fenp_feature_count(&size->kernel, size->p);
    if (count <= FENP_MOST_FEATURES) return count;
    for (int64_t m = MOST; size->kernel.table->last(&size->kernel.par) < 0 && m >= LEAST; m--) {
        const int64_t some = fenp_multisets(size->p + 1, m);
        if (some <= FENP_MOST_FEATURES) return some;
    }
    return 0;
}

/* The search for the pivots of a model. */
static int64_t pivoting_bytes(const fenp_size *size)
{
    const fen_model of = { .kernel = size->kernel, .kept = size->n, .p = size->p };
    const int64_t bytes = fenp_search_bytes(size->n, size->p, fenp_half_order(&size->kernel),
                                            fenp_model_most_pivots(&of), 0);
    return bytes < 0 ? INT64_MAX / 4 : bytes;
}

int64_t fenp_lp_after_bytes(const fenp_size *size)
{
    if (!fenp_is_lp(&size->kernel) || size->kernel.table->linear) return 0;
    const int64_t count = predicting_features(size), weights = 8 * count * size->targets;
    const int64_t most = FENP_READY_MOST;
    const int64_t predicting = count > 0 ? fenp_feature_weights_bytes(count, size->n) + 8 * count +
                                               (weights < most ? weights : most)
                                         : pivoting_bytes(size);
    if (fenp_feature_count(&size->kernel, size->p) <= FENP_MOST_FEATURES) return predicting;
    return predicting + /* what predictions are compared with */
           fenp_forms_room(&size->kernel, size->n, size->p, size->targets, size->targets);
}

/* "8", "4.4 million" */
static void print_count(double count, char *out, size_t length)
{
    static const char *const words[] = { "", " thousand", " million", " billion" };
    int k = 0;
    for (; count >= (k ? 1e3 : 1e4) && k < 3; k++) count /= 1000.0;
    const int tenths = (int)(10.0 * count + 0.5);
    if (k && count < 100.0)
        snprintf(out, length, "%d.%d%s", tenths / 10, tenths % 10, words[k]);
    else
        snprintf(out, length, "%.0f%s", count, words[k]);
}

void fenp_lp_why(const fenp_size *size, char *out, size_t length)
{
    const fenp_route *route = fenp_find_route(size->route);
    const int64_t q = fenp_even_order(size->kernel.par.order);
    char count[48] = "";
    if (route == &fenp_route_features) {
        print_count((double)fenp_feature_count(&size->kernel, size->p), count, sizeof count);
        snprintf(out, length, "features: %s columns", count);
    } else if (route == &fenp_route_packed) {
        print_count(multisets(size->n, q), count, sizeof count);
        snprintf(out, length, "packed: %s distinct entries of the Gram tensor", count);
    } else {
        print_count(multisets(size->n, q / 2), count, sizeof count);
        snprintf(out, length, "low rank: the Gram matrix of %s products of %lld rows by its pivots",
                 count, (long long)(q / 2));
    }
}

/* ---- what it takes, and what would take less --------------------------------------------- */

int64_t fenp_lp_peak(const fenp_strategy *s, const fen_options *o, const fenp_size *size,
                     int64_t resident)
{
    const fenp_route *route = fenp_find_route(s->size.route);
    fenp_form_size form = form_size(&s->size, s->size.room);
    const fen_view x = size->rows ? fenp_sample_inputs(size->rows) : (fen_view){ 0 };
    double gammas[FEN_VALUES_MAX];
    const int known = size->rows && fenp_list_gammas(o, size->kernel.table, size->rows, s->gammas,
                                                     gammas, NULL) == FEN_OK;
    if (known) form.kernel.par.gamma = gammas[0];
    const int64_t usual = route->usual ? route->usual(&form, known ? &x : NULL) : -1;
    const int64_t spare = usual >= 0 ? route->bytes(&form) - usual : 0;
    const int64_t solving = s->bytes - (spare > 0 ? spare : 0);
    const int64_t peak = fenp_resident_with(solving > s->after ? solving : s->after, size);
    return peak - fenp_memory_resident() + resident;
}

/* What a route takes where memory is no concern, and the least with which it begins. */
static void route_peaks(const fen_options *o, const fenp_size *size, const fenp_route *route,
                        int64_t *usual, int64_t *least)
{
    fen_options other = *o;
    fenp_size asked = *size;
    fenp_strategy s;
    const fen_loss *loss = fenp_find_loss(o->loss);
    const int64_t resident = fenp_memory_resident(); /* before rows are looked at */
    *usual = *least = INT64_MAX;
    other.route = asked.route = route->name;
    other.memory_limit_bytes = INT64_MAX / 4;
    if (fenp_strategy_make(&other, size->kernel.table, loss, &asked, &s, NULL) == FEN_OK)
        *usual = fenp_lp_peak(&s, &other, &asked, resident);
    other.memory_limit_bytes = 1;
    if (fenp_strategy_make(&other, size->kernel.table, loss, &asked, &s, NULL) == FEN_OK)
        *least = fenp_resident_with(s.bytes, &asked) - fenp_memory_resident() + resident;
}

/* A little more than that: what is resident differs from run to run. */
static const char *enough(int64_t bytes, char text[FENP_BYTES_TEXT])
{
    const double some = 1.02 * (double)bytes, unit = pow(10.0, floor(log10(some)) - 2.0);
    return fenp_bytes_text((int64_t)(ceil(some / unit) * unit), text);
}

/* " (2.9 GB; packed, the kernel tensor of 1030 rows takes 378 GB)" */
static void advise_route(const fenp_strategy *s, const fen_options *o, const fenp_size *size,
                         const fenp_route *best, char *out, size_t length)
{
    const fenp_route *route = fenp_find_route(s->size.route);
    char one[FENP_BYTES_TEXT], two[FENP_BYTES_TEXT], three[FENP_BYTES_TEXT], takes[96] = "";
    const char *now = fenp_bytes_text(fenp_resident_with(s->bytes, size), one);
    int64_t usual, least;
    route_peaks(o, size, best, &usual, &least);
    if (usual <= fenp_memory_limit(o))
        snprintf(takes, sizeof takes, "%s",
                 best->usual ? fenp_bytes_text(usual, two) : enough(usual, two));
    else
        snprintf(takes, sizeof takes, "at least %s, better %s", enough(least, two),
                 fenp_bytes_text(usual, three));
    if (route == &fenp_route_packed)
        snprintf(out, length, " (%s; packed, the kernel tensor of %lld rows takes %s)", takes,
                 (long long)size->n, now);
    else
        snprintf(out, length, " (%s; %s takes %s)", takes, route->name, now);
}

/* For the route that takes least. */
static void advise_memory(const fen_options *o, const fenp_size *size, const fenp_route *route,
                          char *out, size_t length)
{
    const fenp_form_size form = form_size(size, 1);
    char one[FENP_BYTES_TEXT], two[FENP_BYTES_TEXT];
    int64_t usual, least;
    route_peaks(o, size, route, &usual, &least);
    snprintf(out, length,
             "; --route low-rank is the least, best with %s: the kernel tensor takes %s",
             fenp_bytes_text(usual, one), fenp_bytes_text(fenp_route_packed.bytes(&form), two));
}

void fenp_lp_advise(const fenp_strategy *s, const fen_options *o, const fenp_size *size,
                    int64_t rows, char *out, size_t length)
{
    const fenp_form_size form = form_size(&s->size, 1);
    const fenp_route *route = fenp_find_route(s->size.route);
    const int64_t resident = fenp_resident_with(0, size);
    char fewer[64] = "", other[160] = "", sizes[128], taken[FENP_BYTES_TEXT];
    int64_t least = 0;
    const fenp_route *best = fenp_least_route("auto", &form, &least);
    if (resident > fenp_memory_limit(o)) {
        snprintf(out, length, "raise --memory, as %s are taken before the fit begins",
                 fenp_bytes_text(resident, taken));
        return;
    }
    if (rows > 0)
        snprintf(fewer, sizeof fewer, ", or train on at most %lld of the %lld rows",
                 (long long)rows, (long long)size->n);
    if (best != route) {
        advise_route(s, o, size, best, sizes, sizeof sizes);
        snprintf(other, sizeof other, ", or use --route %s%s", best->name, sizes);
    } else if (route == &fenp_route_low_rank)
        advise_memory(o, size, route, other, sizeof other);
    snprintf(out, length, "raise --memory%s%s", fewer, other);
}
