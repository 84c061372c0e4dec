/* prepare_part.c -- a random part of rows that come block by block
 *
 * Usable row k has the random number u(seed, k); the rows with the smallest numbers are
 * kept. That is a uniform sample without replacement, and the blocks do not matter.
 * Raw rows wait in a pool, since the preparation is not known before the last row; a pool
 * of twice the wanted size is thinned out to the wanted size, and from then on only rows
 * below its largest number enter it: about keep (1 + log(n / keep)) of n rows do.
 * Memory: twice the rows wanted, and a block.
 */
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/error.h"
#include "base/random.h"
#include "data/prepare_parts.h"

static const uint64_t STREAM = 0x70617274; /* random numbers that nobody else uses */

typedef struct ticket {
    double number;
    int64_t row; /* in the pool, in the order of the file */
} ticket;

struct fenp_part {
    int64_t keep;
    uint64_t seed;
    int64_t seen;    /* usable rows so far                                  */
    double limit;    /* a row with a larger number has no chance            */
    fen_table *pool; /* NULL until there is a row                           */
    ticket *ticket;  /* of the rows in the pool                             */
    int64_t room;
};

fenp_part *fenp_part_new(int64_t keep, uint64_t seed)
{
    fenp_part *part = fenp_new_zeroed(1, sizeof *part);
    if (part) *part = (fenp_part){ .keep = keep, .seed = seed, .limit = 1.0 };
    return part;
}

void fenp_part_free(fenp_part *part)
{
    if (!part) return;
    fen_table_free(part->pool);
    free(part->ticket);
    free(part);
}

/* ---- rows of one table to another -------------------------------------------------------- */
/* Only the picked rows; the columns are those of from. What it owns are the arrays. */
static int copy_dense(const fen_table *from, const int64_t *pick, fen_table *to)
{
    const int64_t bytes = fenp_bytes(to->rows, from->cols, sizeof(double));
    to->cells = fenp_new(bytes, 1);
    for (int64_t i = 0; to->cells && i < to->rows; i++)
        memcpy(to->cells + i * from->cols, from->cells + pick[i] * from->cols,
               (size_t)from->cols * sizeof(double));
    return to->cells ? 0 : -1;
}

static int copy_sparse(const fen_table *from, const int64_t *pick, fen_table *to)
{
    int64_t entries = 0;
    for (int64_t i = 0; i < to->rows; i++)
        entries += from->start[pick[i] + 1] - from->start[pick[i]];
    to->start = fenp_new_zeroed(to->rows + 1, sizeof *to->start);
    to->index = fenp_new(entries, sizeof *to->index);
    to->value = fenp_new(entries, sizeof *to->value);
    to->label = fenp_new(to->rows, sizeof *to->label);
    if (!to->start || !to->index || !to->value || !to->label) return -1;
    for (int64_t i = 0; i < to->rows; i++) {
        const int64_t begin = from->start[pick[i]], at = to->start[i];
        const int64_t count = from->start[pick[i] + 1] - begin;
        memcpy(to->index + at, from->index + begin, (size_t)count * sizeof *to->index);
        memcpy(to->value + at, from->value + begin, (size_t)count * sizeof *to->value);
        to->start[i + 1] = at + count;
        to->label[i] = from->label[pick[i]];
    }
    return 0;
}

static fen_status append_rows(fen_table *to, const fen_table *from, const int64_t *pick,
                              int64_t rows, fen_error *err)
{
    fen_table some = { .rows = rows, .cols = from->cols, .column = from->column };
    const int failed = from->start ? copy_sparse(from, pick, &some) : copy_dense(from, pick, &some);
    fen_status status =
        failed ? fenp_no_memory(err, 0, "a part of the rows") : fenp_table_append(to, &some, err);
    free(some.cells);
    free(some.start);
    free(some.index);
    free(some.value);
    free(some.label);
    return status;
}

/* ---- the pool ----------------------------------------------------------------------------- */
static int by_number(const void *a, const void *b)
{
    const ticket *x = a, *y = b;
    if (x->number != y->number) return x->number < y->number ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static int by_row(const void *a, const void *b)
{
    const ticket *x = a, *y = b;
    return (x->row > y->row) - (x->row < y->row);
}

/* Makes do with the rows of the keep smallest numbers, in the order of the file. */
static fen_status thin_out(fenp_part *part, fen_error *err)
{
    if (!part->pool || part->pool->rows <= part->keep) return FEN_OK;
    qsort(part->ticket, (size_t)part->pool->rows, sizeof *part->ticket, by_number);
    part->limit = part->ticket[part->keep - 1].number;
    qsort(part->ticket, (size_t)part->keep, sizeof *part->ticket, by_row);
    fen_table *thin = fenp_table_new(part->pool->origin);
    int64_t *pick = fenp_new(part->keep, sizeof *pick);
    fen_status status = thin && pick ? FEN_OK : fenp_no_memory(err, 0, "a part of the rows");
    for (int64_t i = 0; status == FEN_OK && i < part->keep; i++) {
        pick[i] = part->ticket[i].row;
        part->ticket[i].row = i;
    }
    if (status == FEN_OK) status = append_rows(thin, part->pool, pick, part->keep, err);
    free(pick);
    if (status != FEN_OK) {
        fen_table_free(thin);
        return status;
    }
    fen_table_free(part->pool);
    part->pool = thin;
    return FEN_OK;
}

/* The rows of the block whose numbers are small enough; their tickets follow the pool's. */
static int64_t draw(fenp_part *part, const fenp_block *block, int64_t *pick)
{
    const int64_t before = part->pool->rows;
    int64_t count = 0;
    for (int64_t i = 0; i < block->rows->n; i++) {
        const double number = fenp_uniform(part->seed, STREAM, (uint64_t)part->seen++);
        if (number > part->limit) continue;
        part->ticket[before + count] = (ticket){ number, before + count };
        pick[count++] = block->pick[i];
    }
    return count;
}

fen_status fenp_part_add(fenp_part *part, const fenp_block *block, fen_error *err)
{
    const fen_table *table = block->binding.table;
    if (!part->pool) part->pool = fenp_table_new(table->origin ? table->origin : "");
    const int64_t room = part->pool ? part->pool->rows + block->rows->n : 0;
    ticket *tickets =
        room > part->room ? fenp_resize(part->ticket, room, sizeof *tickets) : part->ticket;
    int64_t *pick = fenp_new(block->rows->n, sizeof *pick);
    if (tickets) part->ticket = tickets;
    if (tickets && room > part->room) part->room = room;
    if (!part->pool || !pick || (!tickets && room > 0)) {
        free(pick);
        return fenp_no_memory(err, room * (int64_t)sizeof *tickets, "a part of the rows");
    }
    const int64_t count = draw(part, block, pick);
    fen_status status = count > 0 ? append_rows(part->pool, table, pick, count, err) : FEN_OK;
    free(pick);
    if (status != FEN_OK || part->pool->rows < 2 * part->keep) return status;
    return thin_out(part, err);
}

fen_status fenp_part_sample(fenp_part *part, const fenp_prep *prep, fenp_sample **out,
                            fen_error *err)
{
    fen_status status = thin_out(part, err);
    if (status != FEN_OK) return status;
    fenp_block block;
    fenp_sample *sample = NULL;
    status = fenp_block_open(prep, part->pool, &block, err);
    if (status != FEN_OK) return status;
    status = fenp_block_features(prep, &block, &sample, err);
    fenp_block_close(&block);
    if (status != FEN_OK) return status;
    for (int64_t i = 0; i < sample->n; i++) sample->w[i] /= sample->weight_sum;
    *out = sample;
    return FEN_OK;
}
