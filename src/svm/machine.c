/* machine.c -- one function through the dual solver, in LIBSVM's units
 *
 *     LIBSVM: 1/2 ||f||^2 + sum C_i loss_i,  ours: lambda ||f||^2 + sum w_i loss_i
 *     S = sum C_i,  w_i = C_i / S,  lambda = 1 / (2 S):  ours is theirs divided by S, and the
 *     coefficients of the kernel expansion are u_i / (2 lambda) = S u_i, at most C_i
 *
 * nu types: C_i = 1 (nu-SVR: C), and the parameter of the loss is left free at the price nu;
 * nu-SVC is then divided by the margin (by what it is for large C, where it vanishes).
 * Accuracy: LIBSVM stops when the gradient of the dual is within its tolerance; a relative gap
 *   of a thousandth of that has the objective closer to the optimum than LIBSVM's.
 * Special cases: rows with C_i = 0 take no part, but have a decision value.
 */
#include <math.h>
#include <string.h>
#include "base/arena.h"
#include "base/error.h"
#include "base/registry.h"
#include "svm/parts.h"

static const double gap_of_tolerance = 1e-3, least_gap = 1e-13, most_gap = 1e-2;

/* ---- rows ---------------------------------------------------------------------------- */

/* Kernel values of the given rows; where the two of a pair differ, their mean. */
static void fill_given(const fenp_rows *r, const int64_t *rows, int64_t n, double *x)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) {
            const double a = fenp_rows_at(r, rows[i], fenp_svm_serial(r, rows[j]));
            const double b = fenp_rows_at(r, rows[j], fenp_svm_serial(r, rows[i]));
            x[i * n + j] = x[j * n + i] = 0.5 * (a + b);
        }
}

static fen_status make_sample(const fen_svm_data *data, const fenp_columns *columns,
                              const int64_t *rows, int64_t n, const double *y, int given,
                              fenp_sample **out, fen_error *err)
{
    const int64_t p = given ? n : columns->count;
    fen_status status = fenp_svm_room(n, p, "the training rows", err);
    if (status != FEN_OK) return status;
    fenp_sample *s = fenp_sample_new(n, p, 1);
    if (!s) return fenp_no_memory(err, fenp_bytes(n, p, 8), "the training rows");
    for (int64_t i = 0; i < n; i++) s->y[i] = y ? y[i] : data->label[rows[i]];
    if (given)
        fill_given(&data->rows, rows, n, s->x);
    else
        for (int64_t i = 0; i < n; i++)
            fenp_columns_fill(columns, &data->rows, rows[i], s->x + i * p);
    *out = s;
    return FEN_OK;
}

/* ---- the solver, with its sweeps counted --------------------------------------------- */

static fen_status counted_sweep(void *state, const fenp_problem *problem, fenp_solution *out,
                                const fenp_task *task, fen_error *err)
{
    fenp_machine *m = state;
    m->sweeps++;
    return m->solver->sweep(m->state, problem, out, task, err);
}

static fen_status counted_priced(void *state, const fenp_problem *problem, const fenp_price *price,
                                 fenp_solution *out, const fenp_task *task, fen_error *err)
{
    fenp_machine *m = state;
    m->sweeps++;
    return m->solver->priced(m->state, problem, price, out, task, err);
}

static int has_bias(const fenp_machine *m) { return m->o->type != FEN_SVM_ONE_CLASS; }

static const fen_loss *loss_of(fen_svm_type type)
{
    const int regression = type == FEN_SVM_EPSILON_SVR || type == FEN_SVM_NU_SVR;
    return fenp_find_loss(regression ? "eps" : "hinge");
}

static int is_free(fen_svm_type type)
{
    return type == FEN_SVM_NU_SVC || type == FEN_SVM_ONE_CLASS || type == FEN_SVM_NU_SVR;
}

static fenp_problem problem_of(const fenp_machine *m, double sum, const double *par)
{
    const double gap = m->o->tolerance * gap_of_tolerance;
    return (fenp_problem){ .sample = m->sample,
                           .loss = loss_of(m->o->type),
                           .par = par,
                           .kernel = m->kernel,
                           .lambda = 1.0 / (2.0 * sum),
                           .power = 2.0,
                           .bias = has_bias(m),
                           .gap = fmin(fmax(gap, least_gap), most_gap) };
}

