/* interior_basis.c -- see interior_vertex.h: the inverse of B, and how it follows changes
 *
 * Method. The inverse is there explicitly. It is made by an LU factorisation in halves of columns,
 * whose row exchanges choose the corners, from U^-1 and L; it follows a change of B by a rank-one
 * update:
 *
 *     a corner for another     w = x_t' B^-1:  column e / w_e, the others less column e w_f / w_e
 *     a column for another     v = B^-1 x_j:   row c / v_c, the others less row c v_r / v_c
 *     one more of both         B^-1 + v w'/s with the border -v/s, -w'/s, 1/s,  s = x_tj - x_t.v
 *     one less of both         B^-1 - (column e)(row c)/(B^-1)_ce, without both
 *
 * Accuracy. Updates lose what their pivots are small by: whoever makes many of them renews the
 * inverse now and then, and refines what it gives.
 * Cost. c m^2 + m^3 flops for m columns and c corners to choose from; 2 m^2 per change;
 * 8 m (m + k + n) bytes. */
#include "solver/interior_vertex.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/error.h"
#include "base/linalg.h"

enum { NARROW = 8 };                   /* columns that are eliminated one by one       */
static const double DEPENDENT = 1e-11; /* rest of a column, relative to it: rounding   */

/* ---- room -------------------------------------------------------------------------------- */

fen_status fenp_vertex_open(fenp_vertex *v, int64_t room, fen_error *err)
{
    const int64_t own = fenp_bytes(room, room + v->k + v->n + 5, sizeof(double));
    const int64_t rest = fenp_bytes(v->k, 1, 8), last = fenp_bytes(v->terms, 1, 8);
    const int64_t bytes = own < 0 || rest < 0 || last < 0 ? -1 : own + rest + last;
    double *at = bytes < 0 ? NULL : fenp_new(bytes, 1);
    if (!at) return fenp_no_memory(err, bytes, "the walk along vertices");
    v->owned = at, v->m = 0, v->room = room;
    v->inverse = at, at += room * room;
    v->rows = at, v->columns = at + room * v->k, at += room * (v->k + v->n);
    v->work1 = at, v->work2 = at + room, v->work3 = at + 2 * room, at += 3 * room;
    v->column = (int64_t *)at, v->corner = v->column + room, v->at_column = v->corner + room;
    v->at_corner = v->at_column + v->k;
    memset(v->at_column, 0xff, (size_t)(v->k + v->terms) * sizeof(int64_t)); /* -1 */
    return FEN_OK;
}

void fenp_vertex_close(fenp_vertex *v)
{
    free(v->owned);
    v->owned = NULL;
}

/* ---- the inverse anew -------------------------------------------------------------------- */

typedef struct factors {
    int64_t rows, columns;
    double *z;      /* rows x columns: L below the diagonal, U                    */
    double *size;   /* columns: the largest entry as it was                       */
    int64_t *order; /* rows: the corner that stands there                         */
} factors;

/* Exchanges two rows of the columns from first to last. */
static void exchange(factors *f, int64_t i, int64_t j, int64_t first, int64_t last)
{
    cblas_dswap((int)(last - first), f->z + i + first * f->rows, (int)f->rows,
                f->z + j + first * f->rows, (int)f->rows);
}

/* One column after the other; how many have a pivot. */
static int64_t eliminate_few(factors *f, int64_t first, int64_t last)
{
    const int64_t rows = f->rows;
    for (int64_t c = first; c < last; c++) {
        double *z = f->z + c * rows;
        const int64_t at = c + (int64_t)cblas_idamax((int)(rows - c), z + c, 1);
        if (!(fabs(z[at]) > DEPENDENT * f->size[c])) return c;
        const int64_t held = f->order[c];
        f->order[c] = f->order[at], f->order[at] = held;
        exchange(f, c, at, 0, f->columns);
        cblas_dscal((int)(rows - c - 1), 1.0 / z[c], z + c + 1, 1);
        cblas_dger(CblasColMajor, (int)(rows - c - 1), (int)(last - c - 1), -1.0, z + c + 1, 1,
                   z + rows + c, (int)rows, z + rows + c + 1, (int)rows);
    }
    return last;
}

/* The left half, what it is to the right one, and that. */
static int64_t eliminate(factors *f, int64_t first, int64_t last)
{
    if (last - first <= NARROW) return eliminate_few(f, first, last);
    const int64_t rows = f->rows, middle = first + (last - first) / 2;
    const int64_t done = eliminate(f, first, middle);
    if (done < middle) return done;
    const int left = (int)(middle - first), right = (int)(last - middle), ld = (int)rows;
    double *corner = f->z + first + first * rows, *beside = f->z + first + middle * rows;
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasUnit, left, right, 1.0,
                corner, ld, beside, ld);
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, (int)(rows - middle), right, left, -1.0,
                corner + left, ld, beside, ld, 1.0, beside + left, ld);
    return eliminate(f, middle, last);
}

