/* rank.c -- places in the order of what stands there: the largest first, of equal ones the first */
#include <stdlib.h>
#include "cli.h"

typedef struct entry {
    double size;
    int64_t place;
} entry;

static int by_size(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->size != y->size) return x->size < y->size ? 1 : -1;
    return (x->place > y->place) - (x->place < y->place);
}

int64_t *largest_first(int64_t count, double (*size)(const void *of, int64_t k), const void *of)
{
    entry *all = calloc((size_t)count + 1, sizeof *all);
    int64_t *order = all ? calloc((size_t)count + 1, sizeof *order) : NULL;
    for (int64_t k = 0; order && k < count; k++) all[k] = (entry){ size(of, k), k };
    if (order) qsort(all, (size_t)count, sizeof *all, by_size);
    for (int64_t k = 0; order && k < count; k++) order[k] = all[k].place;
    free(all);
    return order;
}
