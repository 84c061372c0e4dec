/* lp.c -- see lp.h: the problem of a sweep, its start, its gap
 *
 * Start. D(t u) = - sum w v*(-t z) - lambda (p-1) t^q T(s u) is concave in t: its best t in
 * (0, 1] by golden section over log t, for the dual vector given and for the slopes at the best
 * constant; the better of the two. T may leave the range of doubles where its root does not
 * (q = 101): it is looked at where it does not, and scaled as t^q.
 * Gap. u is cut into the domain of the conjugate and shifted to sum u = 0 by what rounding left
 * to be done; b is the best one for om.
 * Doubt. om of a low rank is too small by about what its last columns have in it. A gap goes with
 * the square of an error in om where the loss is smooth, else with the error itself.
 * Cost. A hundred passes over the rows at the start, one or two for a gap. */
#include "loss/traits.h"
#include "solver/lp.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/linalg.h"
#include "tensor/duality.h"

enum { VECTORS = 9, HALVINGS = 60 };
static const double LEAST_PART = 1e-250; /* of u, that a start may take */
static const double HALF = 0.5;          /* a gap of nearly nothing proved */
static const double FAR = 1e3;           /* in T, which a step divides by 3 to 5 */
static const double CONVERGED = 0.5;     /* of the doubt: then it is the form that needs work */
static const double AIM = 0.3;           /* of the goal: doubt after growing */
static const double LEAST_GROWTH = 0.5, MOST_GROWTH = 0.02; /* parts that a growing form leaves */

/* ---- sizes ------------------------------------------------------------------------------- */

static fenp_form_size form_size(const fenp_size *size)
{
    return (fenp_form_size){ size->n, size->p, size->kernel, size->room };
}

int fenp_lp_accepts(const fen_loss *loss, const fen_kernel *kernel, const fenp_size *size)
{
    (void)kernel;
    return fenp_is_lp(&size->kernel) && !fenp_is_tube(loss);
}

static int64_t vector_bytes(int64_t n) { return (VECTORS + 1) * fenp_arena_bytes(n); }

int64_t fenp_lp_bytes(const fenp_size *size)
{
    const fenp_form_size of = form_size(size);
    const fenp_route *route = fenp_pick_route(size->route, &of, NULL);
    const int64_t form = route ? route->bytes(&of) : -1;
    const int64_t system = route ? fenp_lp_system_bytes(&of, route) : -1;
    if (form < 0 || system < 0 || form > INT64_MAX / 4 || system > INT64_MAX / 4) return -1;
    return form + system + vector_bytes(size->n);
}

double fenp_lp_flops(const fenp_size *size, double steps)
{
    const fenp_form_size of = form_size(size);
    const fenp_route *route = fenp_pick_route(size->route, &of, NULL);
    if (!route) return INFINITY;
    return route->build(&of) + steps * (route->step(&of) + fenp_lp_system_flops(&of, route));
}

fen_status fenp_lp_begin(fenp_arena *arena, const fenp_problem *problem, fenp_lp *out,
                         const fenp_task *task, fen_error *err)
{
    const fenp_sample *sample = problem->sample;
    const int64_t n = sample->n;
    const int64_t room = arena->size - arena->used - vector_bytes(n);
    fenp_form_size of = { n, sample->p, problem->kernel, room > 0 ? room : 1 };
    fenp_lp s = { .n = n, .p = sample->p, .order = problem->kernel.par.order };
    const fenp_route *route = fenp_pick_route(problem->route, &of, err);
    if (!route) return err && err->status != FEN_OK ? err->status : FEN_BAD_CALL;
    double **vectors[VECTORS] = { &s.y,     &s.zeros,  &s.a,       &s.om, &s.u,
                                  &s.other, &s.best_a, &s.best_om, NULL };
    for (int k = 0; vectors[k]; k++) *vectors[k] = fenp_arena_doubles(arena, n);
    s.row = (int64_t *)(void *)fenp_arena_doubles(arena, n);
    of.room -= fenp_lp_system_bytes(&of, route); /* which comes after the form */
    const fen_status status =
        route->open(arena, &of, fenp_sample_inputs(sample), &s.form, task, err);
    if (status == FEN_OK) *out = s;
    return status;
}

/* ---- where we are ------------------------------------------------------------------------- */

void fenp_lp_look(fenp_lp *s) { s->value = s->form.route->scores(&s->form, s->a, s->om); }

static void keep(fenp_lp *s)
{
    const size_t size = (size_t)s->n * sizeof(double);
    memcpy(s->best_a, s->a, size);
    memcpy(s->best_om, s->om, size);
    s->best_b = s->b, s->best_gap = s->gap, s->best_value = s->value;
}

void fenp_lp_judge(fenp_lp *s)
{
    for (int64_t i = 0; i < s->n; i++) s->u[i] = s->a[i] / s->scale;
    fenp_target_feasible(&s->q, s->u);
    s->b = fenp_target_offset(&s->q, s->om, s->b);
    const double gap = fenp_target_mismatch(&s->q, s->om, s->b, s->u);
    s->excess = s->scale * gap;
    s->gap =
        s->value < INFINITY ? fenp_target_relative(&s->q, s->om, s->b, s->value, gap) : INFINITY;
    if (isnan(s->gap)) s->gap = INFINITY;
    if (s->gap < s->best_gap) keep(s);
}

