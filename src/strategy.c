/* strategy.c -- how much is tried on how many rows, and what it takes
 *
 * Square loss: exact scores of every grid point on all rows while an eigendecomposition is
 * cheap; above that, gammas are narrowed on COARSE rows and the winner with its neighbours
 * scored on FINE rows. Other losses and penalty lp: refits, hence fewer points on fewer rows. One
 * final fit always uses everything. The route of penalty lp is settled here, for all steps. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "loss/traits.h"
#include "promise/loo.h"
#include "promise/refit.h"
#include "story_lp.h"

enum { SMALLEST = 300, COARSE = 2000, SMALL = 2500, FINE = 4000, ASKED = 8000 };
enum { REFIT_COARSE = 1000, REFIT_FINE = 2000, REFIT_ASKED = 4000 }; /* where scores take refits */
enum { AUTO_GAMMAS = 10, REFIT_GAMMAS = 7, FEW_SETTINGS = 8 };
static const double AUTO_POWERS[] = { 0.5, 1.0, 1.5, 2.0, 3.0 };

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

/* ---- grids ------------------------------------------------------------------------------- */

static int points(const fen_values *v, int automatic)
{
    return v->choice == FEN_AUTO ? automatic : v->choice == FEN_RULE ? 1 : v->count;
}

int fenp_list_powers(const fen_options *o, double *powers)
{
    const int automatic = sizeof AUTO_POWERS / sizeof *AUTO_POWERS;
    const int count = points(&o->power, automatic);
    memcpy(powers, o->power.choice == FEN_AUTO ? AUTO_POWERS : o->power.at,
           (size_t)count * sizeof *powers);
    return count;
}

fenp_size fenp_size_of(const fenp_sample *sample, const fen_options *o)
{
    double powers[FEN_VALUES_MAX], least;
    const int count = fenp_list_powers(o, powers);
    least = powers[0];
    for (int i = 1; i < count; i++) least = powers[i] < least ? powers[i] : least;
    for (int i = 0; i < count && least == 2.0; i++) least = powers[i];
    fenp_size size = { .n = sample->n,
                       .p = sample->p,
                       .targets = sample->targets,
                       .bias = o->bias,
                       .power = least,
                       .rows = sample };
    size.kernel = fenp_kernel_asked(o, fenp_find_kernel(o->kernel));
    if (fenp_is_lp(&size.kernel)) size.route = o->route;
    return size;
}

/* ---- scores ------------------------------------------------------------------------------ */

int64_t fenp_folds(const fen_options *o)
{
    return strncmp(o->select, "kfold:", 6) == 0 ? strtoll(o->select + 6, NULL, 10) : 0;
}

int fenp_scores_by_cholesky(const fenp_size *size, int64_t settings, int primal, int64_t folds)
{
    return size->power == 2.0 && settings <= FEW_SETTINGS && !primal && !folds;
}

int64_t fenp_scoring_bytes(const fenp_size *size, int64_t settings, int64_t folds, int primal)
{
    if (folds)
        return primal && fenp_kfold_is_primal(size->n, size->p, folds)
                   ? fenp_scores_kfold_primal_bytes(size, settings)
                   : fenp_scores_kfold_bytes(size, settings);
    if (fenp_scores_by_cholesky(size, settings, primal, folds))
        return fenp_scores_cholesky_bytes(size);
    const int64_t spectrum = fenp_spectrum_bytes(size, primal);
    return spectrum < 0 ? -1 : spectrum + fenp_scores_spectrum_bytes(size, settings, primal);
}

/* Each setting on each fold, from the solution of the one before. */
static double refit_flops(const fenp_strategy *s, const fenp_size *size, double rows, int64_t folds)
{
    fenp_size part = s->size;
    part.n = (int64_t)rows;
    const double refits = (double)(folds ? folds : part.n / 4 + 1) * s->lambdas * s->powers;
    const double once = fenp_lp_opening(&part);
    return once + 0.3 * refits * (double)size->targets * (s->solver->flops(&part) - once);
}

