/* rows.c -- see rows.h
 *
 * A slot holds one row of n doubles. Missing rows are computed together, in tiles
 * (gram.h); what a request names stays until the next one.
 * Cost: 1.7 n ns per missing row and thread (gaussian, d = 10), nothing for the others. */
#include "solver/rows.h"

#include <string.h>

int64_t fenp_rows_bytes(int64_t n, int64_t p, int64_t slots)
{
    if (fenp_bytes(slots, n, sizeof(double)) < 0) return -1;
    return fenp_arena_bytes(slots * n) + fenp_arena_bytes(n) + 2 * fenp_arena_bytes(slots) +
           fenp_arena_bytes(FENP_ROWS_AT_ONCE * p);
}

int64_t fenp_rows_slots(int64_t n, int64_t p, int64_t bytes)
{
    int64_t low = 0, high = n + 1; /* low slots fit, high do not */
    while (high - low > 1) {
        const int64_t middle = (low + high) / 2, needed = fenp_rows_bytes(n, p, middle);
        if (needed >= 0 && needed <= bytes)
            low = middle;
        else
            high = middle;
    }
    return low;
}

fenp_rows fenp_rows_open(fenp_arena *arena, const fenp_kernel *kernel, const fenp_sample *sample,
                         int64_t slots)
{
    fenp_rows r = {
        .kernel = *kernel, .x = fenp_sample_inputs(sample), .n = sample->n, .slots = slots
    };
    r.store = fenp_arena_doubles(arena, r.slots * r.n);
    r.slot_of = (int64_t *)fenp_arena_doubles(arena, r.n);
    r.row_in = (int64_t *)fenp_arena_doubles(arena, r.slots);
    r.asked = (int64_t *)fenp_arena_doubles(arena, r.slots);
    r.gather = fenp_arena_doubles(arena, FENP_ROWS_AT_ONCE * sample->p);
    for (int64_t i = 0; i < r.n; i++) r.slot_of[i] = -1;
    for (int64_t s = 0; s < r.slots; s++) r.row_in[s] = -1, r.asked[s] = 0;
    return r;
}

/* A slot never used, or the one that was not asked for longest; those of this request are
 * younger than any. */
static int64_t oldest_slot(fenp_rows *r)
{
    if (r->used < r->slots) return r->used++;
    int64_t best = 0;
    for (int64_t s = 1; s < r->slots; s++)
        if (r->asked[s] < r->asked[best]) best = s;
    return best;
}

static void give_slot(fenp_rows *r, int64_t row)
{
    const int64_t s = oldest_slot(r);
    if (r->row_in[s] >= 0) r->slot_of[r->row_in[s]] = -1;
    r->row_in[s] = row;
    r->slot_of[row] = s;
    r->asked[s] = r->clock;
}

static fen_status compute(fenp_rows *r, const int64_t *missing, int64_t count, fen_error *err)
{
    double *out[FENP_ROWS_AT_ONCE];
    const int64_t p = r->x.cols;
    for (int64_t k = 0; k < count; k++) {
        memcpy(r->gather + k * p, r->x.at + missing[k] * r->x.stride, (size_t)p * sizeof(double));
        out[k] = r->store + r->slot_of[missing[k]] * r->n;
    }
    const fen_view rows = { r->gather, count, p, p };
    return fenp_gram_rows(&r->kernel, rows, r->x, out, err);
}

fen_status fenp_rows_fetch(fenp_rows *r, const int64_t *wanted, int64_t count, const double **row,
                           fen_error *err)
{
    int64_t missing[FENP_ROWS_AT_ONCE], lacking = 0;
    fen_status status = FEN_OK;
    r->clock++;
    for (int64_t k = 0; k < count; k++) /* first of all, so that none of them gives way */
        if (r->slot_of[wanted[k]] >= 0) r->asked[r->slot_of[wanted[k]]] = r->clock;
    for (int64_t k = 0; k < count; k++)
        if (r->slot_of[wanted[k]] < 0) {
            give_slot(r, wanted[k]);
            missing[lacking++] = wanted[k];
        }
    if (lacking) status = compute(r, missing, lacking, err);
    for (int64_t k = 0; status != FEN_OK && k < lacking; k++) { /* nothing stands there */
        r->row_in[r->slot_of[missing[k]]] = -1;
        r->slot_of[missing[k]] = -1;
    }
    for (int64_t k = 0; status == FEN_OK && k < count; k++)
        row[k] = r->store + r->slot_of[wanted[k]] * r->n;
    return status;
}