static fen_status begin(fenp_machine *m, const fenp_task *task, fen_error *err)
{
    const int64_t n = m->sample->n, p = m->sample->p;
    const int linear = m->kernel.table->linear;
    const double room = m->o->cache_megabytes * 1048576.0, par = 1.0;
    const fenp_size size = { .n = n,
                             .p = p,
                             .targets = 1,
                             .bias = has_bias(m),
                             .power = 2.0,
                             .room = room < 9e18 ? (int64_t)room : INT64_MAX };
    m->solver = fenp_find_solver("block");
    const int64_t mine = fenp_arena_bytes(n) * 4 + fenp_arena_bytes(1) * 3 + fenp_arena_bytes(p);
    const int64_t theirs = m->solver->bytes(&size);
    if (theirs < 0) return fenp_no_memory(err, -1, "training");
    fen_status status = fenp_arena_open(&m->arena, mine + theirs, "training", err);
    if (status != FEN_OK) return status;
    m->box = fenp_arena_doubles(&m->arena, n);
    m->coef = fenp_arena_doubles(&m->arena, n);
    m->solution = (fenp_solution){ .dual = fenp_arena_doubles(&m->arena, n),
                                   .scale = fenp_arena_doubles(&m->arena, 1),
                                   .offset = fenp_arena_doubles(&m->arena, 1),
                                   .weights = linear ? fenp_arena_doubles(&m->arena, p) : NULL,
                                   .scores = fenp_arena_doubles(&m->arena, n),
                                   .gap = fenp_arena_doubles(&m->arena, 1) };
    for (int64_t i = 0; i < n; i++) m->box[i] = m->o->type == FEN_SVM_NU_SVR ? m->o->cost : 1.0;
    for (int64_t i = 0; i < n; i++) m->sample->w[i] = 1.0 / (double)n;
    const fenp_problem problem = problem_of(m, (double)n, &par);
    return m->solver->begin(&m->arena, &problem, &m->state, task, err);
}

fen_status fenp_machine_open(const fen_svm_data *data, const fenp_columns *columns,
                             const int64_t *rows, int64_t n, const double *y,
                             const fen_svm_options *o, fenp_machine *m, const fenp_task *task,
                             fen_error *err)
{
    *m = (fenp_machine){ .o = o };
    m->kernel = (fenp_kernel){ fenp_svm_kernel_table(o->kernel),
                               { fenp_svm_gamma(data, o), o->degree, o->coef0, 0.0 } };
    fen_status status =
        make_sample(data, columns, rows, n, y, o->kernel == FEN_SVM_PRECOMPUTED, &m->sample, err);
    return status == FEN_OK ? begin(m, task, err) : status;
}

void fenp_machine_close(fenp_machine *m)
{
    fenp_sample_free(m->sample);
    fenp_arena_close(&m->arena);
    *m = (fenp_machine){ 0 };
}

/* ---- solving ------------------------------------------------------------------------- */

/* nu as the rows in play allow it: a fold may have fewer rows of a class than the whole. */
static double feasible_nu(const fenp_machine *m)
{
    double plus = 0.0, minus = 0.0;
    if (m->o->type != FEN_SVM_NU_SVC) return m->o->nu;
    for (int64_t i = 0; i < m->sample->n; i++)
        *(m->sample->y[i] > 0.0 ? &plus : &minus) += m->sample->w[i];
    const double most = 2.0 * fmin(plus, minus) / (plus + minus);
    return fmin(m->o->nu, most);
}

/* coef in LIBSVM's units; what is at a bound but for rounding is put there. */
static void take_coefficients(fenp_machine *m)
{
    for (int64_t i = 0; i < m->sample->n; i++) {
        const double c = m->solution.scale[0] * m->solution.dual[i], box = m->box[i];
        m->coef[i] = fabs(c) >= box * (1.0 - 1e-12) ? copysign(box, c)
                     : fabs(c) <= box * 1e-12       ? 0.0
                                                    : c;
    }
}

