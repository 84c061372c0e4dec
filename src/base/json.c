/* json.c -- Jansson with our number rules: the shortest text that reads back as the same double,
 * infinities and NaN as null
 *
 * Texts are laid out as Jansson does it, but for control characters, which are all \u00XX. With
 * numbers of 17 digits by printf it takes four times as long for a path of coefficients. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"

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

/* [padding, text], so that the buffer of Jansson's lexer grows within the padding: where it cannot
 * grow it drops a byte, and aborts if that was part of an escape. */
static char *pad(const char *text, int64_t length, size_t *size)
{
    char *padded = fenp_new(2 * length + 5, 1), *at = padded;
    if (!padded) return NULL;
    *size = 2 * (size_t)length + 5;
    *at++ = '[', *at++ = '"';
    memset(at, ' ', (size_t)length), at += length;
    *at++ = '"', *at++ = ',';
    memcpy(at, text, (size_t)length), at += length;
    *at = ']';
    return padded;
}

/* Jansson calls failed allocations bad syntax. So the text is read twice: answers that differ, or a
 * padding that lost bytes, mean that memory ran out on the way. */
fen_status fenp_json_parse(const char *text, int64_t length, json_t **out, fen_error *err)
{
    json_error_t why, again;
    size_t size = 0;
    char *padded = pad(text, length, &size);
    if (!padded) return fenp_no_memory(err, 2 * length, "a JSON text");
    json_t *first = json_loadb(padded, size, JSON_REJECT_DUPLICATES, &why);
    json_t *second = json_loadb(padded, size, JSON_REJECT_DUPLICATES, &again);
    const int neither = !first && !second;
    const int explained = why.text[0] && json_error_code(&why) != json_error_out_of_memory;
    const int whole = json_string_length(json_array_get(first, 0)) == (size_t)length;
    const int same = neither ? explained : whole && json_equal(first, second);
    if (same) /* two values with a comma are no JSON text */
        *out = json_array_size(first) == 2 ? json_incref(json_array_get(first, 1)) : NULL;
    json_decref(first);
    json_decref(second);
    free(padded);
    return same ? FEN_OK : fenp_no_memory(err, length, "the parts of a JSON text");
}

/* ---- writing --------------------------------------------------------------------------- */

typedef struct fenp_json_writer {
    char *at;
    size_t length, room;
    int failed; /* for good */
} text;

static void append(text *t, const char *piece, size_t size)
{
    if (t->room - t->length <= size) { /* one more for the end */
        const size_t room = 2 * (t->room + size) + 1024;
        char *longer = t->failed ? NULL : fenp_resize(t->at, (int64_t)room, 1);
        t->failed |= !longer;
        if (!longer) return;
        t->at = longer, t->room = room;
    }
    memcpy(t->at + t->length, piece, size);
    t->length += size;
    t->at[t->length] = '\0';
}

void fenp_write_plain(text *t, const char *json) { append(t, json, strlen(json)); }

/* Characters of a string that stand for themselves, from its start. */
static size_t plain_part(const char *string)
{
    size_t count = 0;
    while ((unsigned char)string[count] >= 0x20 && string[count] != '"' && string[count] != '\\')
        count++;
    return count;
}

void fenp_write_string(text *t, const char *string)
{
    append(t, "\"", 1);
    for (;;) {
        const size_t plain = plain_part(string);
        append(t, string, plain);
        string += plain;
        const unsigned char odd = (unsigned char)*string++;
        if (odd == '\0') break;
        char escape[8];
        snprintf(escape, sizeof escape, odd < 0x20 ? "\\u%04X" : "\\%c", odd);
        fenp_write_plain(t, escape);
    }
    append(t, "\"", 1);
}

/* A whole number gets a point, or a reader would take it for an integer. */
void fenp_write_number(text *t, double value)
{
    char number[40];
    if (!isfinite(value)) {
        append(t, "null", 4);
        return;
    }
    int length = fenp_print_double(value, number);
    if (!memchr(number, '.', (size_t)length) && !memchr(number, 'e', (size_t)length))
        number[length++] = '.', number[length++] = '0';
    append(t, number, (size_t)length);
}

static void append_value(text *t, const json_t *value);