/* ---- a form that is near enough ----------------------------------------------------------- */

double fenp_lp_doubt(fenp_lp *s)
{
    if (!s->form.more) return 0.0;
    const double more = s->form.route->tail(&s->form, s->a, s->other);
    for (int64_t i = 0; i < s->n; i++) s->other[i] += s->om[i];
    const double b = fenp_target_offset(&s->q, s->other, s->b);
    const double gap = fenp_target_mismatch(&s->q, s->other, b, s->u);
    return fenp_target_relative(&s->q, s->other, b, s->value + more, gap);
}

fen_status fenp_lp_grow(fenp_lp *s, double goal, int *grown, const fenp_task *task, fen_error *err)
{
    const double doubt = fenp_lp_doubt(s);
    *grown = 0;
    if (!(doubt > goal) || !(s->gap < INFINITY) || s->gap > fmax(goal, CONVERGED * doubt))
        return FEN_OK;
    const double less = AIM * goal / doubt;
    const double part = s->q.loss->smoothness > 0.0 ? sqrt(less) : less;
    const fen_status status =
        s->form.route->grow(&s->form, fmin(fmax(part, MOST_GROWTH), LEAST_GROWTH), task, err);
    if (status != FEN_OK) return status;
    *grown = 1;
    s->best_gap = INFINITY; /* of another form */
    fenp_lp_look(s);
    fenp_lp_judge(s);
    return FEN_OK;
}

/* ---- the answer --------------------------------------------------------------------------- */

void fenp_lp_leave(fenp_lp *s, fenp_solution *out)
{
    const size_t size = (size_t)s->n * sizeof(double);
    for (int64_t i = 0; i < s->n; i++) s->u[i] = s->best_a[i] / s->scale;
    fenp_target_feasible(&s->q, s->u);
    memcpy(out->dual, s->u, size);
    if (out->scores) memcpy(out->scores, s->best_om, size);
    out->scale[0] = s->scale;
    out->offset[0] = s->best_b + s->q.base;
    if (out->gap) out->gap[0] = s->best_gap;
    if (!out->weights) return;
    const fen_view x = s->form.x;
    for (int64_t i = 0; i < s->n; i++) s->a[i] = s->scale * s->u[i];
    cblas_dgemv(CblasRowMajor, CblasTrans, (int)x.rows, (int)x.cols, 1.0, x.at, (int)x.stride, s->a,
                1, 0.0, out->weights, 1);
    fenp_dual_map(out->weights, s->p, s->order);
}

/* ---- the start ---------------------------------------------------------------------------- */

typedef struct ray {
    const fenp_lp *s;
    const double *u;  /* feasible       */
    double log_value; /* log of T(s u)  */
} ray;

/* D(t u), t = exp(log_part) */
static double dual_at(const ray *r, double log_part)
{
    const fenp_target *q = &r->s->q;
    const double t = exp(log_part), p = r->s->order / (r->s->order - 1.0);
    long double sum = 0.0L;
    for (int64_t i = 0; i < q->n; i++)
        if (q->w[i] > 0.0)
            sum -= (long double)q->w[i] * q->loss->conj(q->y[i], -t * r->u[i] / q->w[i], q->par);
    return (double)sum - q->lambda * (p - 1.0) * exp(r->s->order * log_part + r->log_value);
}

/* log of the best part, and D there. */
static double best_part(const ray *r, double *dual)
{
    const double golden = 0.5 * (sqrt(5.0) - 1.0);
    double from = log(LEAST_PART), to = 0.0;
    double one = to - golden * (to - from), two = from + golden * (to - from);
    double at_one = dual_at(r, one), at_two = dual_at(r, two);
    for (int step = 0; step < HALVINGS; step++) {
        if (at_one > at_two) {
            to = two, two = one, at_two = at_one;
            one = to - golden * (to - from), at_one = dual_at(r, one);
        } else {
            from = one, one = two, at_one = at_two;
            two = from + golden * (to - from), at_two = dual_at(r, two);
        }
    }
    *dual = dual_at(r, 0.5 * (from + to));
    return 0.5 * (from + to);
}

/* a, om and value <- those of factor u, at a factor where T is a number: log of the factor. With
 * q = 1001 it is infinite on one side of a narrow range and 0 on the other. NaN: T is 0. */
static double find_range(fenp_lp *s, const double *u)
{
    double low = -INFINITY, high = INFINITY, at = log(s->scale);
    while (fabs(at) < 700.0) {
        for (int64_t i = 0; i < s->n; i++) s->a[i] = exp(at) * u[i];
        fenp_lp_look(s);
        if (s->value > 1e-200 && s->value < 1e200) return at;
        *(s->value < 1.0 ? &low : &high) = at;
        const double next = 0.5 * (low + high);
        if (isfinite(next) && !(low < next && next < high)) break;
        at = isfinite(next) ? next : s->value < 1.0 ? at + 2.0 : at - 2.0;
    }
    return NAN;
}