/* An eigendecomposition costs about 10 n^3 flops at the rate of a matrix product. */
static double scoring_flops(const fenp_strategy *s, const fenp_size *size, double rows,
                            int64_t folds, int primal)
{
    const double cube = rows * rows * rows, p = (double)size->p;
    const double settings = (double)s->lambdas * s->powers;
    if (s->refits) return refit_flops(s, size, rows, folds);
    if (primal && (!folds || fenp_kfold_is_primal((int64_t)rows, size->p, folds)))
        return (double)(folds ? folds : 1) *
               (4 * rows * p * p + 10 * p * p * p + 4 * rows * p * settings);
    if (fenp_scores_by_cholesky(size, s->lambdas * s->powers, primal, folds))
        return cube * settings;
    return 10 * cube * (double)(folds ? folds : 1) + 4 * rows * rows * settings;
}

/* One round over the gammas on a part of the rows. */
static int64_t round_bytes(const fenp_strategy *s, const fenp_size *size, int64_t rows,
                           int64_t folds, int primal)
{
    fenp_size part = *size;
    part.n = rows;
    if (fenp_is_lp(&size->kernel)) part.room = s->size.room;
    const int64_t held = size->targets * s->lambdas * s->powers * rows * (int64_t)sizeof(double);
    if (s->refits)
        return rows * size->p * (int64_t)sizeof(double) +
               fenp_gammas_at_once(rows, s->gammas) *
                   (held + fenp_scores_refit_bytes(s->solver, &part,
                                                   (int64_t)s->lambdas * s->powers, folds));
    const int64_t one =
        fenp_scoring_bytes(&part, (int64_t)s->lambdas * s->powers, folds, primal && size->p < rows);
    return one < 0 ? -1
                   : one * fenp_gammas_at_once(rows, s->gammas) +
                         (rows < size->n ? rows * size->p * (int64_t)sizeof(double) : 0);
}

/* Every output takes refits of its own, whose work grows with the cube of the rows. Nearly all
 * rows might as well be all. */
static int64_t shared(int64_t rows, const fenp_size *size)
{
    const int64_t share = (int64_t)((double)rows / cbrt((double)size->targets));
    if (share < size->n && share > size->n - size->n / 4) return size->n;
    return share < SMALLEST ? SMALLEST : share;
}

static fen_status plan_selection(const fen_options *o, const fenp_size *size, fenp_strategy *s,
                                 fen_error *err)
{
    const int64_t folds = fenp_folds(o);
    const int primal =
        s->solver->in_weights && (!folds || fenp_kfold_is_primal(size->n, size->p, folds));
    const int automatic = s->gammas > 1 && o->gamma.choice == FEN_AUTO;
    const int64_t most =
        s->refits ? shared(automatic ? REFIT_FINE : REFIT_ASKED, size) : (automatic ? FINE : ASKED);
    const int64_t coarse = s->refits ? shared(REFIT_COARSE, size) : COARSE;
    s->rows = primal || size->n < most ? size->n : most;
    s->widen = automatic;
    s->coarse_rows = automatic && size->n > (s->refits ? most : SMALL) ? coarse : 0;
    int64_t bytes = round_bytes(s, size, s->rows, folds, primal);
    while (s->rows > SMALLEST &&
           (bytes < 0 ||
            (bytes > s->bytes && fenp_resident_with(bytes, size) > fenp_memory_limit(o)))) {
        s->rows -= s->rows / 4; /* fewer rows rather than no selection */
        bytes = round_bytes(s, size, s->rows, folds, primal);
    }
    if (bytes < 0)
        return fenp_fail(err, FEN_MEMORY,
                         "%lld features are too many for scores of several lambdas: give one "
                         "with --lambda",
                         (long long)size->p);
    if (s->coarse_rows > s->rows) s->coarse_rows = s->rows;
    s->bytes = larger(s->bytes, bytes);
    if (s->coarse_rows)
        s->bytes = larger(s->bytes, round_bytes(s, size, s->coarse_rows, folds, primal));
    const int fine = s->coarse_rows ? FENP_NEIGHBOURS : s->gammas;
    s->flops += fine * scoring_flops(s, size, (double)s->rows, folds, primal);
    if (s->coarse_rows)
        s->flops += s->gammas * scoring_flops(s, size, (double)s->coarse_rows, folds, 0);
    return FEN_OK;
}