static void append_array(text *t, const json_t *array)
{
    const size_t count = json_array_size(array);
    append(t, "[", 1);
    for (size_t i = 0; i < count; i++) {
        if (i > 0) append(t, ", ", 2);
        append_value(t, json_array_get(array, i));
    }
    append(t, "]", 1);
}

static void append_object(text *t, json_t *object)
{
    append(t, "{", 1);
    for (void *at = json_object_iter(object); at;) {
        fenp_write_string(t, json_object_iter_key(at));
        append(t, ": ", 2);
        append_value(t, json_object_iter_value(at));
        at = json_object_iter_next(object, at);
        if (at) append(t, ", ", 2);
    }
    append(t, "}", 1);
}

static void append_value(text *t, const json_t *value)
{
    char number[32];
    switch (json_typeof(value)) {
    case JSON_OBJECT: append_object(t, (json_t *)value); break;
    case JSON_ARRAY: append_array(t, value); break;
    case JSON_STRING: fenp_write_string(t, json_string_value(value)); break;
    case JSON_REAL: fenp_write_number(t, json_real_value(value)); break;
    case JSON_INTEGER:
        snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        fenp_write_plain(t, number);
        break;
    case JSON_TRUE: fenp_write_plain(t, "true"); break;
    case JSON_FALSE: fenp_write_plain(t, "false"); break;
    default: fenp_write_plain(t, "null");
    }
}

/* Into memory of our own: free() releases it, whatever allocator the program gave Jansson. */
fen_status fenp_json_text(json_t *value, char **out, fen_error *err)
{
    text t = { 0 };
    if (value) append_value(&t, value);
    json_decref(value);
    if (t.at && !t.failed) {
        *out = t.at;
        return FEN_OK;
    }
    free(t.at);
    return fenp_no_memory(err, (int64_t)t.length, "a JSON text");
}

/* ---- a long list, by threads --------------------------------------------------------- */

enum { FEW = 16 }; /* items that are not worth threads */

/* Released by one thread, later: two would wait for each other in free(). */
static int write_items(fenp_json_item *write, const void *of, text *part, int64_t count)
{
    int failed = 0;
#pragma omp parallel for schedule(dynamic, 1) reduction(| : failed) if (count > FEW)
    for (int64_t i = 0; i < count; i++) {
        write(of, i, &part[i]);
        failed |= part[i].failed;
    }
    return failed;
}

/* all, but for the bracket that closes it, then the parts, which are released; in memory that is
 * taken at once. */
static void join(text *all, const char *key, text *part, int64_t count)
{
    size_t length = all->length + strlen(key) * 6 + 16;
    for (int64_t i = 0; i < count; i++) length += part[i].length + 2;
    char *longer = fenp_resize(all->at, (int64_t)length, 1);
    all->failed |= !longer;
    if (!longer) return;
    all->at = longer, all->room = length;
    all->length--;
    append(all, ", ", 2);
    fenp_write_string(all, key);
    append(all, ": [", 3);
    for (int64_t i = 0; i < count; i++) {
        if (i > 0) append(all, ", ", 2);
        append(all, part[i].at, part[i].length);
        free(part[i].at);
        part[i].at = NULL;
    }
    append(all, "]}", 2);
}

fen_status fenp_json_text_items(json_t *head, const char *key, int64_t count, fenp_json_item *write,
                                const void *of, char **out, fen_error *err)
{
    text *part = fenp_new_zeroed(count + 1, sizeof *part), all = { 0 };
    int failed = !head || !part || write_items(write, of, part, count);
    if (!failed) append_value(&all, head);
    if (!failed && !all.failed) join(&all, key, part, count);
    json_decref(head);
    for (int64_t i = 0; part && i < count; i++) free(part[i].at);
    free(part);
    if (!failed && !all.failed) {
        *out = all.at;
        return FEN_OK;
    }
    free(all.at);
    return fenp_no_memory(err, (int64_t)all.length, "a JSON text");
}

static void write_json(const void *list, int64_t item, text *to)
{
    append_value(to, json_array_get(list, (size_t)item));
}

fen_status fenp_json_text_with(json_t *head, const char *key, json_t *list, char **out,
                               fen_error *err)
{
    const int64_t count = (int64_t)json_array_size(list);
    if (!list) {
        json_decref(head);
        head = NULL;
    }
    const fen_status status = fenp_json_text_items(head, key, count, write_json, list, out, err);
    json_decref(list);
    return status;
}
