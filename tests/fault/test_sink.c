/* test_sink.c -- a file is the old one or the new one, on file systems with O_TMPFILE and without
 *
 * Law: whatever call on files or allocation fails, and wherever the process dies, the target holds the old bytes
 * or the new ones; FEN_OK says that it is the new ones. Nothing stays beside it but what a dead
 * writer left under a temporary name, and that goes with the next writer to the same target. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* O_TMPFILE */
#endif
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "fenchel/fenchel.h"
#include "support/failing_memory.h"

/* ---- the faults ------------------------------------------------------------------------- */

static int nameless; /* does the file system have O_TMPFILE? */
static int64_t left; /* calls until the fault; 0: none       */
static int fired, open_files;

static int strikes(int why)
{
    if (left == 0 || --left > 0) return 0;
    errno = why;
    return fired = 1;
}

static int no_memory(void) { return strikes(ENOMEM); }

int __real_open(const char *path, int flags, ...);
int __real_close(int file);
int __real_flock(int file, int how);
int __real_fchmod(int file, mode_t mode);
int __real_linkat(int from, const char *name, int to, const char *other, int flags);
int __real_rename(const char *from, const char *to);
ssize_t __real_write(int file, const void *at, size_t size);
int __wrap_open(const char *path, int flags, ...);
int __wrap_close(int file);
int __wrap_flock(int file, int how);
int __wrap_fchmod(int file, mode_t mode);
int __wrap_fsync(int file);
int __wrap_linkat(int from, const char *name, int to, const char *other, int flags);
int __wrap_rename(const char *from, const char *to);
ssize_t __wrap_write(int file, const void *at, size_t size);

int __wrap_open(const char *path, int flags, ...)
{
    const int unnamed = (flags & O_TMPFILE) == O_TMPFILE;
    va_list more;
    va_start(more, flags);
    const mode_t mode = flags & O_CREAT || unnamed ? va_arg(more, mode_t) : 0;
    va_end(more);
    if (strikes(EMFILE)) return -1;
    if (unnamed && !nameless) {
        errno = EOPNOTSUPP;
        return -1;
    }
    const int file = __real_open(path, flags, mode);
    open_files += file >= 0;
    return file;
}

int __wrap_close(int file) /* closes even if it says that it failed, as Linux does */
{
    open_files--;
    const int answer = __real_close(file);
    return strikes(EIO) ? -1 : answer;
}

int __wrap_flock(int file, int how) { return strikes(ENOLCK) ? -1 : __real_flock(file, how); }
int __wrap_fchmod(int file, mode_t mode) { return strikes(EPERM) ? -1 : __real_fchmod(file, mode); }

int __wrap_fsync(int file)
{
    (void)file;
    return strikes(EIO) ? -1 : 0;
}

int __wrap_linkat(int from, const char *name, int to, const char *other, int flags)
{
    return strikes(EMLINK) ? -1 : __real_linkat(from, name, to, other, flags);
}

int __wrap_rename(const char *from, const char *to)
{
    return strikes(EACCES) ? -1 : __real_rename(from, to);
}

ssize_t __wrap_write(int file, const void *at, size_t size)
{
    return strikes(ENOSPC) ? -1 : __real_write(file, at, size);
}

/* ---- files ------------------------------------------------------------------------------ */

static char folder[200], target[256];

static void put(const char *path, const char *text)
{
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    assert_true(fputs(text, out) >= 0);
    assert_int_equal(fclose(out), 0);
}

static int holds(const char *path, const char *text)
{
    char found[64] = "";
    FILE *in = fopen(path, "r");
    if (!in) return !text;
    const size_t got = fread(found, 1, sizeof found - 1, in);
    fclose(in);
    return text && got == strlen(text) && strcmp(found, text) == 0;
}

/* Files in the folder besides the target. */
static int strays(void)
{
    int count = 0;
    DIR *list = opendir(folder);
    assert_non_null(list);
    for (struct dirent *entry; (entry = readdir(list));)
        count += entry->d_name[0] != '.' && strcmp(entry->d_name, "target") != 0;
    closedir(list);
    return count;
}

static fen_status replace(const char *text, fen_error *err)
{
    fen_sink *sink = NULL;
    fen_status status = fen_sink_open(target, &sink, err);
    if (status != FEN_OK) return status;
    status = fen_sink_write(sink, text, (int64_t)strlen(text), err);
    if (status == FEN_OK) return fen_sink_commit(sink, err);
    fen_sink_abandon(sink);
    return status;
}

/* ---- the law ---------------------------------------------------------------------------- */

static void every_call_fails_once(const char *old)
{
    fen_error err = { 0 };
    fired = 1;
    for (int64_t k = 1; fired; k++) {
        unlink(target);
        if (old) put(target, old);
        const int before = open_files;
        fired = 0, left = k;
        const fen_status status = replace("new", &err);
        left = 0;
        assert_int_equal(open_files, before);
        assert_int_equal(strays(), 0);
        assert_true(holds(target, status == FEN_OK ? "new" : old));
        if (status != FEN_OK) {
            assert_true(fired);
            assert_true(status == FEN_IO || status == FEN_MEMORY);
            assert_true(err.message[0]);
        }
        assert_true(k < 100);
    }
}