static int is_one_class(const fen_options *o) { return strcmp(o->task, "one-class") == 0; }

static fen_status check_counts(const fenp_size *size, fen_error *err)
{
    if (size->n <= INT_MAX && size->p <= INT_MAX && size->targets <= INT_MAX) return FEN_OK;
    return fenp_fail(err, FEN_BAD_DATA, "more rows or features than BLAS can count (%d)", INT_MAX);
}

/* Where constraints say all (tube) or lambda is but a unit of f (a parameter that earns nu),
 * there is nothing to choose. */
static void list_points(const fen_options *o, const fen_kernel *kernel, const fen_loss *loss,
                        int searching, fenp_strategy *s)
{
    const int only_a_unit = fenp_is_tube(loss) || (o->nu > 0 && loss->price < 0);
    const int gammas = s->refits ? REFIT_GAMMAS : AUTO_GAMMAS;
    const int many = searching && !is_one_class(o) && kernel->basis != FEN_TENSOR;
    s->gammas = kernel->uses_gamma ? points(&o->gamma, many ? gammas : 1) : 1;
    s->lambdas = points(&o->lambda, searching && !only_a_unit ? fenp_auto_lambdas(s) : 1);
}

double fenp_solving_flops(const fenp_strategy *s, const fen_options *o, const fenp_size *size)
{
    const int root = (o->nu > 0 && !s->solver->priced) || (size->power != 2.0 && !s->solver->lp);
    const double solves = root ? 4.0 : 1.0; /* the search for it */
    if (!s->solver->iterative) return s->solver->flops(&s->size);
    const double once = fenp_lp_opening(&s->size);
    return once + solves * (double)size->targets * (s->solver->flops(&s->size) - once);
}

/* Penalty lp: the route that all steps take, within what memory is left beside the certificate. */
static fen_status settle_route(const fen_options *o, fenp_size *size, fen_error *err)
{
    if (!fenp_is_lp(&size->kernel)) return FEN_OK;
    const int searching = strcmp(o->select, "none") != 0;
    const int lambdas = points(&o->lambda, searching ? FENP_AUTO_LAMBDAS_LP : 1);
    const int64_t folds = fenp_folds(o) ? fenp_folds(o) : size->n / 4 + 1;
    const double refits = lambdas > 1 ? 0.3 * (double)folds * lambdas : 0.0;
    const int64_t left = fenp_memory_limit(o) - fenp_resident_with(fenp_certify_bytes(size), size);
    fen_error why;
    const fenp_route *route =
        fenp_lp_route(size, left, (1.0 + refits) * (double)size->targets, &why);
    if (!route) return fenp_fail(err, why.status, "%s", why.message);
    size->route = route->name;
    return FEN_OK;
}

/* Several values ask for a score. */
static fen_status check_choices(const fen_options *o, const fenp_strategy *s, int searching,
                                fen_error *err)
{
    if (is_one_class(o) && (s->gammas > 1 || s->lambdas > 1))
        return fenp_fail(err, FEN_BAD_CALL,
                         "--task one-class has no score to choose by: give one gamma and lambda");
    if (!searching && (s->gammas > 1 || s->lambdas > 1 || s->powers > 1))
        return fenp_fail(err, FEN_BAD_CALL,
                         "--select none leaves several values of %s to choose from: "
                         "give one, or another --select",
                         s->gammas > 1    ? "gamma"
                         : s->lambdas > 1 ? "lambda"
                                          : "power");
    return FEN_OK;
}

