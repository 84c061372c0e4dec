/* text.c -- small readers of text: whole numbers, fractions, words, lists, near misses
 *
 * Decimal numbers are in number.c. Nothing here looks at the locale: letters are ASCII,
 * other bytes (UTF-8) only ever compare equal to themselves. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/text.h"

enum { NAME_MAX_COMPARED = 64 }; /* a longer name is not a misspelling of an option */
enum { NAMES_COMPARED = 10000 }; /* a table may have millions */
enum { NAMES_LISTED = 20 };      /* nobody reads more of them in a sentence */

static int is_blank(char c) { return c == ' ' || c == '\t'; }
static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

int fenp_parse_int(const char *text, int64_t length, int64_t *value)
{
    const char *p = text, *end = text + length;
    int negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) p++;
    if (p == end) return 0;
    int64_t result = 0;
    for (; p < end; p++) {
        if (*p < '0' || *p > '9') return 0;
        int digit = *p - '0';
        /* downwards for negative numbers, so that INT64_MIN is within reach */
        if (__builtin_mul_overflow(result, 10, &result) ||
            __builtin_add_overflow(result, negative ? -digit : digit, &result))
            return 0;
    }
    *value = result;
    return 1;
}

int fenp_is_not_finite_word(const char *text, int64_t length)
{
    /* C's own, and what Windows wrote until 2015 */
    static const char *const words[] = { "nan",     "inf",     "infinity", "1.#inf", "1.#ind",
                                         "1.#qnan", "1.#snan", "nan(ind)", NULL };
    if (length > 0 && (*text == '-' || *text == '+')) text++, length--;
    for (int i = 0; words[i]; i++) {
        if ((int64_t)strlen(words[i]) != length) continue;
        int64_t k = 0;
        while (k < length && lower(text[k]) == words[i][k]) k++;
        if (k == length) return 1;
    }
    return 0;
}

int fenp_parse_fraction(const char *text, int64_t length, double *value)
{
    const char *slash = memchr(text, '/', (size_t)length);
    if (!slash) return fenp_parse_double(text, length, value);
    double above, below;
    if (!fenp_parse_double(text, slash - text, &above) ||
        !fenp_parse_double(slash + 1, text + length - slash - 1, &below) || below == 0.0)
        return 0;
    *value = above / below;
    return 1;
}

/* Edit distance with transpositions of neighbours (which is what typing gets wrong),
 * letters of either case alike. Rows of the usual table: two back, one back, this. */
static int distance(const char *a, int la, const char *b, int lb)
{
    int rows[3][NAME_MAX_COMPARED + 1];
    int *before = rows[0], *last = rows[1], *now = rows[2];
    for (int j = 0; j <= lb; j++) last[j] = before[j] = j;
    for (int i = 1; i <= la; i++) {
        now[0] = i;
        for (int j = 1; j <= lb; j++) {
            int best = last[j - 1] + (lower(a[i - 1]) != lower(b[j - 1]));
            if (last[j] + 1 < best) best = last[j] + 1;
            if (now[j - 1] + 1 < best) best = now[j - 1] + 1;
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                lower(a[i - 2]) == lower(b[j - 1]) && before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            now[j] = best;
        }
        int *oldest = before;
        before = last;
        last = now;
        now = oldest;
    }
    return last[lb];
}

static const char *member(const void *names, int64_t k, size_t stride)
{
    const char *name;
    memcpy(&name, (const char *)names + (size_t)k * stride, sizeof name);
    return name;
}

const char *fenp_nearest_member(const char *wrong, const void *names, int64_t count, size_t stride)
{
    size_t length = strlen(wrong);
    if (length > NAME_MAX_COMPARED) return NULL;
    const char *nearest = NULL;
    int least = 1 + (int)length / 3; /* one slip in a short word, one per three letters */
    for (int64_t k = 0; k < count && k < NAMES_COMPARED; k++) {
        const char *name = member(names, k, stride);
        size_t other = strlen(name);
        if (other > NAME_MAX_COMPARED) continue;
        int d = distance(wrong, (int)length, name, (int)other);
        /* "no letter in common" is not a near miss, however short the words are */
        if (d >= (int)length && d >= (int)other) continue;
        if (d < least || (d == least && !nearest)) {
            nearest = name;
            least = d;
        }
    }
    return nearest;
}

const char *fenp_nearest(const char *wrong, const char *const *names)
{
    int64_t count = 0;
    while (names[count]) count++;
    return fenp_nearest_member(wrong, names, count, sizeof *names);
}

const char *fenp_suggest(const char *wrong, const char *const (*pairs)[2], const char *const *names)
{
    for (; (*pairs)[0]; pairs++)
        for (int i = 0; names[i] && strcmp((*pairs)[0], wrong) == 0; i++)
            if (strcmp((*pairs)[1], names[i]) == 0) return names[i];
    return fenp_nearest(wrong, names);
}

void fenp_join(const char *const *names, char *out, size_t room)
{
    size_t used = 0;
    for (int i = 0; names[i] && used < room; i++)
        used += (size_t)snprintf(out + used, room - used, "%s%s", i ? ", " : "", names[i]);
}

void fenp_list_members(const void *names, int64_t count, size_t stride, char *out, size_t room)
{
    size_t used = 0;
    int64_t k = 0;
    out[0] = '\0';
    for (; k < count && count <= NAMES_LISTED && used < room; k++)
        used += (size_t)snprintf(out + used, room - used, "%s\"%s\"", k ? ", " : "",
                                 member(names, k, stride));
    if (k < count || used >= room)
        snprintf(out, room, "\"%.60s\" to \"%.60s\"", member(names, 0, stride),
                 member(names, count - 1, stride));
}

int fenp_each_item(const char *list, int (*visit)(void *user, const char *item, int64_t length),
                   void *user)
{
    for (const char *p = list;; p++) {
        const char *end = p + strcspn(p, ",");
        const char *first = p, *last = end;
        while (first < last && is_blank(*first)) first++;
        while (last > first && is_blank(last[-1])) last--;
        if (last > first) {
            int answer = visit(user, first, last - first);
            if (answer) return answer;
        }
        if (!*end) return 0;
        p = end;
    }
}

/* Dividing by a power of ten that is exact gives the double nearest to the short decimal. */
int fenp_print_short(double value, char out[32])
{
    const double size = fabs(value);
    if (!(size > 1e-17 && size < 1e17)) return fenp_print_double(value, out);
    const int decimals = 5 - (int)floor(log10(size));
    const double power = pow(10.0, abs(decimals));
    return fenp_print_double(
        decimals < 0 ? round(value / power) * power : round(value * power) / power, out);
}