/* The dual objective as LIBSVM writes it, and the counts. */
static void account(fenp_machine *m, double par)
{
    const fen_svm_type type = m->o->type;
    const double linear = type == FEN_SVM_C_SVC, tube = type == FEN_SVM_EPSILON_SVR ? par : 0.0;
    const int regression = type == FEN_SVM_EPSILON_SVR || type == FEN_SVM_NU_SVR;
    long double sum = 0.0L, size = 0.0L, boxes = 0.0L;
    fen_svm_news news = { .event = FEN_SVM_SOLVED, .type = type, .iterations = m->sweeps };
    double least = INFINITY, most = 0.0;
    for (int64_t i = 0; i < m->sample->n; i++) {
        const double c = m->coef[i];
        if (m->box[i] == 0.0) continue;
        sum += 0.5L * c * m->solution.scores[i] + (tube - linear) * fabs(c);
        if (regression) sum -= (long double)c * m->sample->y[i];
        size += fabs(c);
        boxes += m->box[i];
        least = fmin(least, m->box[i]), most = fmax(most, m->box[i]);
        news.support += c != 0.0;
        news.bounded += fabs(c) >= m->box[i];
    }
    news.objective = (double)sum;
    news.price = least == most ? (double)(size / boxes) : NAN;
    m->news = news;
}

/* nu-SVC: the margin becomes 1. */
static void divide_by_margin(fenp_machine *m, double margin)
{
    if (!(margin > 0.0)) return;
    for (int64_t i = 0; i < m->sample->n; i++) {
        m->coef[i] /= margin;
        m->solution.scores[i] /= margin;
    }
    m->rho /= margin;
    m->news.objective /= margin * margin;
    m->news.price = 1.0 / margin;
}

/* The answer for the boxes as they are; nu 0: *par is given, else found. */
static fen_status descend(fenp_machine *m, double nu, double *par, const fenp_task *task,
                          fen_error *err)
{
    const fenp_solver counted = {
        .name = "block", .iterative = 1, .sweep = counted_sweep, .priced = counted_priced
    };
    const int64_t n = m->sample->n;
    double sum = 0.0;
    int reached = 0;
    for (int64_t i = 0; i < n; i++) sum += m->box[i];
    for (int64_t i = 0; i < n; i++) m->sample->w[i] = m->box[i] / sum;
    memset(m->solution.dual, 0, (size_t)n * sizeof *m->solution.dual);
    m->solution.scale[0] = 0.0;
    const fenp_problem problem = problem_of(m, sum, par);
    fen_status status =
        fenp_descend(&counted, m, &problem, nu, par, &m->solution, &reached, task, err);
    if (status != FEN_OK) return status;
    take_coefficients(m);
    m->rho = m->o->type == FEN_SVM_ONE_CLASS ? *par : -m->solution.offset[0];
    account(m, *par);
    return FEN_OK;
}

/* nu-SVC of classes that overlap more than nu allows for: the margin vanishes, and the function
 * divided by it is the limit of C-SVC for large C. */
static fen_status solve_limit(fenp_machine *m, double unit, const fenp_task *task, fen_error *err)
{
    const double cost = 100.0 / unit;
    double par = 1.0;
    for (int64_t i = 0; i < m->sample->n; i++) m->box[i] *= cost;
    fen_status status = descend(m, 0.0, &par, task, err);
    for (int64_t i = 0; i < m->sample->n; i++) m->box[i] = m->box[i] > 0.0 ? 1.0 : 0.0;
    m->news.price = cost;
    return status;
}

fen_status fenp_machine_solve(fenp_machine *m, const fenp_task *task, fen_error *err)
{
    const fen_svm_type type = m->o->type;
    double par = type == FEN_SVM_EPSILON_SVR ? m->o->epsilon : 1.0;
    m->sweeps = 0;
    fen_status status = descend(m, is_free(type) ? feasible_nu(m) : 0.0, &par, task, err);
    if (status != FEN_OK) return status;
    if (type == FEN_SVM_NU_SVR) m->news.price = par;
    if (type == FEN_SVM_NU_SVC) {
        const fen_view x = fenp_sample_inputs(m->sample);
        const double unit = fabs(fenp_gram_mean_diagonal(&m->kernel, x, m->sample->w));
        if (par > 1e-8 * unit * (double)m->sample->n || !(unit > 0.0))
            divide_by_margin(m, par);
        else
            status = solve_limit(m, unit, task, err);
    }
    m->news.rho = m->rho;
    if (status == FEN_OK) fenp_svm_tell(m->o, m->news);
    return status;
}

double fenp_machine_decision(const fenp_machine *m, int64_t i)
{
    return m->solution.scores[i] - m->rho;
}
