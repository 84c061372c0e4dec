/* values.c -- see values.h
 *
 * A kernel value of few features is made as fast as it is read from memory: nothing is kept.
 * Where there are many, whole rows are (rows.h): each is computed once while there is room.
 * Given kernels are there already; of the two values that stand for one pair a block takes
 * the mean, a product those that the certificate will take. */
#include "solver/values.h"

#include <string.h>

enum { CHEAP = 32 }; /* features up to which a value is made as fast as it is read */
static const int64_t GIGABYTE = 1000000000;

static int worth_keeping(int64_t n, int64_t p) { return p > CHEAP && p != n; /* given */ }

static int64_t cache_bytes(int64_t n, int64_t p, int64_t memory)
{
    const int64_t slots = fenp_rows_slots(n, p, memory > 0 ? memory : GIGABYTE);
    const int64_t least = n < FENP_ROWS_AT_ONCE ? n : FENP_ROWS_AT_ONCE;
    return worth_keeping(n, p) && slots >= least ? fenp_rows_bytes(n, p, slots) : 0;
}

int64_t fenp_values_bytes(int64_t n, int64_t p, int64_t room, int64_t memory)
{
    if (fenp_bytes(room, p, sizeof(double)) < 0) return -1;
    return fenp_arena_bytes(room * p) + fenp_arena_bytes(room * room / 2) + fenp_arena_bytes(room) +
           cache_bytes(n, p, memory);
}

fenp_values fenp_values_open(fenp_arena *arena, const fenp_kernel *kernel,
                             const fenp_sample *sample, int64_t room)
{
    const int64_t n = sample->n, p = sample->p;
    fenp_values v = { .kernel = *kernel, .x = fenp_sample_inputs(sample), .room = room };
    v.rows = fenp_arena_doubles(arena, room * p);
    v.k = (float *)fenp_arena_doubles(arena, room * room / 2);
    v.held = (int64_t *)fenp_arena_doubles(arena, room);
    const int64_t slots = fenp_rows_slots(n, p, arena->size - arena->used);
    if (worth_keeping(n, p) && slots > 0) v.cache = fenp_rows_open(arena, kernel, sample, slots);
    return v;
}

static int is_given(const fenp_values *v) { return v->kernel.table->basis == FEN_PRECOMPUTED; }

/* rows = the features of the rows named */
static void gather(fenp_values *v, const int64_t *who, int64_t count)
{
    const int64_t p = v->x.cols;
    for (int64_t k = 0; k < count; k++)
        memcpy(v->rows + k * p, v->x.at + who[k] * p, (size_t)p * sizeof(double));
}

/* As many rows as one request may name. */
static int64_t request(const fenp_values *v, int64_t left)
{
    const int64_t most = v->cache.slots < FENP_ROWS_AT_ONCE ? v->cache.slots : FENP_ROWS_AT_ONCE;
    return left < most ? left : most;
}

/* ---- a block ------------------------------------------------------------------------------ */

static void given_block(fenp_values *v, int64_t count)
{
    const double *x = v->x.at;
    const int64_t n = v->x.cols, *who = v->held;
#pragma omp parallel for schedule(static)
    for (int64_t r = 0; r < count; r++)
        for (int64_t c = 0; c < count; c++)
            v->k[r * v->ld + c] = (float)(0.5 * (x[who[r] * n + who[c]] + x[who[c] * n + who[r]]));
}

/* From rows that are kept, where all of the block can be. */
static fen_status cached_block(fenp_values *v, int64_t count, fen_error *err)
{
    const double *row[FENP_ROWS_AT_ONCE];
    fen_status status = FEN_OK;
    for (int64_t first = 0, some; first < count && status == FEN_OK; first += some) {
        some = request(v, count - first);
        status = fenp_rows_fetch(&v->cache, v->held + first, some, row, err);
        for (int64_t r = 0; r < some && status == FEN_OK; r++)
            for (int64_t c = 0; c < count; c++)
                v->k[(first + r) * v->ld + c] = (float)row[r][v->held[c]];
    }
    return status;
}

fen_status fenp_values_block(fenp_values *v, const int64_t *who, int64_t count, int64_t ld,
                             fen_error *err)
{
    fen_status status = FEN_OK;
    if (v->holds == count && v->ld == ld && !memcmp(v->held, who, (size_t)count * sizeof *who))
        return FEN_OK;
    memcpy(v->held, who, (size_t)count * sizeof *who);
    v->ld = ld;
    for (int64_t r = 0; r < ld; r++)
        for (int64_t c = r < count ? count : 0; c < ld; c++) v->k[r * ld + c] = 0.0F;
    if (is_given(v))
        given_block(v, count);
    else if (v->cache.slots >= count)
        status = cached_block(v, count, err);
    else {
        gather(v, who, count);
        const fen_view some = { v->rows, count, v->x.cols, v->x.cols };
        status = fenp_gram_single(&v->kernel, some, ld, v->k, err);
    }
    v->holds = status == FEN_OK ? count : 0;
    return status;
}

/* ---- products ------------------------------------------------------------------------------ */

static void given_times(const fenp_values *v, const int64_t *who, const double *move, int64_t count,
                        double *out)
{
    const int64_t n = v->x.rows, p = v->x.cols;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        out[i] = 0.0;
        for (int64_t k = 0; k < count; k++) out[i] += v->x.at[i * p + who[k]] * move[k];
    }
}

/* A piece of out at a time stays in the first-level cache. */
static fen_status cached_times(fenp_values *v, const int64_t *who, const double *move,
                               int64_t count, double *out, fen_error *err)
{
    enum { PIECE = 1024 };
    const int64_t n = v->x.rows;
    const double *row[FENP_ROWS_AT_ONCE];
    fen_status status = FEN_OK;
    memset(out, 0, (size_t)n * sizeof(double));
    for (int64_t first = 0, some; first < count && status == FEN_OK; first += some) {
        some = request(v, count - first);
        status = fenp_rows_fetch(&v->cache, who + first, some, row, err);
        if (status != FEN_OK) break;
#pragma omp parallel for schedule(static)
        for (int64_t from = 0; from < n; from += PIECE)
            for (int64_t k = 0; k < some; k++)
                for (int64_t i = from; i < n && i < from + PIECE; i++)
                    out[i] += move[first + k] * row[k][i];
    }
    return status;
}

fen_status fenp_values_times(fenp_values *v, const int64_t *who, const double *move, int64_t count,
                             double *out, fen_error *err)
{
    const int64_t p = v->x.cols;
    if (is_given(v)) {
        given_times(v, who, move, count, out);
        return FEN_OK;
    }
    if (v->cache.slots > 0) return cached_times(v, who, move, count, out, err);
    gather(v, who, count);
    return fenp_gram_times(&v->kernel, v->x, (fen_view){ v->rows, count, p, p }, move, 1, out, NULL,
                           err);
}
