/* certify_tangents.c -- a lower bound where the penalty is not convex: power m < 1
 *
 * Each of a list of feasible z gives
 *         T_z(r) = - sum w_i loss*(y_i, -z_i) - r ||g||   <=   mean loss of any f of norm r
 * (weak duality at fixed norm), so the least value over r >= 0 of the largest T_z(r) plus
 * lambda r^m is a lower bound. Between the kinks of the largest one the sum is concave
 * in r: the least value is taken at a kink.
 *
 * Accuracy: ||g|| is raised by what may be missing from it.
 * Cost: one product of the kernel matrix with all the vectors, recomputed in tiles. */
#include <float.h>
#include <math.h>

#include "base/arena.h"
#include "base/linalg.h"
#include "base/registry.h"
#include "certify.h"

/* A line that is flat but for rounding errors belongs to what no function explains. It holds
 * as it is up to the norm where line + penalty stops rising; larger functions could gain
 * through eigenvalues below n eps trace K alone, which count as 0 throughout (curve.h). */
static int ends_the_search(const fenp_line *now, double r, double lambda, double power)
{
    return now->steepness <= now->noise && r > 0.0 &&
           log(lambda * power) + (power - 1.0) * log(2.0 * r) > log(now->steepness);
}

static double bounding_steepness(const fenp_line *line) { return line->steepness + line->error; }

/* From kink to kink: at each the line gives way to the flatter one that it meets first. */
double fenp_least_over_norms(const fenp_line *tangents, int64_t count, double lambda, double power)
{
    const fen_penalty *penalty = fenp_find_penalty("rkhs");
    const fenp_line zero = { 0.0, 0.0, 0.0, 0.0 };
    fenp_line now = zero;
    double r = 0.0, least;
    for (int64_t k = 0; k < count; k++)
        if (tangents[k].height > now.height) now = tangents[k];
    least = now.height;
    while (bounding_steepness(&now) > 0.0 && !ends_the_search(&now, r, lambda, power)) {
        const double steep = bounding_steepness(&now);
        fenp_line next = zero;
        r = now.height / steep;
        for (int64_t k = 0; k < count; k++) {
            const fenp_line other = tangents[k];
            const double flatter = bounding_steepness(&other);
            const double meets = (now.height - other.height) / (steep - flatter);
            if (flatter < steep && meets < r) r = meets, next = other;
        }
        const double loss = fmax(now.height - steep * r, 0.0);
        least = fmin(least, loss + lambda * penalty->value(r, power));
        now = next;
    }
    return least;
}

/* ---- the lines of the stored dual vectors ------------------------------------------------ */

/* Vectors of n, products of n or p, and a line of every tangent. */
int64_t fenp_tangents_room(const fenp_size *size, int64_t count)
{
    const int64_t p = size->p, width = size->n > p ? size->n : p;
    return fenp_arena_bytes(count * size->n) + fenp_arena_bytes(count * width) +
           fenp_arena_bytes(count * (int64_t)(sizeof(fenp_line) / sizeof(double)));
}

/* What the lines are computed with; the arrays are pieces of the certificate's arena. */
typedef struct tangents {
    int64_t count;    /* of all targets                                    */
    double *u;        /* count x n: feasible                               */
    double *products; /* count x p, or n x count                           */
    fenp_line *lines; /* count                                             */
} tangents;

static tangents open_tangents(fenp_arena *arena, const fen_model *m)
{
    const int64_t n = m->n, count = m->targets * m->tangent_count;
    tangents s = { .count = count };
    s.u = fenp_arena_doubles(arena, count * n);
    s.products = fenp_arena_doubles(arena, count * (n > m->p ? n : m->p));
    s.lines = (fenp_line *)fenp_arena_doubles(
        arena, count * (int64_t)(sizeof(fenp_line) / sizeof(double)));
    return s;
}

/* ||g|| = |X'u|, known to eps |X| |u|. */
static void linear_steepness(const fen_model *m, const fenp_sample *sample, double trace,
                             tangents *s)
{
    const int n = (int)m->n, p = (int)m->p;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)s->count, p, n, 1.0, s->u, n,
                sample->x, p, 0.0, s->products, p);
    for (int64_t k = 0; k < s->count; k++) {
        s->lines[k].steepness = cblas_dnrm2(p, s->products + k * p, 1);
        s->lines[k].error = DBL_EPSILON * sqrt(trace) * cblas_dnrm2(n, s->u + k * n, 1);
    }
}

/* ||g||^2 = u'Ku, known to eps sqrt(n) k(x,x) |u|^2, the rounding errors of n^2 terms. */
static fen_status kernel_steepness(const fen_model *m, const fenp_sample *sample, double trace,
                                   tangents *s, const fenp_task *task, fen_error *err)
{
    const int64_t n = m->n;
    const fen_view rows = fenp_sample_inputs(sample);
    const fen_status status =
        fenp_gram_times(&m->kernel, rows, rows, s->u, s->count, s->products, task, err);
    for (int64_t k = 0; status == FEN_OK && k < s->count; k++) {
        const double *u = s->u + k * n, size = cblas_dnrm2((int)n, u, 1);
        const double missing = DBL_EPSILON * trace / sqrt((double)n) * size * size;
        long double sum = 0.0L;
        for (int64_t i = 0; i < n; i++) sum += (long double)u[i] * s->products[i * s->count + k];
        const double square = isnan(sum) ? INFINITY : fmax((double)sum, 0.0);
        s->lines[k].steepness = sqrt(square);
        s->lines[k].error = sqrt(square + missing) - sqrt(square);
    }
    return status;
}

/* Heights of all lines, and the vectors that they belong to. */
static void line_heights(const fen_model *m, const fenp_sample *sample, double trace, fenp_claim c,
                         double *z, tangents *s)
{
    const int64_t n = m->n;
    for (int64_t k = 0; k < s->count; k++) {
        double *u = s->u + k * n;
        c.y = sample->y + k / m->tangent_count * n;
        if (k % m->tangent_count == 0) c.shift = fenp_claim_shift(&c);
        fenp_claim_feasible(&c, m->tangents + k * n, u);
        for (int64_t i = 0; i < n; i++) z[i] = u[i] / c.w[i];
        s->lines[k].height = fenp_claim_minus_conjugates(&c, 1.0);
        s->lines[k].noise = sqrt((double)n * DBL_EPSILON * trace) * cblas_dnrm2((int)n, u, 1);
    }
}

fen_status fenp_tangents_lines(fenp_arena *arena, const fen_model *m, const fenp_sample *sample,
                               fenp_claim c, double *z, const fenp_line **out,
                               const fenp_task *task, fen_error *err)
{
    const double trace =
        (double)m->n * fenp_gram_mean_diagonal(&m->kernel, fenp_sample_inputs(sample), sample->w);
    tangents s = open_tangents(arena, m);
    c.w = sample->w, c.z = z;
    line_heights(m, sample, trace, c, z, &s);
    *out = s.lines;
    if (!m->weights) return kernel_steepness(m, sample, trace, &s, task, err);
    linear_steepness(m, sample, trace, &s);
    return FEN_OK;
}
