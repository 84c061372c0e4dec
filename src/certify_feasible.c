/* certify_feasible.c -- dual variables moved to where D is a bound
 *
 *     each z_i in the domain of its conjugate;
 *     with bias             sum w z = 0;
 *     free parameter (nu)   sum w k(z) <= price nu W,  k = loss*(par = 1) - loss*(par = 0),
 *                           since D is the least over all par >= 0
 *
 * Method: clip; then one shift s with sum w clip(z - s) = 0. The sum falls with s and its
 *   limits lie on both sides of 0, because z = 0 is in every domain: bisection, to rounding.
 *   A parameter that costs (nu-SVR, k = |z|): z is shrunk, which keeps the rest. One that
 *   earns (nu-SVC and one-class, k = -y z): within each class (with bias; else over all rows)
 *   z is shrunk towards 0, or stretched towards the far end of its domain, until the class
 *   has its half of nu W; then sum w z = 0 as well.
 * Special cases: labels that can just pay nu leave one z, the far ends; those that cannot (a
 *   class of less weight than half of nu W) none, and the answer is not a number.
 * Accuracy: sums in long double. D is a bound for sum u = 0 alone, whatever b is: a sum that is not
 *   0 to the rounding of its terms (a unit in the last place of the weights makes it 0) is shifted
 *   again, and u is 0 where that does not help. Likewise nu is paid to a unit in the last place of
 *   nu and of the weights: two of them for labels that can just pay it. */
#include <float.h>
#include <math.h>

#include "certify.h"

enum { ROUNDS = 4 };

void fenp_claim_box(const fenp_claim *c, int64_t i, double *low, double *high)
{
    double least, most;
    if (c->window) {
        *low = c->window[2 * i], *high = c->window[2 * i + 1];
        return;
    }
    c->loss->domain(c->y[i], c->dual_par, &least, &most);
    *low = -most, *high = -least;
}

/* Of a smooth loss: z_i that all but is an end of its box is taken for it. */
static void close_window(double z, double near, double *low, double *high)
{
    const double width = *high - *low < INFINITY ? near * (*high - *low) : 0.0;
    if (z - *low <= width)
        *high = *low;
    else if (*high - z <= width)
        *low = *high;
}

/* Rows that are clear of all corners of the loss have one z_i, the others an interval of them. */
void fenp_claim_windows(const fenp_claim *c, double near, double *out)
{
    const double b = c->offset - c->shift;
    fenp_claim whole = *c;
    long double size = 0.0L, weight = 0.0L;
    whole.window = NULL;
    for (int64_t i = 0; i < c->n; i++) {
        size += c->w[i] * fabsl((long double)c->y[i] - c->shift - c->f[i] - b);
        weight += c->w[i];
    }
    const double step = weight > 0.0L ? near * (double)(size / weight) : 0.0;
    for (int64_t i = 0; i < c->n; i++) {
        const double y = c->y[i] - c->shift, t = c->f[i] + b;
        double low, high, least, most, unused;
        fenp_claim_box(&whole, i, &low, &high);
        c->loss->slopes(y, t - step, c->par, &least, &unused);
        c->loss->slopes(y, t + step, c->par, &unused, &most);
        if (c->loss->smoothness > 0.0) {
            close_window(-most, near, &low, &high);
            least = -high, most = -low;
        }
        out[2 * i] = fmin(fmax(-most, low), high);
        out[2 * i + 1] = fmin(fmax(-least, low), high);
    }
}

static double clipped(const fenp_claim *c, int64_t i, double z)
{
    double low, high;
    fenp_claim_box(c, i, &low, &high);
    return fmin(fmax(z, low), high);
}

/* sum w clip(z - s); size: the same of absolute values */
static long double sum_at(const fenp_claim *c, const double *z, double s, long double *size)
{
    long double sum = 0.0L;
    *size = 0.0L;
    for (int64_t i = 0; i < c->n; i++) {
        if (c->w[i] == 0.0) continue;
        const double moved = clipped(c, i, z[i] - s);
        sum += (long double)c->w[i] * moved;
        *size += (long double)c->w[i] * fabs(moved);
    }
    return sum;
}

