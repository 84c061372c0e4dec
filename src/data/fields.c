/* fields.c -- a small text file as lines of fields
 *
 * Method: the whole file in memory, cut in place. A quoted field ("" is a quote in it) may hold
 *   commas; it ends with its line at the latest. Lines that are blank or begin with # are
 *   skipped; a byte order mark and carriage returns do not matter; .gz is read as well.
 */
#include "data/fields.h"
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/error.h"
#include "data/bytes.h"

enum { FIRST_BYTES = 1 << 12 };

static fen_status read_all(fen_bytes *in, char **text, int64_t *length, fen_error *err)
{
    int64_t size = FIRST_BYTES, used = 0, got = 1;
    fen_status status = FEN_OK;
    while (status == FEN_OK && got > 0) {
        char *more = *text && used < size ? *text : fenp_resize(*text, size *= 2, 1);
        if (!more) return fenp_no_memory(err, size, "a list of columns");
        *text = more;
        status = fenp_bytes_read(in, *text + used, size - used, &got, err);
        used += status == FEN_OK ? got : 0;
        if (used == size) got = 1; /* room for the end of the text */
    }
    if (status == FEN_OK) (*text)[used] = '\0';
    *length = used;
    return status;
}

fen_status fenp_fields_open(const char *path, fenp_fields *out, fen_error *err)
{
    fen_bytes *in = NULL;
    int64_t length = 0;
    *out = (fenp_fields){ .path = path };
    fen_status status = fenp_bytes_open(path, &in, err);
    if (status == FEN_OK) status = read_all(in, &out->text, &length, err);
    if (status == FEN_OK && (int64_t)strlen(out->text) < length)
        status = fenp_fail(err, FEN_BAD_DATA, "%.200s is not a text file", path);
    fenp_bytes_close(in);
    if (status != FEN_OK)
        fenp_fields_close(out);
    else
        out->next = out->text + (strncmp(out->text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0);
    return status;
}

fen_status fenp_no_file(const char *text, const char *option, const char *alternatives,
                        fen_error *err)
{
    if (!strpbrk(text, "./"))
        return fenp_fail(err, FEN_BAD_CALL, "%s%.64s: there is no such file; it may be %s", option,
                         text, alternatives);
    return fenp_fail(err, FEN_IO, "%s%.64s: %.200s; it may be %s", option, text,
                     err ? err->message : "", alternatives);
}

static int blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/* Takes the quotes of a field away; returns where it ended in the line. */
static char *unquote(char *field)
{
    char *from = field + 1, *to = field;
    while (*from && (*from != '"' || from[1] == '"')) {
        from += *from == '"';
        *to++ = *from++;
    }
    from += *from == '"';
    *to = '\0';
    return from;
}

/* One field of a line, ended in place; *at: behind its comma, NULL at the end of the line. */
static char *take_field(char **at)
{
    char *field = *at;
    while (blank(*field)) field++;
    char *end = *field == '"' ? unquote(field) : field;
    char *comma = strchr(end, ',');
    *at = comma ? comma + 1 : NULL;
    if (comma) *comma = '\0';
    if (end != field) return field; /* was quoted */
    char *last = field + strlen(field);
    while (last > field && blank(last[-1])) last--;
    *last = '\0';
    return field;
}

int fenp_fields_next(fenp_fields *in, char **field, int most)
{
    while (*in->next) {
        char *line = in->next, *end = strchr(line, '\n');
        in->next = end ? end + 1 : line + strlen(line);
        if (end) *end = '\0';
        in->line++;
        const char *first = line;
        while (blank(*first)) first++;
        if (*first == '\0' || *first == '#') continue;
        int count = 0;
        for (char *at = line; at; count++) {
            char *found = take_field(&at);
            if (count < most) field[count] = found;
        }
        return count;
    }
    return 0;
}

void fenp_fields_close(fenp_fields *in)
{
    free(in->text);
    in->text = in->next = NULL;
}
