/* json.c -- Jansson with our number rules: 17 digits, infinities and NaN as null */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"

enum { FORMAT = JSON_REAL_PRECISION(17) };

json_t *fenp_json_number(double value) { return isfinite(value) ? json_real(value) : json_null(); }

json_t *fenp_json_numbers(const double *values, int64_t count)
{
    if (count == 1) return fenp_json_number(values[0]);
    json_t *array = json_array();
    for (int64_t i = 0; array && i < count; i++)
        if (json_array_append_new(array, fenp_json_number(values[i])) != 0) {
            json_decref(array);
            array = NULL;
        }
    return array;
}

json_t *fenp_json_strings(char *const *text, int64_t count)
{
    json_t *array = json_array();
    for (int64_t i = 0; array && i < count; i++)
        if (json_array_append_new(array, fenp_json_string(text[i])) != 0) {
            json_decref(array);
            array = NULL;
        }
    return array;
}

/* Bytes of the UTF-8 character at s: 1..4, or 0 if there is none (RFC 3629). */
static int character(const unsigned char *s)
{
    if (s[0] < 0x80) return 1;
    int length = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    if (s[0] < 0xc2 || s[0] > 0xf4) return 0;
    for (int i = 1; i < length; i++) /* also stops at the closing 0 */
        if ((s[i] & 0xc0) != 0x80) return 0;
    int overlong = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90);
    int surrogate = s[0] == 0xed && s[1] >= 0xa0;
    int beyond = s[0] == 0xf4 && s[1] >= 0x90;
    return overlong || surrogate || beyond ? 0 : length;
}

json_t *fenp_json_string(const char *text)
{
    char *clean = fenp_new((int64_t)strlen(text) * 3 + 1, 1), *end = clean;
    if (!clean) return NULL;
    while (*text) {
        int length = character((const unsigned char *)text);
        memcpy(end, length ? text : "\xef\xbf\xbd", length ? (size_t)length : 3);
        end += length ? length : 3;
        text += length ? length : 1;
    }
    *end = '\0';
    json_t *string = json_string(clean);
    free(clean);
    return string;
}

int64_t fenp_json_values(const char *text, int64_t length)
{
    int64_t count = 1;
    int quoted = 0;
    for (int64_t i = 0; i < length; i++) {
        if (quoted && text[i] == '\\')
            i++;
        else if (text[i] == '"')
            quoted = !quoted;
        else
            count += !quoted && (text[i] == ',' || text[i] == '[' || text[i] == '{');
    }
    return count;
}

/* Jansson's lexer drops a byte when its buffer cannot grow and calls other failed
 * allocations bad syntax. So the text is read twice: answers that differ mean that
 * memory ran out on the way. */
fen_status fenp_json_parse(const char *text, int64_t length, json_t **out, fen_error *err)
{
    json_error_t why, again;
    json_t *first = json_loadb(text, (size_t)length, JSON_REJECT_DUPLICATES, &why);
    json_t *second = json_loadb(text, (size_t)length, JSON_REJECT_DUPLICATES, &again);
    int neither = !first && !second;
    int explained = why.text[0] && json_error_code(&why) != json_error_out_of_memory;
    int same = neither ? explained : json_equal(first, second);
    json_decref(second);
    if (!same) {
        json_decref(first);
        return fenp_no_memory(err, length, "the parts of a JSON text");
    }
    *out = first;
    return FEN_OK;
}

typedef struct text {
    char *at;
    size_t length, room;
    int failed; /* for good: Jansson does not ask after every piece */
} text;

static int append(const char *piece, size_t size, void *user)
{
    text *t = user;
    if (t->room - t->length <= size) { /* one more for the end */
        const size_t room = 2 * (t->room + size) + 1024;
        char *longer = fenp_resize(t->at, (int64_t)room, 1);
        t->failed |= !longer;
        if (!longer) return -1;
        t->at = longer, t->room = room;
    }
    memcpy(t->at + t->length, piece, size);
    t->length += size;
    t->at[t->length] = '\0';
    return 0;
}

/* Into memory of our own: free() releases it, whatever allocator the program gave Jansson. */
fen_status fenp_json_text(json_t *value, char **out, fen_error *err)
{
    text t = { 0 };
    const int failed = !value || json_dump_callback(value, append, &t, FORMAT) || t.failed || !t.at;
    json_decref(value);
    if (!failed) {
        *out = t.at;
        return FEN_OK;
    }
    free(t.at);
    return fenp_no_memory(err, (int64_t)t.length, "a JSON text");
}

/* ---- a long list, by threads --------------------------------------------------------- */

enum { FEW = 16 }; /* items that are not worth threads */

/* Released by one thread, later: two would wait for each other in free(). */
static int write_items(const json_t *list, text *part, int64_t count)
{
    int failed = 0;
#pragma omp parallel for schedule(dynamic, 1) reduction(| : failed) if (count > FEW)
    for (int64_t i = 0; i < count; i++)
        failed |= json_dump_callback(json_array_get(list, (size_t)i), append, &part[i], FORMAT) |
                  part[i].failed;
    return failed;
}

/* all, but for the bracket that closes it, then the parts. */
static int join(text *all, const char *key, const text *part, int64_t count)
{
    all->length--;
    int failed = append(", \"", 3, all) | append(key, strlen(key), all) | append("\": [", 4, all);
    for (int64_t i = 0; i < count && !failed; i++)
        failed = (i > 0 && append(", ", 2, all)) || append(part[i].at, part[i].length, all);
    return failed | append("]}", 2, all);
}

fen_status fenp_json_text_with(json_t *head, const char *key, json_t *list, char **out,
                               fen_error *err)
{
    const int64_t count = (int64_t)json_array_size(list);
    text *part = fenp_new_zeroed(count + 1, sizeof *part), all = { 0 };
    int failed = !head || !list || !part || write_items(list, part, count);
    if (!failed) failed = json_dump_callback(head, append, &all, FORMAT) || all.failed;
    if (!failed) failed = join(&all, key, part, count);
    json_decref(head);
    json_decref(list);
    for (int64_t i = 0; part && i < count; i++) free(part[i].at);
    free(part);
    if (!failed) {
        *out = all.at;
        return FEN_OK;
    }
    free(all.at);
    return fenp_no_memory(err, (int64_t)all.length, "a JSON text");
}
