/* block_dual.c -- any loss whose conjugate is piecewise quadratic: block ascent on the dual
 *
 *     minimise over c   1/2 c'Kc + sum_i [ d_i/2 c_i^2 - a_i c_i + kink_i |c_i| ],
 *     low_i <= c_i <= high_i,  with bias: sum c = 0
 *
 * which is the dual of section 5 of the mathematics page in c = u/(2 lambda): with the piece
 * of the loss, d = 2 lambda curvature/w, a = linear, [low, high] = w [low, high]/(2 lambda).
 *
 * Method. The free and the worst variables, a few thousand, make a block. Its kernel values
 * are held in single precision; it is improved two variables at a time (smo.h) and, where that
 * becomes slow, by Newton steps for its free variables (face.h). What it has changed is then
 * carried over to the scores of all rows by one product in double precision, in tiles that
 * are never stored: rounding errors of the block are seen and mended by the next one. All
 * that is outside a block is left alone until the next choice: that is the shrinking, and
 * nothing has to be undone.
 * Special cases. Rows of weight 0 have low = high = 0. K need not be definite: then the answer
 * is a stationary point. Zero is feasible for every loss.
 * Up to WHOLE rows all of K is held in double precision as well, and what blocks have begun
 * is finished by an active set (pivot.h).
 * Accuracy. Down to the relative gap asked for; blocks that change nothing end it.
 * Cost. n p flops per variable moved and block; 12 BLOCK^2 bytes and a few vectors, up to WHOLE
 * rows 8 n^2 more. Where a kernel value costs more than reading it, rows of the matrix are
 * kept while there is room (rows.h). */
#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/threads.h"
#include "solver/block_parts.h"

enum { BLOCK = 4096, LEAST_BLOCK = 1024 };
enum { WHOLE = 2500 }; /* rows up to which all values are held, and pivots finish what is begun */
enum { QP_ARRAYS = 7, NEWTON_STEPS = 2, EASY_PASSES = 3 };

typedef fenp_block state;

static int accepts(const fen_loss *loss, const fen_kernel *kernel, const fenp_size *size)
{
    (void)kernel;
    return loss->piece != NULL && size->power >= 1.0;
}

/* ---- memory ------------------------------------------------------------------------------- */

static int64_t whole_lanes(int64_t n) { return (n + 7) / 8 * 8; }
static int64_t block_room(int64_t n) { return whole_lanes(n < BLOCK ? n : BLOCK); }

static int64_t qp_bytes(int64_t n) { return QP_ARRAYS * fenp_arena_bytes(n); }

static void qp_open(fenp_arena *arena, int64_t n, fenp_qp *q)
{
    double **const arrays[QP_ARRAYS] = {
        &q->b, &q->g, &q->stiff, &q->d, &q->kink, &q->low, &q->high
    };
    for (int k = 0; k < QP_ARRAYS; k++) *arrays[k] = fenp_arena_doubles(arena, n);
}

static int64_t bytes(const fenp_size *size)
{
    const int64_t n = size->n, room = block_room(n);
    const int64_t own = qp_bytes(n) + qp_bytes(room) + 7 * fenp_arena_bytes(n) +
                        (n <= WHOLE ? fenp_arena_bytes(n * n) : 0) + 7 * fenp_arena_bytes(room) +
                        fenp_arena_bytes(room * room) + fenp_arena_bytes(7 * room) +
                        (int64_t)sizeof(state) + 64;
    const int64_t left = size->room > own ? size->room - own : 1;
    const int64_t values = fenp_values_bytes(n, size->p, room, size->room > 0 ? left : 0);
    return values < 0 ? -1 : own + values;
}

/* Some ten blocks, and every row against a few thousand others as often. */
static double flops(const fenp_size *size)
{
    const double n = (double)size->n, room = (double)block_room(size->n);
    return 10.0 * (n + room) * room * ((double)size->p + 20.0) * (double)size->targets;
}