static fen_status open_factors(const fenp_vertex *v, const int64_t *columns, int64_t count,
                               const int64_t *corners, int64_t corner_count, factors *f,
                               fen_error *err)
{
    const int64_t bytes = fenp_bytes(corner_count + 1, count + 1, sizeof(double));
    *f = (factors){ .rows = corner_count, .columns = count };
    f->z = bytes < 0 ? NULL : fenp_new(bytes, 1);
    f->order = fenp_new(corner_count, sizeof *f->order);
    if (!f->z || !f->order) return fenp_no_memory(err, bytes, "the walk along vertices");
    f->size = f->z + corner_count * count;
    if (corner_count > 0) memcpy(f->order, corners, (size_t)corner_count * sizeof *corners);
    for (int64_t c = 0; c < count; c++) {
        double *z = f->z + c * corner_count;
        for (int64_t e = 0; e < corner_count; e++) z[e] = fenp_vertex_x(v, corners[e], columns[c]);
        f->size[c] = corner_count > 0 ? fabs(z[cblas_idamax((int)corner_count, z, 1)]) : 0.0;
    }
    return FEN_OK;
}

static void put_column(fenp_vertex *v, int64_t place, int64_t column)
{
    v->column[place] = column, v->at_column[column] = place;
    memcpy(v->columns + place * v->n, v->x + column * v->n, (size_t)v->n * sizeof(double));
}

static void put_corner(fenp_vertex *v, int64_t place, int64_t corner)
{
    v->corner[place] = corner, v->at_corner[corner] = place;
    cblas_dcopy((int)v->k, v->x + fenp_vertex_row(v, corner), (int)v->n, v->rows + place * v->k, 1);
}

static void clear(fenp_vertex *v)
{
    for (int64_t c = 0; c < v->m; c++)
        v->at_column[v->column[c]] = -1, v->at_corner[v->corner[c]] = -1;
    v->m = 0;
}

/* U^-1, as the transpose of a lower triangle, and from that U^-1 L^-1 */
static fen_status invert(fenp_vertex *v, const factors *f, fen_error *err)
{
    const int64_t m = v->m, ld = v->room;
    double *inverse = v->inverse;
    for (int64_t c = 0; c < m; c++)
        for (int64_t r = c; r < m; r++) inverse[r + c * ld] = f->z[c + r * f->rows];
    const fen_status status = fenp_triangular_inverse(m, inverse, ld, err);
    for (int64_t c = 0; c < m; c++)
        for (int64_t r = c + 1; r < m; r++)
            inverse[c + r * ld] = inverse[r + c * ld], inverse[r + c * ld] = 0.0;
    if (m > 0)
        cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasNoTrans, CblasUnit, (int)m, (int)m,
                    1.0, f->z, (int)f->rows, inverse, (int)ld);
    return status;
}

fen_status fenp_vertex_build(fenp_vertex *v, const int64_t *columns, int64_t count,
                             const int64_t *corners, int64_t corner_count, int64_t *built,
                             fen_error *err)
{
    factors f;
    fen_status status = open_factors(v, columns, count, corners, corner_count, &f, err);
    clear(v);
    *built = 0;
    if (status == FEN_OK) {
        *built = corner_count < count ? corner_count : eliminate(&f, 0, count);
        for (int64_t c = 0; *built == count && c < count; c++)
            put_column(v, c, columns[c]), put_corner(v, c, f.order[c]);
        v->m = *built == count ? count : 0;
        status = invert(v, &f, err);
    }
    free(f.z), free(f.order);
    return status;
}

fen_status fenp_vertex_renew(fenp_vertex *v, int64_t room, int64_t *built, fen_error *err)
{
    if (room <= v->room) return fenp_vertex_build(v, v->column, v->m, v->corner, v->m, built, err);
    fenp_vertex other = { .x = v->x, .n = v->n, .k = v->k, .terms = v->terms };
    fen_status status = fenp_vertex_open(&other, room, err);
    if (status == FEN_OK)
        status = fenp_vertex_build(&other, v->column, v->m, v->corner, v->m, built, err);
    fenp_vertex_close(v);
    *v = other;
    return status;
}

/* ---- products ---------------------------------------------------------------------------- */

void fenp_vertex_solve(const fenp_vertex *v, const double *right, double *out)
{
    const int m = (int)v->m;
    if (m > 0)
        cblas_dgemv(CblasColMajor, CblasNoTrans, m, m, 1.0, v->inverse, (int)v->room, right, 1, 0.0,
                    out, 1);
}

