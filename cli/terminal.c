/* terminal.c -- what may reach a terminal
 *
 * Names, labels and texts come from files and must not command the terminal. So stdout and stderr,
 * to which the whole tool prints for people, are streams that show control characters instead of
 * sending them (fen_character_show); line breaks and tabs are the tool's own. JSON keeps its
 * meaning: \u001b is what it would write. Data go to data_out: byte by byte as they are, unless
 * somebody is looking at them. The line of progress, which moves the cursor, goes to plain_err. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* fopencookie */
#endif
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cli.h"

FILE *data_out, *plain_err;

typedef struct filter {
    FILE *to;
    char held[4]; /* the beginning of a character of UTF-8 */
    int count;
} filter;

static filter out, err;

/* Might more bytes make a character of those held? */
static int is_open(const filter *f)
{
    const unsigned char first = (unsigned char)f->held[0];
    const int size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
    return f->count < size &&
           (f->count < 2 || ((unsigned char)f->held[f->count - 1] & 0xc0) == 0x80);
}

static int is_plain(char c) { return (c >= ' ' && c < 0x7f) || c == '\n' || c == '\t'; }

static void put_held(filter *f)
{
    char shown[8] = { 0 };
    while (f->count > 0 && !is_open(f)) {
        int taken = 1;
        if (is_plain(f->held[0]))
            shown[0] = f->held[0], shown[1] = '\0';
        else
            taken = fen_character_show(f->held, f->count, shown);
        fputs(shown, f->to);
        f->count -= taken;
        memmove(f->held, f->held + taken, (size_t)f->count);
    }
}

static ssize_t write_shown(void *cookie, const char *text, size_t size)
{
    filter *f = cookie;
    for (size_t i = 0; i < size; i++) {
        const size_t from = i;
        while (f->count == 0 && i < size && is_plain(text[i])) i++;
        fwrite(text + from, 1, i - from, f->to);
        if (i == size) break;
        f->held[f->count++] = text[i];
        put_held(f);
    }
    return ferror(f->to) ? 0 : (ssize_t)size;
}

static FILE *shown_through(filter *f, FILE *to)
{
    f->to = to;
    FILE *stream = fopencookie(f, "w", (cookie_io_functions_t){ .write = write_shown });
    if (stream) setvbuf(stream, NULL, _IONBF, 0); /* what it writes to has the buffer */
    return stream;
}

int terminal_prepare(void)
{
    FILE *shown_out = shown_through(&out, stdout), *shown_err = shown_through(&err, stderr);
    plain_err = stderr;
    data_out = stdout;
    if (!shown_out || !shown_err) return complain(EXIT_ROOM, "out of memory");
    if (isatty(STDOUT_FILENO)) data_out = shown_out;
    stdout = shown_out; /* variables in the C libraries of GNU */
    stderr = shown_err;
    return EXIT_DONE;
}

const char *printable(const char *text, char *line, size_t size)
{
    size_t used = 0;
    char shown[8];
    for (const char *end = text + strlen(text); text < end && used + sizeof shown < size;) {
        text += fen_character_show(text, end - text, shown);
        used += (size_t)snprintf(line + used, size - used, "%s", shown);
    }
    line[used] = '\0';
    return line;
}

int terminal_flush(void) { return fflush(out.to) != 0 || ferror(out.to); }