static fen_status begin(fenp_arena *arena, const fenp_problem *problem, void **out,
                        const fenp_task *task, fen_error *err)
{
    const fenp_sample *sample = problem->sample;
    const int64_t n = sample->n, room = block_room(n);
    state *s = (state *)fenp_arena_doubles(arena, (int64_t)(sizeof *s + 7) / 8);
    *s = (state){ .room = room };
    qp_open(arena, n, &s->all);
    qp_open(arena, room, &s->block);
    s->who = (int64_t *)fenp_arena_doubles(arena, room);
    s->mover = (int64_t *)fenp_arena_doubles(arena, room);
    s->before = fenp_arena_doubles(arena, room);
    s->coef = fenp_arena_doubles(arena, room);
    s->work = fenp_arena_doubles(arena, 2 * room);
    s->face.who = (int64_t *)fenp_arena_doubles(arena, room);
    s->face.factor = fenp_arena_doubles(arena, room * room);
    s->face.work = fenp_arena_doubles(arena, 7 * room);
    s->f = fenp_arena_doubles(arena, n);
    s->change = fenp_arena_doubles(arena, n);
    s->last = fenp_arena_doubles(arena, n);
    s->diag = fenp_arena_doubles(arena, n);
    s->linear = fenp_arena_doubles(arena, n);
    s->whole = n <= WHOLE ? fenp_arena_doubles(arena, n * n) : NULL;
    s->rank = fenp_arena_doubles(arena, 2 * n);
    memset(s->f, 0, (size_t)n * sizeof(double));
    memset(s->last, 0, (size_t)n * sizeof(double));
    s->lambda = 1.0;
    fenp_gram_diagonal(&problem->kernel, fenp_sample_inputs(sample), s->diag);
    s->values = fenp_values_open(arena, &problem->kernel, sample, room); /* all that is left */
    *out = s;
    return fenp_task_at(task, 0.0, err);
}

/* f of the c in all.b from nothing. */
static fen_status scores_of(state *s, fen_error *err)
{
    const int64_t n = s->all.n;
    fen_status status = FEN_OK;
    memset(s->f, 0, (size_t)n * sizeof(double));
    for (int64_t i = 0; i < n && status == FEN_OK;) {
        int64_t count = 0;
        for (; i < n && count < s->room; i++)
            if (s->all.b[i] != 0.0) s->mover[count] = i, s->coef[count++] = s->all.b[i];
        if (count > 0)
            status = fenp_values_times(&s->values, s->mover, s->coef, count, s->change, err);
        for (int64_t j = 0; count > 0 && j < n; j++) s->f[j] += s->change[j];
    }
    return status;
}

/* ---- a block ------------------------------------------------------------------------------ */

/* The k-th largest of n numbers, which are put into another order. */
static double kth_largest(double *a, int64_t n, int64_t k)
{
    int64_t low = 0, high = n - 1;
    while (low < high) {
        const double pivot = a[low + (high - low) / 2];
        int64_t i = low, j = high;
        while (i <= j) {
            while (a[i] > pivot) i++;
            while (a[j] < pivot) j--;
            if (i <= j) {
                const double t = a[i];
                a[i++] = a[j], a[j--] = t;
            }
        }
        if (k <= j)
            high = j;
        else if (k >= i)
            low = i;
        else
            break;
    }
    return a[k];
}

/* The variables that are worst off against the middle of what b may be; returns how many. */
static int64_t choose(state *s)
{
    const fenp_qp *q = &s->all;
    if (q->n <= WHOLE) {
        for (int64_t i = 0; i < q->n; i++) s->who[i] = i;
        return q->n;
    }
    double *off = s->rank, *copy = s->rank + q->n, rise = -INFINITY, fall = INFINITY;
    for (int64_t i = 0; q->balanced && i < q->n; i++) {
        rise = fmax(rise, fenp_qp_rise(q, i));
        fall = fmin(fall, fenp_qp_fall(q, i));
    }
    const double middle = q->balanced ? 0.5 * (rise + fall) : 0.0;
    int64_t count = 0, wanted = 0;
    for (int64_t i = 0; i < q->n; i++) {
        copy[i] = off[i] = q->low[i] < q->high[i]
                               ? fmax(fenp_qp_rise(q, i) - middle, middle - fenp_qp_fall(q, i))
                               : -INFINITY;
        wanted += off[i] >= 0.0; /* free, or badly off */
    }
    wanted += wanted / 3; /* and who may be next */
    if (wanted < LEAST_BLOCK) wanted = LEAST_BLOCK;
    if (wanted > s->room) wanted = s->room;
    if (wanted > q->n) wanted = q->n;
    const double edge = kth_largest(copy, q->n, wanted - 1);
    for (int64_t i = 0; i < q->n && count < wanted; i++)
        if (off[i] >= edge && off[i] > -INFINITY) s->who[count++] = i;
    return count;
}