static void test_faults(void **state)
{
    (void)state;
    for (nameless = 0; nameless < 2; nameless++) {
        every_call_fails_once(NULL);
        every_call_fails_once("what was here before");
    }
}

/* A writer that dies between the first byte and the last. */
static void die_writing(void)
{
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        fen_sink *sink = NULL;
        fen_error err;
        if (fen_sink_open(target, &sink, &err) == FEN_OK) fen_sink_write(sink, "half", 4, &err);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void test_death(void **state)
{
    (void)state;
    fen_error err;
    for (nameless = 0; nameless < 2; nameless++) {
        put(target, "old");
        die_writing();
        die_writing();
        assert_true(holds(target, "old"));
        assert_int_equal(strays(), nameless ? 0 : 1); /* the second cleared what the first left */
        assert_int_equal(replace("new", &err), FEN_OK);
        assert_true(holds(target, "new"));
        assert_int_equal(strays(), 0);
    }
}

/* Of two who write to one place each has a file of its own; the last one wins. */
static void test_two_writers(void **state)
{
    (void)state;
    fen_error err;
    for (nameless = 0; nameless < 2; nameless++) {
        fen_sink *first = NULL;
        put(target, "old");
        assert_int_equal(fen_sink_open(target, &first, &err), FEN_OK);
        assert_int_equal(fen_sink_write(first, "first", 5, &err), FEN_OK);
        assert_int_equal(replace("second", &err), FEN_OK);
        assert_true(holds(target, "second"));
        assert_int_equal(fen_sink_commit(first, &err), FEN_OK);
        assert_true(holds(target, "first"));
        assert_int_equal(strays(), 0);
    }
}

static void test_kinds_of_targets(void **state)
{
    (void)state;
    fen_error err;
    struct stat about;
    char other[256];
    snprintf(other, sizeof other, "%s/other", folder);
    for (nameless = 0; nameless < 2; nameless++) {
        unlink(target);
        put(target, "old");
        assert_int_equal(chmod(target, 0444), 0); /* refused to root, too */
        assert_int_equal(replace("new", &err), FEN_IO);
        assert_non_null(strstr(err.message, "read-only"));
        assert_int_equal(chmod(target, 0604), 0);
        assert_int_equal(link(target, other), 0); /* a second name keeps the old contents */
        assert_int_equal(replace("new", &err), FEN_OK);
        assert_int_equal(stat(target, &about), 0);
        assert_int_equal(about.st_mode & 07777, 0604);
        assert_true(holds(target, "new") && holds(other, "old"));
        assert_int_equal(unlink(target), 0);
        assert_int_equal(symlink("other", target), 0);
        assert_int_equal(replace("by the link", &err), FEN_OK);
        assert_int_equal(lstat(target, &about), 0);
        assert_true(S_ISLNK(about.st_mode) && holds(other, "by the link"));
        assert_int_equal(unlink(other), 0);
        assert_int_equal(strays(), 0);
    }
}

/* The longest name that a folder can hold has a temporary name, too. */
static void test_long_name(void **state)
{
    (void)state;
    fen_error err;
    char name[256];
    memset(name, 'n', 255);
    name[255] = '\0';
    for (nameless = 0; nameless < 2; nameless++) {
        char path[500];
        fen_sink *sink = NULL;
        snprintf(path, sizeof path, "%s/%s", folder, name);
        for (int again = 0; again < 2; again++) {
            assert_int_equal(fen_sink_open(path, &sink, &err), FEN_OK);
            assert_int_equal(fen_sink_write(sink, "long", 4, &err), FEN_OK);
            assert_int_equal(fen_sink_commit(sink, &err), FEN_OK);
            assert_true(holds(path, "long"));
        }
        assert_int_equal(unlink(path), 0);
        assert_int_equal(strays(), 0);
    }
}

/* A name that stands for an open descriptor is that descriptor: what is there stays. */
static void test_descriptor(void **state)
{
    (void)state;
    char path[32];
    fen_sink *sink = NULL;
    fen_error err;
    unlink(target);
    put(target, "before ");
    const int file = open(target, O_WRONLY | O_APPEND);
    assert_true(file >= 0);
    snprintf(path, sizeof path, "/dev/fd/%d", file);
    assert_int_equal(fen_sink_open(path, &sink, &err), FEN_OK);
    assert_int_equal(fen_sink_write(sink, "after", 5, &err), FEN_OK);
    assert_int_equal(fen_sink_commit(sink, &err), FEN_OK);
    close(file);
    assert_true(holds(target, "before after"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faults),      cmocka_unit_test(test_death),
        cmocka_unit_test(test_two_writers), cmocka_unit_test(test_kinds_of_targets),
        cmocka_unit_test(test_long_name),   cmocka_unit_test(test_descriptor),
    };
    const char *where = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%.150s/fenchel-XXXXXX", where ? where : "/tmp");
    if (!mkdtemp(folder)) return 1;
    snprintf(target, sizeof target, "%s/target", folder);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(target);
    rmdir(folder);
    return failed;
}
