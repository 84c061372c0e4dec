/* row_curve.c -- see row_curve.h
 *
 * Three smooth functions of x = log(c/d_max) stand for the fits without a row: its residual
 * rho, F = cN^2 and R = L + cN^2 of the rows that stay. The shrinkage of the row solves
 *
 *     h(x) = (m/2) x + (1 - m/2) log F = level            (h of curve.h, relative units)
 *
 * Nodes. From c = n eps d_max, where c drowns in rounding errors, to 2 d_max they are STEP
 *   apart, and the polynomial through STENCIL of them serves the cell in their middle; beyond,
 *   one polynomial in 2 d_max/c, down to 0, which is f = 0. There it is (cN)^2 that stays
 *   finite: h = (m-1) x + (1 - m/2) log (cN)^2.
 * Roots, by Newton. m > 1: one. m = 1: none if h stays below, f = 0. m < 1: every crossing
 *   from below is a local minimum of value R + (2/m - 1) F; the least of them and of f = 0
 *   is taken. For c >= 2 d_max h is concave in x: Newton from the left finds the crossing or
 *   a falling h.
 * Special cases. c below the cells: their lower end. y - rho e out of the reach of K: f = 0.
 * Accuracy. The functions are analytic for |Im x| < pi: 1e-10 at worst, for one eigenvalue on
 *   its own. log F is not (F has zeros from pi/2 on): the logarithm is taken afterwards.
 * Cost. About 0.2 us per root; a polynomial is made when it is first asked for. */
#include "promise/row_curve.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define STEP 0.2
#define CLOSE 1e-8 /* of Newton: the next step would be of the order of its square */

/* ---- the grid --------------------------------------------------------------------------- */

/* out[j][k]: coefficient of z^k in the polynomial that is 1 at z[j] and 0 at the others. */
static void lagrange(const double *z, double out[FENP_STENCIL][FENP_STENCIL])
{
    for (int j = 0; j < FENP_STENCIL; j++) {
        long double p[FENP_STENCIL] = { 1.0L };
        for (int i = 0; i < FENP_STENCIL; i++) {
            if (i == j) continue;
            const long double scale = 1.0L / ((long double)z[j] - z[i]);
            for (int k = FENP_STENCIL - 1; k >= 0; k--)
                p[k] = scale * ((k > 0 ? p[k - 1] : 0.0L) - z[i] * p[k]);
        }
        for (int k = 0; k < FENP_STENCIL; k++) out[j][k] = (double)p[k];
    }
}

void fenp_grid_make(fenp_grid *g, int64_t rows)
{
    const double pi = acos(-1.0);
    double z[FENP_STENCIL];
    g->noise = (double)rows * DBL_EPSILON;
    g->low = log(g->noise);
    g->cells = (int)ceil((log(2.0) - g->low) / STEP);
    g->top = g->low + g->cells * STEP;
    g->nodes = 0;
    for (int j = -FENP_MARGIN; j <= g->cells + FENP_MARGIN; j++)
        g->x[g->nodes++] = g->low + j * STEP;
    for (int j = 0; j < FENP_STENCIL; j++) z[j] = j - 0.5 * (FENP_STENCIL - 1);
    lagrange(z, g->inner);
    for (int j = 0; j < FENP_STENCIL; j++) {
        z[j] = cos(pi * (j + 0.5) / FENP_STENCIL);
        g->x[g->nodes++] = g->top - log(0.5 * (1.0 + z[j]));
    }
    lagrange(z, g->outer);
    g->x[g->nodes++] = INFINITY;
    for (int j = 0; j < g->nodes; j++) g->fade[j] = exp(-g->x[j]);
}

/* ---- the functions ---------------------------------------------------------------------- */

void fenp_row_curve_begin(fenp_row_curve *s, const fenp_grid *g)
{
    const int even = g->cells + 1 + 2 * FENP_MARGIN;
    const double energy = s->risk[g->nodes - 1], reach = s->square[g->nodes - 1];
    s->grid = g;
    s->null = !(reach > g->noise * energy && energy > g->noise * g->noise);
    s->last_power = 0.0;
    for (int j = 0; j < g->nodes; j++)
        s->f[j] = j < even ? s->square[j] * g->fade[j] : s->square[j];
    for (int j = 0; j < even && !s->null; j++) s->log_f[j] = log(s->f[j]);
    memset(s->ready, 0, sizeof s->ready);
}

static void coefficients(const double matrix[FENP_STENCIL][FENP_STENCIL], const double *value,
                         double *out)
{
    for (int k = 0; k < FENP_STENCIL; k++) out[k] = 0.0;
    for (int j = 0; j < FENP_STENCIL; j++)
        for (int k = 0; k < FENP_STENCIL; k++) out[k] += matrix[j][k] * value[j];
}

/* Sees to the polynomials of cell k. */
static void need(fenp_row_curve *s, int k)
{
    const fenp_grid *g = s->grid;
    if (s->ready[k]) return;
    const int from = k < g->cells ? k : g->cells + 1 + 2 * FENP_MARGIN;
    const double(*matrix)[FENP_STENCIL] = k < g->cells ? g->inner : g->outer;
    coefficients(matrix, s->rho + from, s->piece[k].rho);
    coefficients(matrix, s->f + from, s->piece[k].f);
    coefficients(matrix, s->risk + from, s->piece[k].risk);
    s->ready[k] = 1;
}

/* The argument of the polynomials of cell k. */
static double local(const fenp_grid *g, int k, double x)
{
    return k < g->cells ? (x - g->low) / STEP - (k + 0.5) : 2.0 * exp(g->top - x) - 1.0;
}