/* The block's own program; places beyond count are filled with what cannot move. */
static void fill_block(state *s, int64_t count)
{
    const fenp_qp *from = &s->all;
    fenp_qp *to = &s->block;
    to->balanced = from->balanced;
    to->n = whole_lanes(count);
    for (int64_t k = 0; k < to->n; k++) {
        const int64_t i = s->who[k < count ? k : 0];
        const int real = k < count;
        to->b[k] = s->before[k] = real ? from->b[i] : 0.0;
        to->g[k] = from->g[i], to->stiff[k] = from->stiff[i], to->d[k] = from->d[i];
        to->kink[k] = from->kink[i];
        to->low[k] = real ? from->low[i] : 0.0, to->high[k] = real ? from->high[i] : 0.0;
    }
}

/* Pairs while they are quick, then Newton steps. */
static fen_status improve_block(state *s, double goal, fen_error *err)
{
    const fenp_qp *q = &s->block;
    fen_status status = FEN_OK;
    /* where a new block costs nothing Newton steps come soon, else pairs are worked off first */
    const int64_t pairs = s->all.n <= WHOLE ? q->n * q->n / 600 + 100 : 32 * q->n;
    s->slow = fenp_smo(q, s->values.k, q->n, goal, pairs, s->work) == pairs;
    int moved = s->all.n <= WHOLE ? !s->pivoting : s->passes >= EASY_PASSES;
    for (int step = 0; step < NEWTON_STEPS && moved && status == FEN_OK; step++) {
        if (fenp_qp_violation(q) <= goal) break;
        status = fenp_face_step(q, s->values.k, q->n, &s->face, &moved, err);
    }
    return status;
}

/* The moves of the block into b, f and g of all rows; *moved: there are some. */
static fen_status carry_over(state *s, int64_t count, int *moved, fen_error *err)
{
    fenp_qp *q = &s->all;
    int64_t changed = 0;
    for (int64_t k = 0; k < count; k++) {
        const int64_t i = s->who[k];
        const double move = s->block.b[k] - s->before[k];
        if (move == 0.0) continue;
        q->b[i] = s->block.b[k];
        q->g[i] += q->d[i] * move;
        s->mover[changed] = i, s->coef[changed++] = move;
    }
    *moved = changed > 0;
    if (!changed) return FEN_OK;
    const fen_status status =
        fenp_values_times(&s->values, s->mover, s->coef, changed, s->change, err);
    for (int64_t i = 0; status == FEN_OK && i < q->n; i++) {
        s->f[i] += s->change[i];
        q->g[i] += s->change[i];
    }
    return status;
}

/* ---- small problems ------------------------------------------------------------------------- */

fen_status fenp_block_whole(state *s, const fenp_problem *problem, const fenp_task *task,
                            fen_error *err)
{
    const int64_t n = s->all.n;
    if (s->whole_made) return FEN_OK;
    const fen_status status =
        fenp_gram_upper(&problem->kernel, fenp_sample_inputs(problem->sample), s->whole, task, err);
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < j; i++) s->whole[j + i * n] = s->whole[i + j * n];
    s->whole_made = status == FEN_OK;
    return status;
}

fenp_pivot_room fenp_block_pivot_room(const state *s)
{
    return (fenp_pivot_room){
        .factor = s->face.factor, .work = s->face.work, .who = s->face.who, .ridge = 1e-9
    };
}

void fenp_block_refresh(state *s)
{
    fenp_qp *q = &s->all;
    const int64_t n = q->n;
    cblas_dsymv(CblasColMajor, CblasUpper, (int)n, 1.0, s->whole, (int)n, q->b, 1, 0.0, s->f, 1);
    for (int64_t i = 0; i < n; i++) q->g[i] = s->f[i] + q->d[i] * q->b[i] - s->linear[i];
}

fen_status fenp_block_pivots(state *s, double goal, fenp_pivot_room *room, int *moved,
                             const fenp_task *task, fen_error *err)
{
    const int64_t n = s->all.n;
    const int narrowed = fenp_threads_narrow(0); /* thousands of short calls of BLAS */
    const fen_status status = fenp_pivot(&s->all, s->whole, n, goal, n, room, moved, task, err);
    fenp_threads_widen(narrowed);
    if (*moved) fenp_block_refresh(s);
    return status;
}

