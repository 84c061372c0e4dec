/* contract.c -- a fully symmetric tensor, each distinct entry once, times a vector
 *
 *     out_i = sum over all (h-1)-tuples t of S_it a^t
 *
 * Method: one index after the other, S'_i1..i(k-1) = sum_j S_i1..i(k-1)j a_j. Entries with the
 *   same first k - 1 members (a prefix) follow each other as a run over the last one, j: S' of the
 *   prefix takes the product of the run and a; and for each distinct member i of the prefix, S' of
 *   the prefix without i, with j in its place, is a run as well, which takes a_i times this one
 *   (but for j = i, which the product has). Nothing is read twice.
 * Special cases: h = 1: the tensor itself.
 * Accuracy: sums in double precision.
 * Cost: 2 h flops for each entry, as fast as memory delivers it while h = 2. */
#include "tensor/contract.h"

#include <string.h>
#include "base/arena.h"
#include "base/linalg.h"
#include "tensor/pivots.h"

int64_t fenp_contract_sets(int64_t n, int64_t h) { return fenp_bytes(h, n + 1, 1); }

/* A run in double precision, two lists of members, and all tensors below the first. */
int64_t fenp_contract_work(int64_t n, int64_t h)
{
    int64_t total = n + 2 * h;
    for (int64_t k = 2; k < h; k++) {
        const int64_t entries = fenp_multisets(n, k);
        if (entries > INT64_MAX / 64 - total) return -1;
        total += entries;
    }
    return total;
}

fenp_contract fenp_contract_open(int64_t n, int64_t h, int64_t *sets)
{
    for (int64_t k = 1; k <= h; k++)
        for (int64_t m = 0; m <= n; m++) sets[(k - 1) * (n + 1) + m] = fenp_multisets(m, k);
    return (fenp_contract){ n, h, sets };
}

/* Where a multiset of `size` stands in the order of all. */
static int64_t place_of(const fenp_contract *c, int64_t size, const int64_t *member)
{
    int64_t place = 0, before = 0;
    for (int64_t i = 0; i < size; i++) {
        const int64_t *sets = c->sets + (size - i - 1) * (c->n + 1);
        place += sets[c->n - before] - sets[c->n - member[i]];
        before = member[i];
    }
    return place;
}

/* One run to all that it has a part in; prefix: k - 1 members, number `number`. */
static void add_run(const fenp_contract *c, int64_t k, const int64_t *prefix, int64_t number,
                    const double *run, const double *a, int64_t *rest, double *out)
{
    const int64_t last = prefix[k - 2], length = c->n - last;
    out[number] += cblas_ddot((int)length, run, 1, a + last, 1);
    for (int64_t i = 0; i < k - 1; i++) {
        const int again = i == k - 2; /* the member that j = i would count twice */
        if (!again && prefix[i] == prefix[i + 1]) continue;
        for (int64_t m = 0, to = 0; m < k - 1; m++)
            if (m != i) rest[to++] = prefix[m];
        rest[k - 2] = last;
        cblas_daxpy((int)(length - again), a[prefix[i]], run + again, 1,
                    out + place_of(c, k - 1, rest) + again, 1);
    }
}

/* One index: k of them to k - 1. */
static void one_index(const fenp_contract *c, int64_t k, const float *single, const double *wide,
                      const double *a, double *run, int64_t *member, double *out)
{
    const int64_t prefixes = c->sets[(k - 2) * (c->n + 1) + c->n];
    memset(out, 0, (size_t)prefixes * sizeof *out);
    memset(member, 0, (size_t)k * sizeof *member);
    for (int64_t f = 0; f < prefixes; f++) {
        const int64_t length = c->n - member[k - 2];
        if (single) {
            for (int64_t j = 0; j < length; j++) run[j] = (double)single[j];
            single += length;
        }
        add_run(c, k, member, f, single ? run : wide, a, member + c->h, out);
        if (wide) wide += length;
        fenp_multiset_next(c->n, k - 1, member);
    }
}

void fenp_contract_all(const fenp_contract *c, const float *single, const double *wide,
                       const double *a, double *work, double *out)
{
    double *run = work;
    int64_t *member = (int64_t *)(void *)(work + c->n);
    double *to = work + c->n + 2 * c->h;
    for (int64_t i = 0; i < c->n && c->h == 1; i++) out[i] = single ? (double)single[i] : wide[i];
    for (int64_t k = c->h; k >= 2; k--) {
        if (k == 2) to = out;
        one_index(c, k, single, wide, a, run, member, to);
        single = NULL;
        wide = to;
        to += c->sets[(k - 2) * (c->n + 1) + c->n];
    }
}
