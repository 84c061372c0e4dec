/* bytes.c -- a plain or gzipped file as a stream of bytes
 *
 * Method: raw bytes come from a descriptor or from memory; if the first two are those of
 *   gzip they pass through zlib, several members one after the other. The first HEAD bytes
 *   of the contents are kept for a look before they are handed out.
 * Special cases: "-" is the standard input; a gzip stream that ends early, or whose check
 *   sum is wrong, is an error and not the end of the file.
 * Cost: plain files are read straight into the caller's buffer, large pieces by all threads:
 *   to copy what the system has in memory takes one of them twice as long.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "data/bytes.h"

enum { ROW_MOST = 1 << 30, ROW_LEAST = 1 << 22 };
enum { HEAD = 1 << 16, PACKED = 1 << 18, SHARE = 1 << 18 }; /* SHARE: for one thread */

struct fen_bytes {
    char *name;
    int fd; /* -1: memory */
    const unsigned char *memory;
    int64_t size;  /* of the raw file; 0: unknown */
    int64_t taken; /* raw bytes so far */
    char head[HEAD];
    int64_t head_size, head_used;
    /* gzip */
    int packed, finished; /* finished: between two members */
    z_stream z;
    unsigned char *input; /* PACKED raw bytes */
};

/* ---- raw bytes --------------------------------------------------------------------- */

/* Of a regular file: bytes up to the first that is not there; 0: read() has to say why. */
static ssize_t read_by_threads(int fd, char *out, int64_t size)
{
    const off_t from = lseek(fd, 0, SEEK_CUR);
    int64_t end = size;
    if (from < 0) return 0;
#pragma omp parallel for schedule(static) reduction(min : end)
    for (int64_t at = 0; at < size; at += SHARE) {
        const int64_t want = size - at < SHARE ? size - at : SHARE;
        const ssize_t got = pread(fd, out + at, (size_t)want, from + at);
        if (got < want && at + (got > 0 ? got : 0) < end) end = at + (got > 0 ? got : 0);
    }
    return end > 0 && lseek(fd, from + end, SEEK_SET) >= 0 ? (ssize_t)end : 0;
}

static ssize_t read_patiently(int fd, void *out, int64_t size)
{
    ssize_t n;
    do n = read(fd, out, (size_t)size);
    while (n < 0 && errno == EINTR);
    return n;
}

static fen_status raw_read(fen_bytes *in, void *out, int64_t size, int64_t *got, fen_error *err)
{
    ssize_t n = 0;
    if (in->fd < 0) {
        int64_t left = in->size - in->taken;
        n = (ssize_t)(size < left ? size : left);
        if (n > 0) memcpy(out, in->memory + in->taken, (size_t)n);
    } else {
        if (in->size > 0 && size >= 2 * SHARE) n = read_by_threads(in->fd, out, size);
        if (n == 0) n = read_patiently(in->fd, out, size);
        if (n < 0)
            return fenp_fail(err, FEN_IO, "%s cannot be read: %s", in->name, strerror(errno));
        if (n == 0 && size > 0 && in->taken < in->size)
            return fenp_fail(err, FEN_IO, "%s became shorter while it was read", in->name);
    }
    in->taken += n;
    *got = n;
    return FEN_OK;
}

/* ---- gzip --------------------------------------------------------------------------- */

static fen_status damaged(fen_bytes *in, const char *how, fen_error *err)
{
    return fenp_fail(err, FEN_BAD_DATA, "%s is a damaged gzip file: %s", in->name, how);
}

static fen_status refill(fen_bytes *in, int64_t *got, fen_error *err)
{
    *got = in->z.avail_in;
    if (*got > 0) return FEN_OK;
    fen_status status = raw_read(in, in->input, PACKED, got, err);
    if (status != FEN_OK) return status;
    in->z.next_in = in->input;
    in->z.avail_in = (uInt)*got;
    return FEN_OK;
}

/* After a member: another one may follow; anything else is ignored, as gzip does. */
static fen_status next_member(fen_bytes *in, int *more, fen_error *err)
{
    int64_t got;
    fen_status status = refill(in, &got, err);
    if (status != FEN_OK) return status;
    *more = got > 0 && in->z.next_in[0] == 0x1f;
    if (*more && inflateReset(&in->z) != Z_OK) return damaged(in, "zlib refuses it", err);
    in->finished = !*more;
    return FEN_OK;
}

static fen_status unpack(fen_bytes *in, char *out, int64_t size, int64_t *got, fen_error *err)
{
    const int64_t most = 1 << 30; /* zlib counts in unsigned int */
    in->z.next_out = (unsigned char *)out;
    in->z.avail_out = (uInt)(size < most ? size : most);
    while (in->z.avail_out > 0 && !in->finished) {
        int64_t packed;
        fen_status status = refill(in, &packed, err);
        if (status != FEN_OK) return status;
        if (packed == 0) return damaged(in, "it ends too early", err);
        int answer = inflate(&in->z, Z_NO_FLUSH);
        if (answer == Z_MEM_ERROR) return fenp_no_memory(err, 0, "unpacking a gzip file");
        if (answer == Z_STREAM_END) {
            int more;
            status = next_member(in, &more, err);
            if (status != FEN_OK) return status;
        } else if (answer != Z_OK && answer != Z_BUF_ERROR) {
            return damaged(in, in->z.msg ? in->z.msg : "its contents make no sense", err);
        }
    }
    *got = (char *)in->z.next_out - out;
    return FEN_OK;
}

