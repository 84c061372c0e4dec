/* sink.c -- a file that is there whole or not at all
 *
 * Method: bytes go to PATH.tmp-PID-K in the folder of the target; commit syncs it, renames
 *   it over the target and syncs the folder. A symbolic link is followed first, so that the
 *   file it points to is replaced and not the link. The mode of an existing file is kept.
 * Special cases: "-", pipes and devices have no "before" to go back to: written through.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/error.h"
#include "data/bytes.h"

enum { BUFFER = 1 << 18, LINKS = 40, TRIES = 10000 };

struct fenp_sink {
    char *name;               /* as the caller wrote it, for messages */
    char *target, *temporary; /* temporary NULL: written straight through */
    int fd;
    int64_t used;
    char buffer[BUFFER];
};

static fen_status failed(const fenp_sink *sink, fen_error *err)
{
    return fenp_fail(err, FEN_IO, "%s cannot be written: %s", sink->name, strerror(errno));
}

static void release(fenp_sink *sink)
{
    if (sink->fd >= 0) close(sink->fd);
    free(sink->name);
    free(sink->target);
    free(sink->temporary);
    free(sink);
}

/* ---- opening -------------------------------------------------------------------------- */

/* Length of the folder part of path, its slash included. */
static int folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (int)(slash - path) + 1 : 0;
}

/* Follows sink->target through symbolic links, also dangling ones (which realpath refuses). */
static int follow_links(fenp_sink *sink)
{
    for (int i = 0; i < LINKS; i++) {
        char link[PATH_MAX], joined[2 * PATH_MAX];
        ssize_t length = readlink(sink->target, link, sizeof link - 1);
        if (length < 0) return errno == EINVAL || errno == ENOENT ? 0 : -1;
        link[length] = 0;
        int folder = *link == '/' ? 0 : folder_length(sink->target);
        if (folder >= PATH_MAX) break;
        snprintf(joined, sizeof joined, "%.*s%s", folder, sink->target, link);
        char *copy = fenp_strdup(joined);
        if (!copy) return -1;
        free(sink->target);
        sink->target = copy;
    }
    errno = ELOOP;
    return -1;
}

static int open_temporary(fenp_sink *sink, const struct stat *before)
{
    size_t size = strlen(sink->target) + 64;
    sink->temporary = fenp_new((int64_t)size, 1);
    if (!sink->temporary) {
        errno = ENOMEM;
        return -1;
    }
    for (int k = 0; k < TRIES && sink->fd < 0; k++) {
        snprintf(sink->temporary, size, "%s.tmp-%ld-%d", sink->target, (long)getpid(), k);
        sink->fd = open(sink->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (sink->fd < 0 && errno != EEXIST) return -1;
    }
    if (sink->fd >= 0 && before && fchmod(sink->fd, before->st_mode & 07777) != 0) {
        int why = errno;
        unlink(sink->temporary);
        errno = why;
        return -1;
    }
    return sink->fd < 0 ? -1 : 0;
}

static int open_target(fenp_sink *sink)
{
    if (strcmp(sink->name, "-") == 0) {
        sink->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
        return sink->fd < 0 ? -1 : 0;
    }
    struct stat about;
    int exists = stat(sink->target, &about) == 0;
    if (!exists && errno != ENOENT) return -1;
    if (exists && S_ISDIR(about.st_mode)) {
        errno = EISDIR;
        return -1;
    }
    if (exists && !S_ISREG(about.st_mode)) {
        sink->fd = open(sink->target, O_WRONLY | O_CLOEXEC);
        return sink->fd < 0 ? -1 : 0;
    }
    /* a file one may not write is not to be replaced either, though rename could */
    if (exists && access(sink->target, W_OK) != 0) return -1;
    if (follow_links(sink) != 0) return -1;
    return open_temporary(sink, exists ? &about : NULL);
}

fen_status fenp_sink_open(const char *path, fenp_sink **out, fen_error *err)
{
    fenp_sink *sink = fenp_new_zeroed(1, sizeof *sink);
    if (!sink) return fenp_no_memory(err, sizeof *sink, "writing a file");
    sink->fd = -1;
    sink->name = fenp_strdup(path);
    sink->target = fenp_strdup(path);
    if (!sink->name || !sink->target) {
        release(sink);
        return fenp_no_memory(err, (int64_t)strlen(path), "writing a file");
    }
    if (open_target(sink) != 0) {
        fen_status status = failed(sink, err);
        release(sink);
        return status;
    }
    *out = sink;
    return FEN_OK;
}

/* ---- writing -------------------------------------------------------------------------- */

static fen_status write_all(fenp_sink *sink, const char *at, int64_t size, fen_error *err)
{
    while (size > 0) {
        ssize_t n = write(sink->fd, at, (size_t)size);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return failed(sink, err);
        at += n;
        size -= n;
    }
    return FEN_OK;
}

static fen_status flush(fenp_sink *sink, fen_error *err)
{
    int64_t size = sink->used;
    sink->used = 0;
    return write_all(sink, sink->buffer, size, err);
}

fen_status fenp_sink_write(fenp_sink *sink, const void *at, int64_t size, fen_error *err)
{
    if (size > BUFFER - sink->used) {
        fen_status status = flush(sink, err);
        if (status != FEN_OK) return status;
    }
    if (size > BUFFER) return write_all(sink, at, size, err);
    if (size > 0) memcpy(sink->buffer + sink->used, at, (size_t)size);
    sink->used += size;
    return FEN_OK;
}

fen_status fenp_sink_seek(fenp_sink *sink, int64_t offset, fen_error *err)
{
    fen_status status = flush(sink, err);
    if (status != FEN_OK) return status;
    return lseek(sink->fd, offset, SEEK_SET) < 0 ? failed(sink, err) : FEN_OK;
}

const char *fenp_sink_name(const fenp_sink *sink) { return sink->name; }

/* ---- the end ---------------------------------------------------------------------------- */

/* The new name is on disk only once its folder is. Some file systems cannot sync a folder:
 * the data are synced then, and the rename is as safe as that file system makes it. */
static void sync_folder(const fenp_sink *sink)
{
    char folder[PATH_MAX] = ".";
    int length = folder_length(sink->target);
    if (length >= PATH_MAX) return;
    if (length > 0) snprintf(folder, sizeof folder, "%.*s", length, sink->target);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;
    (void)fsync(fd);
    close(fd);
}

static fen_status publish(fenp_sink *sink, fen_error *err)
{
    if (fsync(sink->fd) != 0) return failed(sink, err);
    int fd = sink->fd;
    sink->fd = -1;
    if (close(fd) != 0 || rename(sink->temporary, sink->target) != 0) return failed(sink, err);
    sync_folder(sink);
    return FEN_OK;
}

fen_status fenp_sink_commit(fenp_sink *sink, fen_error *err)
{
    fen_status status = flush(sink, err);
    if (status == FEN_OK && sink->temporary) status = publish(sink, err);
    if (status != FEN_OK) {
        fenp_sink_abandon(sink);
        return status;
    }
    int fd = sink->fd; /* written through: closing may be where a full disk shows */
    sink->fd = -1;
    if (fd >= 0 && close(fd) != 0) status = failed(sink, err);
    release(sink);
    return status;
}

void fenp_sink_abandon(fenp_sink *sink)
{
    if (!sink) return;
    if (sink->temporary) unlink(sink->temporary);
    release(sink);
}