fen_status fenp_block_step(state *s, int *moved, fen_error *err)
{
    const double goal = 0.3 * fenp_qp_violation(&s->all);
    const int64_t count = choose(s);
    *moved = 0;
    if (count == 0) return FEN_OK;
    fill_block(s, count);
    fen_status status = fenp_values_block(&s->values, s->who, count, s->block.n, err);
    if (status == FEN_OK) status = improve_block(s, goal, err);
    if (status == FEN_OK) status = carry_over(s, count, moved, err);
    s->passes++;
    return status;
}

/* ---- the solver ----------------------------------------------------------------------------- */

/* The program that loss and lambda make, all but g; b as near to u as it may be. */
void fenp_block_pieces(state *s, const fenp_problem *problem, const double *u)
{
    const fenp_sample *sample = problem->sample;
    fenp_qp *q = &s->all;
    double plus = 0.0, minus = 0.0;
    q->n = sample->n;
    q->balanced = problem->bias ? FENP_SUM : FENP_ALONE;
    for (int64_t i = 0; i < q->n; i++) {
        const double unit = 0.5 * sample->w[i] / problem->lambda; /* C */
        fen_piece v = { 0 };
        if (unit > 0.0) problem->loss->piece(sample->y[i], problem->par, &v);
        q->low[i] = unit > 0.0 ? unit * v.low : 0.0;
        q->high[i] = unit > 0.0 ? unit * v.high : 0.0;
        q->d[i] = unit > 0.0 ? v.curvature / unit : 0.0;
        q->kink[i] = v.kink;
        q->stiff[i] = s->diag[i] + q->d[i];
        /* u of another lambda: at a bound is at a bound, rounding or not */
        const double b = 0.5 * u[i] / problem->lambda, slack = 1e-12 * fabs(b);
        q->b[i] = b >= q->high[i] - slack ? q->high[i] : b <= q->low[i] + slack ? q->low[i] : b;
        *(q->b[i] > 0.0 ? &plus : &minus) += fabs(q->b[i]);
    }
    if (!problem->bias || fabs(plus - minus) <= 1e-13 * (plus + minus)) return;
    for (int64_t i = 0; i < q->n; i++) { /* the larger side shrinks: 0 is always feasible */
        if (plus > minus && q->b[i] > 0.0) q->b[i] *= minus / plus;
        if (minus > plus && q->b[i] < 0.0) q->b[i] *= plus / minus;
    }
}

/* f and g of b: known but for a factor if b is where the last sweep ended. */
fen_status fenp_block_scores(state *s, const fenp_problem *problem, const double *u, fen_error *err)
{
    fenp_qp *q = &s->all;
    fen_status status = FEN_OK;
    const double factor = s->lambda / problem->lambda;
    int same = 1;
    for (int64_t i = 0; i < q->n && same; i++)
        same = u[i] == s->last[i] &&
               fabs(2.0 * problem->lambda * q->b[i] - u[i]) <= 1e-12 * fabs(u[i]);
    if (same)
        for (int64_t i = 0; i < q->n; i++) s->f[i] *= factor;
    else
        status = scores_of(s, err);
    for (int64_t i = 0; i < q->n; i++) {
        fen_piece v = { 0 };
        if (problem->sample->w[i] > 0.0)
            problem->loss->piece(problem->sample->y[i], problem->par, &v);
        s->linear[i] = v.linear;
        q->g[i] = s->f[i] + q->d[i] * q->b[i] - v.linear;
    }
    return status;
}

/* A variable without what rounding, or a factor taken off and put back, makes of a bound or of its
 * kink at 0: it would end the interval of b that others leave open. */
static double settled(const fenp_qp *q, int64_t i)
{
    const double b = q->b[i], low = q->low[i], high = q->high[i];
    const double slack = isinf(high - low) ? 0.0 : 1e-9 * (high - low);
    return b - low <= slack                       ? low
           : high - b <= slack                    ? high
           : fabs(b) <= slack && q->kink[i] > 0.0 ? 0.0
                                                  : b;
}

