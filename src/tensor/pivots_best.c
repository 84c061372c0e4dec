/* pivots_best.c -- the largest scores of many
 *
 * Method: scores above the least that counts are gathered; twice as many as are wanted are sorted,
 *   and the better half stays.
 * Special cases: ties: the first point wins.
 * Cost: a comparison for each that is offered, as a rule. */
#include "tensor/pivots_best.h"

#include <stdlib.h>

static int by_score(const void *a, const void *b)
{
    const fenp_scored *x = a, *y = b;
    if (x->score != y->score) return x->score > y->score ? -1 : 1;
    return x->k < y->k ? -1 : x->k > y->k;
}

static int by_number(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

void fenp_best_settle(fenp_best *best)
{
    qsort(best->at, (size_t)best->count, sizeof *best->at, by_score);
    if (best->count < best->want) return;
    best->count = best->want;
    best->least = best->at[best->want - 1].score;
}

void fenp_best_offer(fenp_best *best, double score, int64_t k)
{
    if (!(score > best->least)) return;
    best->at[best->count++] = (fenp_scored){ score, k };
    if (best->count == 2 * best->want) fenp_best_settle(best);
}

int64_t fenp_best_join(const fenp_best *one, const fenp_best *two, int64_t *number)
{
    int64_t count = 0, last = 0;
    for (int64_t i = 0; i < one->count; i++) number[count++] = one->at[i].k;
    for (int64_t i = 0; i < two->count; i++) number[count++] = two->at[i].k;
    qsort(number, (size_t)count, sizeof *number, by_number);
    for (int64_t i = 1; i < count; i++)
        if (number[i] != number[last]) number[++last] = number[i];
    return count > 0 ? last + 1 : 0;
}