fen_status fenp_strategy_make(const fen_options *o, const fen_kernel *kernel, const fen_loss *loss,
                              const fenp_size *asked, fenp_strategy *out, fen_error *err)
{
    fenp_size with_route = *asked;
    const fenp_size *size = &with_route;
    fen_status status = check_counts(size, err);
    if (status == FEN_OK) status = settle_route(o, &with_route, err);
    if (status != FEN_OK) return status;
    const fenp_solver *rescue = NULL,
                      *solver = fenp_pick_solver(o, kernel, loss, size, &rescue, err);
    if (!solver) return FEN_BAD_CALL;
    const int searching = strcmp(o->select, "none") != 0;
    double powers[FEN_VALUES_MAX];
    fenp_strategy s = { .solver = solver, .rescue = rescue, .why = solver->help };
    s.size = fenp_solver_size(solver, o, size);
    s.refits = !fenp_is_square(loss) || solver->lp;
    list_points(o, kernel, loss, searching, &s);
    s.powers = fenp_list_powers(o, powers);
    status = check_choices(o, &s, searching, err);
    if (status != FEN_OK) return status;
    s.bytes = fenp_solving_bytes(solver, &s.size);
    if (s.bytes >= 0) s.bytes += fenp_certify_bytes(size) + fenp_tangent_bytes(size);
    s.after = fenp_lp_after_bytes(size);
    if (s.bytes >= 0) s.bytes = larger(s.bytes, s.after);
    s.flops = fenp_solving_flops(&s, o, size);
    s.flops += solver->lp ? fenp_lp_certify_flops(size)
                          : 4.0 * (double)size->n * (double)size->n * (double)(size->p + 20);
    s.rows = size->n;
    if (s.bytes < 0)
        return fenp_fail(err, FEN_MEMORY, "%lld rows are too many for --engine %s",
                         (long long)size->n, solver->name);
    if (s.gammas > 1 || s.lambdas > 1 || s.powers > 1) status = plan_selection(o, size, &s, err);
    if (status == FEN_OK) *out = s;
    return status;
}

/* ---- does it fit? ------------------------------------------------------------------------ */

/* Fewer rows than there are that the solver and the certificate leave room for. */
static int64_t rows_that_fit(const fenp_strategy *s, const fenp_size *size, int64_t limit)
{
    int64_t low = 0, high = size->n;
    while (low + 1 < high) {
        fenp_size part = *size, asked = s->size;
        part.n = asked.n = low + (high - low) / 2;
        if (s->solver->iterative) asked.room = 1; /* the least that will do */
        const int64_t beside = fenp_certify_bytes(&part) + fenp_tangent_bytes(&part);
        if (s->solver->lp)
            asked.room = fenp_lp_room(&asked, limit - fenp_resident_with(beside, &part));
        const int64_t bytes = fenp_solving_bytes(s->solver, &asked);
        const int64_t most = larger(bytes + beside, fenp_lp_after_bytes(&part));
        if (bytes >= 0 && fenp_resident_with(most, &part) <= limit)
            low = part.n;
        else
            high = part.n;
    }
    return low;
}

void fenp_advise(const fenp_strategy *s, const fen_options *o, const fenp_size *size, char *out,
                 size_t room)
{
    const int64_t rows = rows_that_fit(s, size, fenp_memory_limit(o)) / 100 * 100;
    if (s->solver->lp)
        fenp_lp_advise(s, o, size, rows, out, room);
    else if (rows < 100 || s->solver->in_weights)
        snprintf(out, room, "raise --memory");
    else
        snprintf(out, room,
                 "train on at most %lld of the %lld rows, take --kernel linear, "
                 "or raise --memory",
                 (long long)rows, (long long)size->n);
}

fen_status fenp_memory_fits(const fen_options *o, int64_t bytes, const char *advice, fen_error *err)
{
    const int64_t limit = fenp_memory_limit(o), resident = fenp_memory_resident();
    if (bytes >= 0 && bytes <= limit - resident) return FEN_OK;
    return fenp_fail(err, FEN_MEMORY, "this fit needs %lld MB and %lld MB may be used: %s",
                     (long long)((resident + bytes + 999999) / 1000000),
                     (long long)(limit / 1000000), advice);
}

fen_status fenp_strategy_fits(const fenp_strategy *s, const fen_options *o, const fenp_size *size,
                              fen_error *err)
{
    const int64_t limit = fenp_memory_limit(o), peak = fenp_resident_with(s->bytes, size);
    char advice[200] = "";
    if (peak > limit) fenp_advise(s, o, size, advice, sizeof advice);
    return fenp_memory_fits(o, peak - fenp_memory_resident(), advice, err);
}
