/* files.c -- names of files, and files that appear whole or not at all */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* fopencookie */
#endif
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "cli.h"

/* Where the ending of a name begins, or its end; a leading dot is no ending. */
static size_t ending(const char *path, size_t length)
{
    for (size_t i = length; i > 1 && path[i - 1] != '/'; i--)
        if (path[i - 1] == '.') return path[i - 2] == '/' ? length : i - 1;
    return length;
}

char *model_path(const char *data)
{
    size_t length = strlen(data);
    if (length > 3 && strcmp(data + length - 3, ".gz") == 0) length -= 3;
    length = ending(data, length);
    char *path = malloc(length + sizeof ".fen");
    if (path) {
        memcpy(path, data, length);
        memcpy(path + length, ".fen", sizeof ".fen");
    }
    return path;
}

static int is_standard_output(const char *path) { return !path || strcmp(path, "-") == 0; }

int check_output(const char *path, const char *const *inputs)
{
    struct stat out, in;
    if (is_standard_output(path)) return EXIT_DONE;
    int exists = stat(path, &out) == 0;
    for (int i = 0; exists && inputs[i]; i++)
        if (stat(inputs[i], &in) == 0 && in.st_dev == out.st_dev && in.st_ino == out.st_ino)
            return complain(EXIT_USAGE, "the output %s is the input %s; choose another name", path,
                            inputs[i]);
    if (exists && S_ISDIR(out.st_mode))
        return complain(EXIT_FILE, "%s is a directory; name a file", path);
    if (exists && !S_ISREG(out.st_mode))
        return EXIT_DONE; /* a pipe or a device: only writing will tell */
    fen_sink *trial = NULL;
    fen_error err;
    if (fen_sink_open(path, &trial, &err)) return fail(&err);
    fen_sink_abandon(trial);
    return EXIT_DONE;
}

/* What the stream hands on; a failure is kept, its sentence is said by sink_close. */
static ssize_t pass_on(void *cookie, const char *at, size_t size)
{
    sink *s = cookie;
    return fen_sink_write(s->file, at, (int64_t)size, &s->err) ? 0 : (ssize_t)size;
}

fen_status sink_open(sink *s, const char *path)
{
    *s = (sink){ .stream = data_out };
    if (is_standard_output(path)) return FEN_OK;
    if (fen_sink_open(path, &s->file, &s->err)) return s->err.status;
    s->stream = fopencookie(s, "w", (cookie_io_functions_t){ .write = pass_on });
    if (s->stream) return FEN_OK;
    fen_sink_abandon(s->file);
    s->err = (fen_error){ FEN_MEMORY, "out of memory for writing a file" };
    return FEN_MEMORY;
}

fen_status sink_close(sink *s, int keep)
{
    if (!s->file) return FEN_OK; /* main looks at the standard output last */
    const int whole = fclose(s->stream) == 0 && s->err.status == FEN_OK;
    char path[1024];
    snprintf(path, sizeof path, "%s", fen_sink_name(s->file));
    if (keep && whole && !fen_sink_commit(s->file, &s->err)) note_written(path);
    if (keep && whole) return s->err.status;
    fen_sink_abandon(s->file);
    return keep ? s->err.status : FEN_OK;
}

int run_question(const request *r, question ask, int (*answer)(const request *r, const char *text))
{
    fen_table *data = NULL;
    fen_error err;
    char *text = NULL;
    int code = check_output(r->output, (const char *const[]){ r->operand[0], NULL });
    if (code != EXIT_DONE) return code;
    fen_status status =
        fen_table_read(r->operand[0], &r->options, progress_begin(r->quiet), &data, &err);
    if (!status) status = ask(data, &r->options, progress_begin(r->quiet), &text, &err);
    fen_table_free(data);
    progress_end();
    code = status ? fail(&err) : answer(r, text);
    fen_text_free(text);
    return code;
}