static double value(const double *p, double z)
{
    double sum = p[FENP_STENCIL - 1];
    for (int k = FENP_STENCIL - 2; k >= 0; k--) sum = sum * z + p[k];
    return sum;
}

static double value_and_slope(const double *p, double z, double *slope)
{
    double sum = p[FENP_STENCIL - 1], rise = 0.0;
    for (int k = FENP_STENCIL - 2; k >= 0; k--) {
        rise = rise * z + sum;
        sum = sum * z + p[k];
    }
    *slope = rise;
    return sum;
}

/* h at the lower end of cell k. */
static double height(const fenp_row_curve *s, double power, int k)
{
    const int j = k + FENP_MARGIN;
    return 0.5 * power * s->grid->x[j] + (1.0 - 0.5 * power) * s->log_f[j];
}

/* ---- roots ------------------------------------------------------------------------------ */

/* h rises through the level inside cell k: Newton, inside the bracket. Returns x. */
static double crossing(fenp_row_curve *s, double power, double level, int k)
{
    need(s, k);
    const double a = 0.5 * power, b = 1.0 - a, middle = s->grid->low + (k + 0.5) * STEP;
    const double start = height(s, power, k), end = height(s, power, k + 1);
    double low = -0.5, high = 0.5, z = (level - start) / (end - start) - 0.5;
    for (int step = 0; step < 60; step++) {
        double slope;
        const double f = value_and_slope(s->piece[k].f, z, &slope);
        const double over = a * (middle + z * STEP) + b * log(f) - level;
        if (over > 0.0)
            high = z;
        else
            low = z;
        const double move = over / (a * STEP + b * slope / f);
        z -= move;
        if (fabs(move) < CLOSE) break;
        if (!(z > low && z < high)) z = 0.5 * (low + high);
    }
    return middle + z * STEP;
}

/* The same beyond the cells. INFINITY: h stays below the level. */
static double crossing_beyond(fenp_row_curve *s, double power, double level)
{
    const fenp_grid *g = s->grid;
    const double a = power - 1.0, b = 1.0 - 0.5 * power;
    double x = g->top;
    if (a == 0.0 && level >= b * log(s->f[g->nodes - 1])) return INFINITY;
    need(s, g->cells);
    for (int step = 0; step < 100; step++) {
        double slope;
        const double share = exp(g->top - x);
        const double f = value_and_slope(s->piece[g->cells].f, 2.0 * share - 1.0, &slope);
        const double rise = a - 2.0 * b * share * slope / f;
        if (!(rise > 0.0)) return a < 0.0 ? INFINITY : x;
        const double move = (level - a * x - b * log(f)) / rise;
        x = fmax(x + move, g->top);
        if (fabs(move) < CLOSE * fmax(1.0, fabs(x))) break;
    }
    return x;
}

/* power >= 1: h rises. Starts at the cell of the last root. */
static double only_root(fenp_row_curve *s, double power, double level)
{
    const fenp_grid *g = s->grid;
    if (power != s->last_power || height(s, power, s->cell) >= level) s->cell = s->lost;
    s->last_power = power;
    if (height(s, power, s->cell) >= level) return g->low + s->cell * STEP;
    while (s->cell < g->cells && height(s, power, s->cell + 1) < level) s->cell++;
    return s->cell < g->cells ? crossing(s, power, level, s->cell)
                              : crossing_beyond(s, power, level);
}

/* R + (2/m - 1) F, the objective at a stationary point. */
static double objective(const fenp_row_curve *s, double power, double x, int k)
{
    const double z = local(s->grid, k, x), f = value(s->piece[k].f, z);
    const double unscaled = k < s->grid->cells ? f : f * exp(-x);
    return value(s->piece[k].risk, z) + (2.0 / power - 1.0) * unscaled;
}

/* power < 1: the least of all local minima; f = 0 and the end of the cells are two of them. */
static double best_root(fenp_row_curve *s, double power, double level)
{
    const fenp_grid *g = s->grid;
    double best = s->risk[g->nodes - 1], x = INFINITY, below = height(s, power, s->lost);
    if (below >= level) {
        const int j = s->lost + FENP_MARGIN;
        const double log_norm = 0.5 * (s->log_f[j] - g->x[j]);
        const double end = s->risk[j] - s->f[j] + 2.0 / power * exp(level + power * log_norm);
        if (end < best) best = end, x = g->x[j];
    }
    for (int k = s->lost; k <= g->cells; k++) {
        const double next = k < g->cells ? height(s, power, k + 1) : INFINITY;
        if (below < level && next >= level) {
            const double root =
                k < g->cells ? crossing(s, power, level, k) : crossing_beyond(s, power, level);
            const double there = isinf(root) ? best : objective(s, power, root, k);
            if (there < best) best = there, x = root;
        }
        below = next;
    }
    return x;
}

static double rho_at(fenp_row_curve *s, double x)
{
    const fenp_grid *g = s->grid;
    const double lowest = g->low + s->lost * STEP;
    if (isinf(x) && x > 0.0) return s->rho[g->nodes - 1];
    if (s->lost > 0 && x <= lowest) return INFINITY;
    x = fmax(x, lowest);
    int k = x < g->top ? (int)((x - g->low) / STEP) : g->cells;
    if (x < g->top && k >= g->cells) k = g->cells - 1;
    need(s, k);
    return value(s->piece[k].rho, local(g, k, x));
}

double fenp_row_curve_rho(fenp_row_curve *s, double power, double level)
{
    if (s->lost > s->grid->cells) return INFINITY;
    if (power == 2.0) return rho_at(s, level); /* h = x */
    if (s->null) return s->rho[s->grid->nodes - 1];
    return rho_at(s, power < 1.0 ? best_root(s, power, level) : only_root(s, power, level));
}
