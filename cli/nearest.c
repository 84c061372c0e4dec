/* nearest.c -- "did you mean": the name at the least edit distance
 *
 * Insertions, deletions, replacements and swaps of neighbours cost 1 each (optimal
 * string alignment). Near means at most a third of the longer word, and at least 1. */
#include <string.h>
#include "cli.h"

enum { WORD_MAX = 32 };

static int smaller(int a, int b) { return a < b ? a : b; }

static int distance(const char *a, int m, const char *b, int n)
{
    int d[WORD_MAX + 1][WORD_MAX + 1];
    for (int i = 0; i <= m; i++)
        for (int j = 0; j <= n; j++) {
            if (i == 0 || j == 0) {
                d[i][j] = i + j;
                continue;
            }
            int differ = a[i - 1] != b[j - 1];
            d[i][j] = smaller(d[i - 1][j - 1] + differ, 1 + smaller(d[i - 1][j], d[i][j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d[i][j] = smaller(d[i][j], d[i - 2][j - 2] + 1);
        }
    return d[m][n];
}

const char *nearest(const char *wrong, const char *const *names)
{
    const char *best = NULL;
    int least = WORD_MAX, m = (int)strnlen(wrong, WORD_MAX + 1);
    for (int i = 0; names[i] && m <= WORD_MAX; i++) {
        int n = (int)strnlen(names[i], WORD_MAX);
        int far = distance(wrong, m, names[i], n);
        int longer = m > n ? m : n;
        int near_enough = longer < 3 ? far <= 1 : 3 * far <= longer;
        if (near_enough && far < least) {
            least = far;
            best = names[i];
        }
    }
    return best;
}
