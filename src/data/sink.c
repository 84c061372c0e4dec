/* sink.c -- a file that is there whole or not at all
 *
 * Method: bytes go to a file without a name (O_TMPFILE) in the folder of the target: however the
 *   process ends, the kernel frees it. Commit syncs it and links it to the name of the target;
 *   where that is taken, to a temporary name PATH.tmp-HEX, which is then renamed over it. The
 *   folder is synced last. File systems without O_TMPFILE have the temporary name from the start.
 *   A writer holds a lock (flock) on its file. PATH.tmp-HEX without a lock was left by a process
 *   that is dead, and is removed by whoever writes to PATH next. HEX is 64 random bits: unlike
 *   process numbers they do not recur.
 * Special cases: a symbolic link is followed, the file that it points to is replaced. An existing
 *   file passes on its mode and, where we may set them, its owner and group; other hard links to
 *   it keep the old contents. A file that is read-only for everybody is refused to root, too: it
 *   is replaced and not written to, so that its mode is all that protects it. "-", /dev/stdout,
 *   pipes and devices have no "before" to go back to: written through; a terminal is shown control
 *   characters.
 * Cost: opening reads the folder once. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* O_TMPFILE */
#endif
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/error.h"
#include "fenchel/fenchel.h"

enum { BUFFER = 1 << 18, LINKS = 40, TRIES = 100, HEX = 16 };
static const char MARK[] = ".tmp-";
enum { MARKED = sizeof MARK - 1 + HEX };

struct fen_sink {
    char *name;      /* as the caller wrote it, for messages                */
    char *target;    /* what is replaced; NULL: written straight through    */
    char *temporary; /* beside the target; "": it has no name               */
    int folder;      /* length of the folder part of target, slash included */
    int fd;
    int64_t used;
    char buffer[BUFFER];
};

static fen_status failed(const fen_sink *sink, const char *why, fen_error *err)
{
    return fenp_fail(err, errno == ENOMEM ? FEN_MEMORY : FEN_IO, "%s cannot be written: %s",
                     sink->name, why);
}

static void release(fen_sink *sink)
{
    if (sink->fd >= 0) close(sink->fd); /* and gives up the lock */
    free(sink->name);
    free(sink->target);
    free(sink->temporary);
    free(sink);
}

/* ---- names ------------------------------------------------------------------------------ */

/* Length of the folder part of path, its slash included. */
static int folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (int)(slash - path) + 1 : 0;
}

/* Follows sink->target through symbolic links, also dangling ones (which realpath refuses). */
static int follow_links(fen_sink *sink)
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

/* Bytes of the target's own name that its temporary names begin with: all that fit. */
static int stem_length(const fen_sink *sink)
{
    const size_t length = strlen(sink->target + sink->folder), most = NAME_MAX - MARKED;
    return (int)(length < most ? length : most);
}

static int draw_name(fen_sink *sink)
{
    const int stem = sink->folder + stem_length(sink);
    uint64_t bits;
    if (getrandom(&bits, sizeof bits, 0) != sizeof bits) return -1;
    snprintf(sink->temporary, (size_t)stem + MARKED + 1, "%.*s%s%0*" PRIx64, stem, sink->target,
             MARK, HEX, bits);
    return 0;
}

static int is_temporary_of(const fen_sink *sink, const char *name)
{
    const size_t stem = (size_t)stem_length(sink);
    return strlen(name) == stem + MARKED && strncmp(name, sink->target + sink->folder, stem) == 0 &&
           strncmp(name + stem, MARK, sizeof MARK - 1) == 0 &&
           strspn(name + stem + sizeof MARK - 1, "0123456789abcdef") == HEX;
}

/* "": the path is too long to be one. */
static const char *folder_of(const fen_sink *sink, char out[PATH_MAX])
{
    const int length = sink->folder < PATH_MAX ? sink->folder : 0;
    snprintf(out, PATH_MAX, "%.*s", sink->folder ? length : 1, sink->folder ? sink->target : ".");
    return out;
}

/* Removes what killed writers to the same target left. Where that cannot be done, nothing is lost
 * but room on the disk: failures are not told. */
