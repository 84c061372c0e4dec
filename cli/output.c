/* output.c -- numbers, JSON and paragraphs
 *
 * JSON numbers have 17 digits, infinities and NaN are null. The tool never calls
 * setlocale, so printf writes decimal points everywhere. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cli.h"

json_t *json_number(double value) { return isfinite(value) ? json_real(value) : json_null(); }

json_t *json_numbers(const double *values, int64_t count)
{
    if (count == 1) return json_number(values[0]);
    json_t *array = json_array();
    for (int64_t i = 0; i < count; i++) json_array_append_new(array, json_number(values[i]));
    return array;
}

json_t *json_text(const char *text)
{
    json_t *string = json_string(text);
    char *copy = string ? NULL : strdup(text);
    for (char *at = copy; at && *at; at++)
        if ((unsigned char)*at >= 0x80) *at = '?';
    if (copy) string = json_string(copy);
    free(copy);
    return string;
}

/* [padding, text]: Jansson's lexer drops a byte where its buffer cannot grow, and aborts if that was
 * part of an escape. It grows within the padding, whose length tells. */
json_t *json_parse(const char *text)
{
    const size_t length = strlen(text), size = 2 * length + 6;
    char *padded = malloc(size);
    if (padded) snprintf(padded, size, "[\"%*s\",%s]", (int)length, "", text);
    json_t *pair = padded ? json_loads(padded, 0, NULL) : NULL;
    const int whole = pair && json_string_length(json_array_get(pair, 0)) == length;
    json_t *object = whole ? json_incref(json_array_get(pair, 1)) : NULL;
    json_decref(pair);
    free(padded);
    if (!object) complain(EXIT_ROOM, "out of memory while reading a JSON text");
    return object;
}

json_t *model_json(const fen_model *model)
{
    char *text = NULL;
    fen_error err;
    if (fen_model_json(model, &text, &err)) {
        fail(&err);
        return NULL;
    }
    json_t *json = json_parse(text);
    fen_text_free(text);
    return json;
}

int json_print(json_t *object)
{
    int failed = !object || json_dumpf(object, stdout, JSON_REAL_PRECISION(17)) != 0;
    json_decref(object);
    if (failed && !ferror(stdout)) return complain(EXIT_ROOM, "out of memory while writing JSON");
    putchar('\n');
    return EXIT_DONE; /* main looks at stdout last */
}

double json_at(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

double json_at_target(const json_t *object, const char *key, int64_t i)
{
    const json_t *value = json_object_get(object, key);
    if (json_is_array(value)) value = json_array_get(value, (size_t)i);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

const char *json_text_at(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

const char *shortest(double value, char out[32])
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(out, 32, "%.*g", digits, value);
        if (strtod(out, NULL) == value) break;
    }
    return out;
}

/* In quotes where a shell would take it apart. */
const char *shell_word(const char *text, char *out, size_t size)
{
    const int plain = text[0] && !text[strcspn(text, " \t\"'$`\\*?[]#~<>|&;()!")];
    size_t used = 0;
    if (plain) {
        snprintf(out, size, "%s", text);
        return out;
    }
    out[used++] = '\'';
    for (; *text && used + 6 < size; text++)
        if (*text == '\'')
            used += (size_t)snprintf(out + used, size - used, "'\\''");
        else
            out[used++] = *text;
    out[used++] = '\'';
    out[used] = '\0';
    return out;
}

/* RFC 4180: quoted where a separator, a quote or a line break stands in it. */
void csv_name(FILE *out, const char *prefix, const char *name)
{
    const size_t length = strlen(name);
    const int blank =
        length > 0 && ((!prefix[0] && strchr(" \t", name[0])) || strchr(" \t", name[length - 1]));
    const int quote = blank || strpbrk(name, ",\"\r\n") != NULL;
    fprintf(out, "%s%s", quote ? "\"" : "", prefix);
    for (; *name; name++) {
        if (*name == '"') fputc('"', out);
        fputc(*name, out);
    }
    if (quote) fputc('"', out);
}

void csv_number(FILE *out, double value, char end)
{
    char text[32];
    fprintf(out, "%s%c", isfinite(value) ? shortest(value, text) : "", end);
}

const char *bytes_text(double bytes, char out[32])
{
    static const char *const units[] = { "bytes", "kB", "MB", "GB", "TB", "PB" };
    int unit = 0;
    for (; bytes >= 1000 && unit < 5; unit++) bytes /= 1000;
    snprintf(out, 32, unit > 0 && bytes < 100 ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
    return out;
}

const char *seconds_text(double seconds, char out[32])
{
    int64_t whole = (int64_t)(seconds + 0.5);
    if (!(seconds >= 0 && seconds < 1e15))
        snprintf(out, 32, "unknown");
    else if (seconds < 0.01)
        snprintf(out, 32, "%.1f ms", 1e3 * seconds);
    else if (seconds < 10)
        snprintf(out, 32, "%.2g s", seconds);
    else if (whole < 60)
        snprintf(out, 32, "%" PRId64 " s", whole);
    else if (whole < 3600)
        snprintf(out, 32, "%" PRId64 " min %" PRId64 " s", whole / 60, whole % 60);
    else
        snprintf(out, 32, "%" PRId64 " h %" PRId64 " min", whole / 3600, whole % 3600 / 60);
    return out;
}

/* text within 79 columns behind label, continuation lines under its first word. */
void print_wrapped(FILE *out, const char *label, const char *text)
{
    enum { WIDTH = 79 };
    size_t indent = strlen(label), column = indent;
    fputs(label, out);
    int first = 1;
    while (*text) {
        size_t word = strcspn(text, " \n");
        if (!first && column + 1 + word > WIDTH) {
            fprintf(out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (!first) {
            fputc(' ', out);
            column++;
        }
        fprintf(out, "%.*s", (int)word, text);
        column += word;
        text += word;
        first = 0;
        if (*text == '\n') { /* a new paragraph */
            fprintf(out, "\n%*s", (int)indent, "");
            column = indent;
            first = 1;
        }
        text += *text != '\0';
    }
    fputc('\n', out);
}

int report_table(const request *r, int64_t rows, int64_t columns, const char *path)
{
    if (r->json) {
        json_t *json = json_object();
        json_object_set_new(json, "rows", json_integer(rows));
        json_object_set_new(json, "columns", columns > 0 ? json_integer(columns) : json_null());
        json_object_set_new(json, "path", json_text(path));
        return json_print(json);
    }
    char name[1024];
    if (!r->quiet) printf("%s: %" PRId64 " rows\n", printable(path, name, sizeof name), rows);
    return EXIT_DONE;
}