void fenp_vertex_solve_left(const fenp_vertex *v, const double *right, double *out)
{
    const int m = (int)v->m;
    if (m > 0)
        cblas_dgemv(CblasColMajor, CblasTrans, m, m, 1.0, v->inverse, (int)v->room, right, 1, 0.0,
                    out, 1);
}

void fenp_vertex_express(const fenp_vertex *v, int64_t j, double *out)
{
    for (int64_t e = 0; e < v->m; e++) v->work3[e] = v->rows[j + e * v->k];
    fenp_vertex_solve(v, v->work3, out);
}

void fenp_vertex_express_row(const fenp_vertex *v, int64_t term, double *out)
{
    for (int64_t c = 0; c < v->m; c++) v->work3[c] = fenp_vertex_x(v, term, v->column[c]);
    fenp_vertex_solve_left(v, v->work3, out);
}

void fenp_vertex_times(const fenp_vertex *v, const double *beta, double *out)
{
    const int n = (int)v->n, m = (int)v->m;
    memset(out, 0, (size_t)n * sizeof *out); /* without columns BLAS writes nothing */
    if (m > 0)
        cblas_dgemv(CblasColMajor, CblasNoTrans, n, m, 1.0, v->columns, n, beta, 1, 0.0, out, 1);
}

/* ---- changes ----------------------------------------------------------------------------- */

/* inverse += factor left right' */
static void update(fenp_vertex *v, double factor, const double *left, const double *right)
{
    const int m = (int)v->m;
    if (m > 0) cblas_dger(CblasColMajor, m, m, factor, left, 1, right, 1, v->inverse, (int)v->room);
}

void fenp_vertex_extend(fenp_vertex *v, int64_t j, int64_t term, const double *column,
                        const double *row)
{
    const int64_t m = v->m, ld = v->room;
    double rest = fenp_vertex_x(v, term, j);
    for (int64_t c = 0; c < m; c++) rest -= fenp_vertex_x(v, term, v->column[c]) * column[c];
    update(v, 1.0 / rest, column, row);
    for (int64_t c = 0; c < m; c++) {
        v->inverse[c + m * ld] = -column[c] / rest;
        v->inverse[m + c * ld] = -row[c] / rest;
    }
    v->inverse[m + m * ld] = 1.0 / rest;
    put_column(v, m, j), put_corner(v, m, term);
    v->m++;
}

void fenp_vertex_swap_corner(fenp_vertex *v, int64_t place, int64_t term, const double *row)
{
    double *own = v->inverse + place * v->room;
    const double pivot = row[place];
    memcpy(v->work1, own, (size_t)v->m * sizeof(double));
    memcpy(v->work2, row, (size_t)v->m * sizeof(double));
    v->work2[place] = 0.0;
    update(v, -1.0 / pivot, v->work1, v->work2);
    cblas_dscal((int)v->m, 1.0 / pivot, own, 1);
    v->at_corner[v->corner[place]] = -1;
    put_corner(v, place, term);
}

void fenp_vertex_swap_column(fenp_vertex *v, int64_t place, int64_t j, const double *column)
{
    const double pivot = column[place];
    memcpy(v->work1, column, (size_t)v->m * sizeof(double));
    cblas_dcopy((int)v->m, v->inverse + place, (int)v->room, v->work2, 1);
    v->work1[place] = 0.0;
    update(v, -1.0 / pivot, v->work1, v->work2);
    cblas_dscal((int)v->m, 1.0 / pivot, v->inverse + place, (int)v->room);
    v->at_column[v->column[place]] = -1;
    put_column(v, place, j);
}

void fenp_vertex_reduce(fenp_vertex *v, int64_t column_place, int64_t corner_place)
{
    const int64_t m = v->m, ld = v->room, last = m - 1;
    double *own = v->inverse + corner_place * ld;
    const double pivot = own[column_place];
    memcpy(v->work1, own, (size_t)m * sizeof(double));
    cblas_dcopy((int)m, v->inverse + column_place, (int)ld, v->work2, 1);
    update(v, -1.0 / pivot, v->work1, v->work2);
    v->at_column[v->column[column_place]] = -1, v->at_corner[v->corner[corner_place]] = -1;
    if (corner_place < last) { /* the last ones take the places */
        memcpy(own, v->inverse + last * ld, (size_t)m * sizeof(double));
        memcpy(v->rows + corner_place * v->k, v->rows + last * v->k, (size_t)v->k * sizeof(double));
        v->corner[corner_place] = v->corner[last], v->at_corner[v->corner[last]] = corner_place;
    }
    if (column_place < last) {
        cblas_dcopy((int)m, v->inverse + last, (int)ld, v->inverse + column_place, (int)ld);
        put_column(v, column_place, v->column[last]);
    }
    v->m--;
}