/* The head read so far is raw: it becomes the first input of zlib. */
static fen_status start_unpacking(fen_bytes *in, fen_error *err)
{
    in->input = fenp_new(PACKED, 1);
    if (!in->input || inflateInit2(&in->z, 16 + MAX_WBITS) != Z_OK)
        return fenp_no_memory(err, PACKED, "unpacking a gzip file");
    in->packed = 1;
    memcpy(in->input, in->head, (size_t)in->head_size);
    in->z.next_in = in->input;
    in->z.avail_in = (uInt)in->head_size;
    in->head_size = 0;
    return FEN_OK;
}

/* ---- the stream ------------------------------------------------------------------------ */

static fen_status contents(fen_bytes *in, char *out, int64_t size, int64_t *got, fen_error *err)
{
    return in->packed ? unpack(in, out, size, got, err) : raw_read(in, out, size, got, err);
}

/* A pipe gives what it has: ask until the head is full or the file ends. */
static fen_status fill_head(fen_bytes *in, fen_error *err)
{
    for (int64_t got = 1; got > 0 && in->head_size < HEAD; in->head_size += got) {
        int64_t room = HEAD - in->head_size;
        fen_status status = contents(in, in->head + in->head_size, room, &got, err);
        if (status != FEN_OK) return status;
    }
    return FEN_OK;
}

static fen_status start(fen_bytes *in, fen_error *err)
{
    fen_status status = fill_head(in, err);
    if (status != FEN_OK) return status;
    if (in->head_size < 2 || memcmp(in->head, "\x1f\x8b", 2) != 0) return FEN_OK;
    status = start_unpacking(in, err);
    return status == FEN_OK ? fill_head(in, err) : status;
}

static fen_bytes *new_bytes(const char *name)
{
    fen_bytes *in = fenp_new_zeroed(1, sizeof *in);
    if (!in) return NULL;
    in->fd = -1;
    in->name = fenp_strdup(name);
    if (in->name) return in;
    free(in);
    return NULL;
}

static fen_status finish_open(fen_bytes *in, fen_bytes **out, fen_error *err)
{
    fen_status status = start(in, err);
    if (status != FEN_OK)
        fenp_bytes_close(in);
    else
        *out = in;
    return status;
}

fen_status fenp_bytes_open(const char *path, fen_bytes **out, fen_error *err)
{
    int standard = strcmp(path, "-") == 0;
    fen_bytes *in = new_bytes(standard ? "standard input" : path);
    if (!in) return fenp_no_memory(err, sizeof *in, "opening a file");
    in->fd = standard ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : open(path, O_RDONLY | O_CLOEXEC);
    struct stat about;
    if (in->fd < 0 || fstat(in->fd, &about) != 0) {
        fen_status status =
            fenp_fail(err, FEN_IO, "%s cannot be opened: %s", in->name, strerror(errno));
        fenp_bytes_close(in);
        return status;
    }
    if (S_ISREG(about.st_mode)) { /* the standard input may have been read in part */
        const off_t from = lseek(in->fd, 0, SEEK_CUR);
        in->size = about.st_size - (from > 0 ? from : 0);
    }
    return finish_open(in, out, err);
}

fen_status fenp_bytes_from_memory(const char *name, const void *at, int64_t size, fen_bytes **out,
                                  fen_error *err)
{
    fen_bytes *in = new_bytes(name);
    if (!in) return fenp_no_memory(err, sizeof *in, "opening a file");
    in->memory = at;
    in->size = size;
    return finish_open(in, out, err);
}

fen_status fenp_bytes_read(fen_bytes *in, char *out, int64_t size, int64_t *got, fen_error *err)
{
    int64_t kept = in->head_size - in->head_used;
    if (kept == 0) return contents(in, out, size, got, err);
    *got = size < kept ? size : kept;
    memcpy(out, in->head + in->head_used, (size_t)*got);
    in->head_used += *got;
    return FEN_OK;
}

fen_status fenp_bytes_peek(fen_bytes *in, const char **head, int64_t *size, fen_error *err)
{
    if (in->head_used > 0)
        return fenp_fail(err, FEN_BAD_CALL, "%s was already being read", in->name);
    *head = in->head;
    *size = in->head_size;
    return FEN_OK;
}

const char *fenp_bytes_name(const fen_bytes *in) { return in->name; }

double fenp_bytes_fraction(const fen_bytes *in)
{
    if (in->size <= 0) return 0.0;
    int64_t waiting = in->packed ? (int64_t)in->z.avail_in : in->head_size - in->head_used;
    double done = (double)(in->taken - waiting) / (double)in->size;
    return done > 1.0 ? 1.0 : done; /* a file may grow while it is read */
}

void fenp_bytes_close(fen_bytes *in)
{
    if (!in) return;
    if (in->packed) inflateEnd(&in->z);
    if (in->fd >= 0) close(in->fd);
    free(in->input);
    free(in->name);
    free(in);
}

/* ---- rows of text ----------------------------------------------------------------------- */

int64_t fenp_row_limit(const fen_options *o)
{
    const int64_t memory =
        o->memory_limit_bytes > 0 ? o->memory_limit_bytes : fenp_memory_available();
    const int64_t share = memory / 4 > ROW_LEAST ? memory / 4 : ROW_LEAST;
    return share < ROW_MOST ? share : ROW_MOST;
}

fen_status fenp_row_too_long(const fen_bytes *in, int64_t line, int64_t limit, fen_error *err)
{
    if (limit == ROW_MOST)
        return fenp_fail(err, FEN_BAD_DATA,
                         "%.200s:%lld: a row of more than 1 GB begins here; is a quote not closed, "
                         "or is this another kind of file?",
                         in->name, (long long)line);
    return fenp_fail(err, FEN_MEMORY,
                     "%.200s:%lld: out of memory: a row of more than %lld MB begins here; raise "
                     "--memory; or is a quote or the end of a line missing?",
                     in->name, (long long)line, (long long)limit / 1000000);
}