static void clear_stale(const fen_sink *sink)
{
    char folder[PATH_MAX], stale[PATH_MAX + NAME_MAX + 1];
    DIR *list = opendir(folder_of(sink, folder));
    for (struct dirent *entry; list && (entry = readdir(list));) {
        if (!is_temporary_of(sink, entry->d_name)) continue;
        snprintf(stale, sizeof stale, "%.*s%s", sink->folder, sink->target, entry->d_name);
        const int fd = open(stale, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (fd < 0) continue;
        if (flock(fd, LOCK_EX | LOCK_NB) == 0) unlink(stale);
        close(fd);
    }
    if (list) closedir(list);
}

/* ---- opening ---------------------------------------------------------------------------- */

/* Is linked to a name through /proc: where that is not mounted, it could not become a file. */
static int open_nameless(fen_sink *sink, mode_t mode)
{
    char folder[PATH_MAX];
    if (access("/proc/self/fd", X_OK) != 0) return -1;
    sink->fd = open(folder_of(sink, folder), O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
    if (sink->fd >= 0) (void)flock(sink->fd, LOCK_EX); /* of nobody else's interest until linked */
    return sink->fd < 0 ? -1 : 0;
}

static int open_named(fen_sink *sink, mode_t mode)
{
    for (int k = 0; k < TRIES; k++) {
        struct stat about;
        if (draw_name(sink) != 0) return -1;
        sink->fd = open(sink->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (sink->fd < 0 && errno != EEXIST) return -1;
        if (sink->fd < 0) continue;
        /* between open and flock another writer may have taken it for stale */
        (void)flock(sink->fd, LOCK_EX);
        if (fstat(sink->fd, &about) != 0 || about.st_nlink > 0) return 0;
        close(sink->fd);
        sink->fd = -1;
    }
    errno = EEXIST;
    return -1;
}

/* A user who may not give files away may still give them to a group of theirs. */
static int keep_mode(int fd, const struct stat *before)
{
    const uid_t same = (uid_t)-1;
    if (fchown(fd, before->st_uid, before->st_gid) != 0 && fchown(fd, same, before->st_gid) != 0 &&
        errno != EPERM && errno != EINVAL)
        return -1;
    return fchmod(fd, before->st_mode & 0777);
}

/* 0 or -1 and errno; before: the file that is replaced, or NULL. */
static int open_temporary(fen_sink *sink, const struct stat *before)
{
    const mode_t mode = before ? before->st_mode & 0777 : 0666; /* less the umask */
    sink->folder = folder_length(sink->target);
    sink->temporary = fenp_new_zeroed(sink->folder + stem_length(sink) + MARKED + 1, 1);
    if (!sink->temporary) {
        errno = ENOMEM;
        return -1;
    }
    clear_stale(sink);
    if (open_nameless(sink, mode) != 0 && open_named(sink, mode) != 0) {
        sink->temporary[0] = '\0';
        return -1;
    }
    return before ? keep_mode(sink->fd, before) : 0;
}

/* The descriptor that a path stands for; -1: it is a file's own. */
static int descriptor_of(const char *path)
{
    static const char *const folders[] = { "/dev/fd/", "/proc/self/fd/" };
    if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0) return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0) return STDERR_FILENO;
    for (int i = 0; i < 2; i++) {
        const size_t length = strlen(folders[i]);
        if (strncmp(path, folders[i], length) == 0 && isdigit((unsigned char)path[length]))
            return atoi(path + length);
    }
    return -1;
}

static int open_through(fen_sink *sink, int fd)
{
    free(sink->target);
    sink->target = NULL;
    sink->fd = fd;
    return fd < 0 ? -1 : 0;
}

/* NULL, or why it cannot be opened. */
static const char *open_target(fen_sink *sink)
{
    const int known = descriptor_of(sink->name);
    struct stat about;
    int code;
    if (known >= 0)
        return open_through(sink, fcntl(known, F_DUPFD_CLOEXEC, 0)) ? strerror(errno) : NULL;
    const int exists = stat(sink->target, &about) == 0;
    if (!exists && errno != ENOENT) return strerror(errno);
    if (exists && S_ISDIR(about.st_mode)) return strerror(EISDIR);
    if (exists && !S_ISREG(about.st_mode))
        code = open_through(sink, open(sink->target, O_WRONLY | O_NOCTTY | O_CLOEXEC));
    else if (exists && !(about.st_mode & 0222))
        return "it is read-only; chmod u+w allows it";
    else if (exists && access(sink->target, W_OK) != 0)
        return strerror(errno);
    else
        code = follow_links(sink) ? -1 : open_temporary(sink, exists ? &about : NULL);
    return code ? strerror(errno) : NULL;
}

fen_status fen_sink_open(const char *path, fen_sink **out, fen_error *err)
{
    fen_sink *sink = fenp_new_zeroed(1, sizeof *sink);
    if (!sink) return fenp_no_memory(err, sizeof *sink, "writing a file");
    sink->fd = -1;
    sink->name = fenp_strdup(path);
    sink->target = fenp_strdup(path);
    if (!sink->name || !sink->target) {
        release(sink);
        return fenp_no_memory(err, (int64_t)strlen(path), "writing a file");
    }
    const char *why = open_target(sink);
    if (why) {
        fen_status status = failed(sink, why, err);
        fen_sink_abandon(sink);
        return status;
    }
    *out = sink;
    return FEN_OK;
}

/* ---- writing -------------------------------------------------------------------------- */

static fen_status write_all(fen_sink *sink, const char *at, int64_t size, fen_error *err)
{
    while (size > 0) {
        ssize_t n = write(sink->fd, at, (size_t)size);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return failed(sink, strerror(errno), err);
        at += n;
        size -= n;
    }
    return FEN_OK;
}

/* For a terminal, which would obey what stands in the cells. A character that the end of a buffer
 * cuts in two is shown as its bytes. */
static fen_status write_shown(fen_sink *sink, const char *at, int64_t size, fen_error *err)
{
    char text[4096];
    int64_t used = 0;
    fen_status status = FEN_OK;
    for (const char *end = at + size; at < end && status == FEN_OK;) {
        char shown[8] = { at[0], '\0' };
        at += at[0] == '\n' || at[0] == '\t' ? 1 : fen_character_show(at, end - at, shown);
        const int64_t length = (int64_t)strlen(shown);
        memcpy(text + used, shown, (size_t)length);
        used += length;
        if (at < end && used + (int64_t)sizeof shown <= (int64_t)sizeof text) continue;
        status = write_all(sink, text, used, err);
        used = 0;
    }
    return status;
}

static fen_status write_out(fen_sink *sink, const char *at, int64_t size, fen_error *err)
{
    return (sink->target || !isatty(sink->fd) ? write_all : write_shown)(sink, at, size, err);
}

static fen_status flush(fen_sink *sink, fen_error *err)
{
    int64_t size = sink->used;
    sink->used = 0;
    return write_out(sink, sink->buffer, size, err);
}

fen_status fen_sink_write(fen_sink *sink, const void *at, int64_t size, fen_error *err)
{
    if (size > BUFFER - sink->used) {
        fen_status status = flush(sink, err);
        if (status != FEN_OK) return status;
    }
    if (size > BUFFER) return write_out(sink, at, size, err);
    if (size > 0) memcpy(sink->buffer + sink->used, at, (size_t)size);
    sink->used += size;
    return FEN_OK;
}

fen_status fen_sink_seek(fen_sink *sink, int64_t offset, fen_error *err)
{
    fen_status status = flush(sink, err);
    if (status != FEN_OK || lseek(sink->fd, offset, SEEK_SET) >= 0) return status;
    return failed(sink, strerror(errno), err);
}

const char *fen_sink_name(const fen_sink *sink) { return sink->name; }

/* ---- the end ---------------------------------------------------------------------------- */

static int link_to(const fen_sink *sink, const char *name)
{
    char self[32];
    snprintf(self, sizeof self, "/proc/self/fd/%d", sink->fd);
    return linkat(AT_FDCWD, self, AT_FDCWD, name, AT_SYMLINK_FOLLOW);
}

/* A link replaces no file, a rename does. */
static int link_beside(fen_sink *sink)
{
    for (int k = 0; k < TRIES; k++) {
        if (draw_name(sink) == 0 && link_to(sink, sink->temporary) == 0) return 0;
        sink->temporary[0] = '\0';
        if (errno != EEXIST) break;
    }
    return -1;
}

/* 0, or -1 and errno. */
static int put_in_place(fen_sink *sink)
{
    if (fsync(sink->fd) != 0) return -1;
    if (!*sink->temporary) {
        if (link_to(sink, sink->target) == 0) return 0;
        if (errno != EEXIST || link_beside(sink) != 0) return -1;
    }
    if (rename(sink->temporary, sink->target) != 0) return -1;
    sink->temporary[0] = '\0';
    return 0;
}

/* The new name is on disk only once its folder is. Some file systems cannot sync a folder:
 * the data are synced then, and the rename is as safe as that file system makes it. */
static void sync_folder(const fen_sink *sink)
{
    char folder[PATH_MAX];
    const int fd = open(folder_of(sink, folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;
    (void)fsync(fd);
    close(fd);
}

fen_status fen_sink_commit(fen_sink *sink, fen_error *err)
{
    fen_status status = flush(sink, err);
    if (status == FEN_OK && sink->target) {
        if (put_in_place(sink) != 0)
            status = failed(sink, strerror(errno), err);
        else
            sync_folder(sink);
    } else if (status == FEN_OK) { /* closing may be where a full device shows */
        const int fd = sink->fd;
        sink->fd = -1;
        if (close(fd) != 0) status = failed(sink, strerror(errno), err);
    }
    fen_sink_abandon(sink);
    return status;
}

void fen_sink_abandon(fen_sink *sink)
{
    if (!sink) return;
    if (sink->temporary && *sink->temporary) unlink(sink->temporary);
    release(sink);
}