/* The shift: between two numbers with sums of different signs, closer and closer. */
static double find_shift(const fenp_claim *c, const double *z)
{
    long double size, sum = sum_at(c, z, 0.0, &size);
    if (fabsl(sum) <= 0.25 * DBL_EPSILON * size) return 0.0;
    const double side = sum > 0.0L ? 1.0 : -1.0;
    double near = 0.0, far = (double)fmaxl(fabsl(sum), DBL_MIN);
    for (int step = 0; step < 2100 && isfinite(far); step++, far *= 2.0)
        if (side * sum_at(c, z, side * far, &size) <= 0.0L) break;
    for (int step = 0; step < 2100; step++) {
        const double middle = 0.5 * near + 0.5 * far;
        if (middle <= near || middle >= far) break;
        sum = sum_at(c, z, side * middle, &size);
        if (fabsl(sum) <= 0.25 * DBL_EPSILON * size) return side * middle;
        if (side * sum > 0.0L)
            near = middle;
        else
            far = middle;
    }
    return side * far;
}

/* ---- a free parameter -------------------------------------------------------------------- */

static double cost_of(const fenp_claim *c, int64_t i, double z)
{
    const double none = 0.0, one = 1.0;
    return c->loss->conj(c->y[i], -z, &one) - c->loss->conj(c->y[i], -z, &none);
}

static void shrink_to_price(const fenp_claim *c, double *z)
{
    long double cost = 0.0L;
    for (int64_t i = 0; i < c->n; i++)
        if (c->w[i] > 0.0) cost += (long double)c->w[i] * cost_of(c, i, z[i]);
    if (cost <= c->price) return;
    const double factor = (double)(c->price / cost) * (1.0 - 2.0 * DBL_EPSILON);
    for (int64_t i = 0; i < c->n; i++) z[i] *= factor;
}

/* The end of the domain that z_i can be stretched to; the other one is 0. */
static double far_end(const fenp_claim *c, int64_t i)
{
    double low, high;
    fenp_claim_box(c, i, &low, &high);
    return high > 0.0 ? high : low;
}

/* Rows with a label on one side (0: all) get sum w y z = half of nu W (all: the whole). */
static void earn_price(const fenp_claim *c, double side, double *z)
{
    const long double wanted = side == 0.0 ? -c->price : -0.5L * c->price;
    long double now = 0.0L, most = 0.0L;
    for (int64_t i = 0; i < c->n; i++) {
        if (c->w[i] == 0.0 || c->y[i] * side < 0.0) continue;
        now -= (long double)c->w[i] * cost_of(c, i, z[i]);
        most -= (long double)c->w[i] * cost_of(c, i, far_end(c, i));
    }
    const long double rounding = 2.0L * DBL_EPSILON * wanted;
    const int all = most <= wanted + rounding, stretch = now < wanted;
    const double share = stretch ? (double)((wanted - now) / (most - now)) : (double)(wanted / now);
    for (int64_t i = 0; i < c->n; i++) {
        if (c->w[i] == 0.0 || c->y[i] * side < 0.0) continue;
        if (all)
            z[i] = most >= wanted - rounding ? far_end(c, i) : NAN;
        else
            z[i] = stretch ? z[i] + share * (far_end(c, i) - z[i]) : share * z[i];
    }
}

/* ---- all of it --------------------------------------------------------------------------- */

static void make_feasible(const fenp_claim *c, double *z)
{
    if (c->free_par && c->price < 0.0) {
        for (int64_t i = 0; i < c->n; i++) z[i] = clipped(c, i, z[i]);
        if (c->bias) earn_price(c, 1.0, z);
        earn_price(c, c->bias ? -1.0 : 0.0, z);
        return;
    }
    const double shift = c->bias ? find_shift(c, z) : 0.0;
    for (int64_t i = 0; i < c->n; i++) z[i] = c->w[i] > 0.0 ? clipped(c, i, z[i] - shift) : 0.0;
    if (c->free_par) shrink_to_price(c, z);
}

/* Shifts of numbers that are large beside what is left of them are coarse: not at once. */
static int is_balanced(const fenp_claim *c, const double *u)
{
    long double sum = 0.0L, size = 0.0L;
    if (!c->bias || (c->free_par && c->price < 0.0)) return 1;
    for (int64_t i = 0; i < c->n; i++) sum += u[i], size += fabs(u[i]);
    return fabsl(sum) <= DBL_EPSILON * size;
}

void fenp_claim_feasible(const fenp_claim *c, const double *u, double *out)
{
    const double *from = u;
    for (int round = 0; round < ROUNDS; round++, from = out) {
        for (int64_t i = 0; i < c->n; i++) out[i] = c->w[i] > 0.0 ? from[i] / c->w[i] : 0.0;
        make_feasible(c, out);
        for (int64_t i = 0; i < c->n; i++) out[i] *= c->w[i];
        if (is_balanced(c, out)) return;
    }
    for (int64_t i = 0; i < c->n; i++) out[i] = 0.0;
}