/* What every free variable says b is, on the average; the middle where there is none. */
static double offset_of(const fenp_qp *q)
{
    double sum = 0.0, count = 0.0, rise = -INFINITY, fall = INFINITY;
    for (int64_t i = 0; i < q->n; i++) {
        double b = settled(q, i), g = q->g[i];
        const fenp_qp one = {
            .b = &b, .g = &g, .kink = q->kink + i, .low = q->low + i, .high = q->high + i
        };
        const double up = fenp_qp_rise(&one, 0), down = fenp_qp_fall(&one, 0);
        rise = fmax(rise, up), fall = fmin(fall, down);
        if (up == down) sum += up, count += 1.0;
    }
    if (count > 0.0) return sum / count;
    return isinf(rise) ? (isinf(fall) ? 0.0 : fall) : isinf(fall) ? rise : 0.5 * (rise + fall);
}

/* (P - D) / P at f, b and c; infinite where P is. */
static double relative_gap(const state *s, const fenp_problem *problem, double offset)
{
    const fenp_sample *sample = problem->sample;
    const fenp_qp *q = &s->all;
    double loss = 0.0, conj = 0.0, square = 0.0;
    for (int64_t i = 0; i < q->n; i++) {
        const double w = sample->w[i], y = sample->y[i];
        if (w == 0.0) continue;
        square += q->b[i] * s->f[i];
        loss += w * problem->loss->value(y, s->f[i] + offset, problem->par);
        conj += w * problem->loss->conj(y, -2.0 * problem->lambda * q->b[i] / w, problem->par);
    }
    const double primal = loss + problem->lambda * square;
    const double gap = loss + conj + 2.0 * problem->lambda * square;
    if (isinf(primal)) return INFINITY;
    return primal > 0.0 ? gap / primal : gap;
}

/* What b, f and c are now, and how far from optimal. */
static void judge(const state *s, const fenp_problem *problem, fenp_solution *out)
{
    out->offset[0] = problem->bias ? offset_of(&s->all) : 0.0;
    out->gap[0] = relative_gap(s, problem, out->offset[0]);
}

void fenp_block_report(state *s, const fenp_problem *problem, fenp_solution *out)
{
    const fenp_sample *sample = problem->sample;
    const int64_t n = sample->n, p = sample->p;
    for (int64_t i = 0; i < n; i++) s->last[i] = out->dual[i] = 2.0 * problem->lambda * s->all.b[i];
    s->lambda = problem->lambda;
    out->scale[0] = 0.5 / problem->lambda;
    memcpy(out->scores, s->f, (size_t)n * sizeof(double));
    if (out->weights)
        cblas_dgemv(CblasRowMajor, CblasTrans, (int)n, (int)p, 1.0, sample->x, (int)p, s->all.b, 1,
                    0.0, out->weights, 1);
}

static fen_status sweep(void *work, const fenp_problem *problem, fenp_solution *out,
                        const fenp_task *task, fen_error *err)
{
    state *s = work;
    int moved = 1;
    fenp_block_pieces(s, problem, out->dual);
    fen_status status = fenp_block_scores(s, problem, out->dual, err);
    const int warm = cblas_dasum((int)s->all.n, s->all.b, 1) > 0.0;
    s->passes = 0;
    s->pivoting = 0;
    s->face.damp = 0.01;
    for (int pass = 0; status == FEN_OK; pass++) {
        judge(s, problem, out);
        if (out->gap[0] <= problem->gap || pass == FENP_BLOCK_PASSES || !moved) break;
        status = fenp_task_at(task, (double)pass / FENP_BLOCK_PASSES, err);
        if (status == FEN_OK) status = fenp_block_step(s, &moved, err);
        if (status == FEN_OK && s->whole && pass > (warm ? 0 : EASY_PASSES)) {
            int turned = 0;
            fenp_pivot_room room = fenp_block_pivot_room(s);
            status = fenp_block_whole(s, problem, task, err);
            if (status == FEN_OK)
                status = fenp_block_pivots(s, 0.01 * fenp_qp_violation(&s->all), &room, &turned,
                                           task, err);
            moved |= turned;
        }
    }
    if (status != FEN_OK) judge(s, problem, out); /* ended between a block and its judgement */
    fenp_block_report(s, problem, out);
    return status;
}

const fenp_solver fenp_solver_block = {
    .name = "block",
    .help = "block ascent on the dual, for losses with corners; 200 MB, more for many features",
    .iterative = 1,
    .accepts = accepts,
    .bytes = bytes,
    .flops = flops,
    .begin = begin,
    .sweep = sweep,
    .priced = fenp_block_priced,
};