/* a, om and value <- those of part s u, with the best part; D there. u is feasible. */
static double start_along(fenp_lp *s, const double *u)
{
    double dual, range = find_range(s, u);
    if (isnan(range)) { /* Phi'u = 0: nothing in the features answers to u */
        range = log(s->scale);
        for (int64_t i = 0; i < s->n; i++) s->a[i] = s->scale * u[i];
        memset(s->om, 0, (size_t)s->n * sizeof(double));
        s->value = 0.0;
    }
    const ray r = { s, u, log(s->value) + s->order * (log(s->scale) - range) };
    const double part = best_part(&r, &dual), more = exp(part + log(s->scale) - range);
    const double powers = pow(more, s->order - 1.0);
    for (int64_t i = 0; i < s->n; i++) s->a[i] *= more, s->om[i] *= powers;
    s->value *= powers * more;
    return s->value < INFINITY ? dual : -INFINITY;
}

/* The side of u that weighs more is scaled down: 0 is in every domain, and all of it may be at
 * its ends. */
static void balance(fenp_lp *s)
{
    long double plus = 0.0L, minus = 0.0L;
    for (int64_t i = 0; i < s->n; i++) *(s->u[i] > 0.0 ? &plus : &minus) += fabs(s->u[i]);
    const double up = plus > minus ? (double)(minus / plus) : 1.0;
    const double down = minus > plus ? (double)(plus / minus) : 1.0;
    for (int64_t i = 0; i < s->n; i++) s->u[i] *= s->u[i] > 0.0 ? up : down;
}

static void list_slopes(fenp_lp *s)
{
    const fenp_target *q = &s->q;
    for (int64_t i = 0; i < s->n; i++) {
        double low = 0.0, high = 0.0;
        if (q->w[i] > 0.0) q->loss->slopes(q->y[i], q->constant, q->par, &low, &high);
        s->u[i] = -q->w[i] * 0.5 * (low + high);
    }
}

static int is_zero(const double *v, int64_t n)
{
    int64_t i = 0;
    while (i < n && v[i] == 0.0) i++;
    return i == n;
}

/* u <- minus the slopes at the best constant, feasible */
static void slopes_at_constant(fenp_lp *s)
{
    list_slopes(s);
    fenp_target_feasible(&s->q, s->u);
    if (!is_zero(s->u, s->n)) return;
    list_slopes(s);
    balance(s);
    fenp_target_feasible(&s->q, s->u);
}

/* Rows of positive weight. */
static void list_rows(fenp_lp *s)
{
    s->m = 0;
    for (int64_t i = 0; i < s->n; i++)
        if (s->q.w[i] > 0.0) s->row[s->m++] = i;
}

static void start_at_zero(fenp_lp *s)
{
    memset(s->a, 0, (size_t)s->n * sizeof(double));
    memset(s->om, 0, (size_t)s->n * sizeof(double));
    s->value = 0.0;
}

/* The better of two starts; 0: neither is one. A dual vector of another lambda may be nearly the
 * best and yet have a T that takes dozens of steps to come down: a = s u, and s is large. */
static int start(fenp_lp *s, const double *dual)
{
    const size_t size = (size_t)s->n * sizeof(double);
    double warm = -INFINITY, cold = -INFINITY;
    memcpy(s->u, dual, size);
    fenp_target_feasible(&s->q, s->u);
    if (!is_zero(s->u, s->n)) warm = start_along(s, s->u);
    fenp_lp_judge(s);
    keep(s);
    slopes_at_constant(s);
    if (!is_zero(s->u, s->n)) cold = start_along(s, s->u);
    const int far = !(s->best_gap < HALF) && s->best_value > FAR * s->value;
    if (cold > warm || (cold > -INFINITY && far)) return 1;
    memcpy(s->a, s->best_a, size);
    memcpy(s->om, s->best_om, size);
    s->value = s->best_value;
    return warm > -INFINITY;
}

int fenp_lp_set(fenp_lp *s, const fenp_problem *problem, const double *dual)
{
    s->q = fenp_target_of(problem, s->y, s->zeros);
    s->scale = 1.0 / (problem->lambda * problem->power);
    s->b = s->q.constant;
    s->best_gap = INFINITY;
    list_rows(s);
    start_at_zero(s);
    fenp_lp_judge(s);
    if (s->q.trivial) return 0;
    const int found = start(s, dual);
    if (!found) start_at_zero(s);
    s->best_gap = INFINITY; /* of a = 0: nothing to come back to */
    fenp_lp_judge(s);
    return found;
}

/* Both methods begin their states with what they share. */
int64_t fenp_lp_steps(const void *state) { return ((const fenp_lp *)state)->steps; }

int fenp_lp_is_capped(const void *state) { return ((const fenp_lp *)state)->form.capped; }
