/* files.c -- names of files, and files that appear whole or not at all */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
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

/* path + ".tmp-PID": beside the file, so that renaming is atomic. */
static char *temporary_name(const char *path)
{
    size_t size = strlen(path) + 32;
    char *name = malloc(size);
    if (name) snprintf(name, size, "%s.tmp-%ld", path, (long)getpid());
    return name;
}

static int create(const char *name)
{
    return open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

static int is_standard_output(const char *path) { return !path || strcmp(path, "-") == 0; }

static int cannot_write(const char *path)
{
    return complain(EXIT_FILE, "%s cannot be written: %s", path, strerror(errno));
}

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
    char *name = temporary_name(path);
    int file = name ? create(name) : -1;
    int code = file < 0 ? cannot_write(path) : EXIT_DONE;
    if (file >= 0) {
        close(file);
        unlink(name);
    }
    free(name);
    return code;
}

int sink_open(sink *s, const char *path)
{
    struct stat out;
    *s = (sink){ .stream = stdout, .path = path };
    if (is_standard_output(path)) return EXIT_DONE;
    if (stat(path, &out) == 0 && !S_ISREG(out.st_mode)) {
        s->stream = fopen(path, "we");
        return s->stream ? EXIT_DONE : cannot_write(path);
    }
    s->temporary = temporary_name(path);
    int file = s->temporary ? create(s->temporary) : -1;
    s->stream = file >= 0 ? fdopen(file, "w") : NULL;
    if (s->stream) {
        remove_when_ended(s->temporary);
        return EXIT_DONE;
    }
    int code = cannot_write(path);
    if (file >= 0) {
        close(file);
        unlink(s->temporary);
    }
    free(s->temporary);
    return code;
}

/* Everything on the disk, then under its name. */
static int finish(sink *s)
{
    int written = fflush(s->stream) == 0 && !ferror(s->stream);
    if (written && s->temporary) written = fsync(fileno(s->stream)) == 0;
    int reason = errno;
    if (fclose(s->stream) != 0 && written) {
        written = 0;
        reason = errno;
    }
    if (written && s->temporary && rename(s->temporary, s->path) != 0) {
        written = 0;
        reason = errno;
    }
    errno = reason;
    return written ? EXIT_DONE : cannot_write(s->path);
}

int sink_close(sink *s, int code)
{
    if (s->stream == stdout) return code; /* main looks at it last */
    if (code == EXIT_DONE)
        code = finish(s);
    else
        fclose(s->stream);
    if (s->temporary && code != EXIT_DONE) unlink(s->temporary);
    remove_when_ended("");
    free(s->temporary);
    return code;
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
