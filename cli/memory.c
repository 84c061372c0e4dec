/* memory.c -- what --memory and ulimit leave to the process, and its end where BLAS gets none
 *
 * --memory: readers and planner keep to it by what is resident and their own reckoning. What
 *   nobody reckoned with meets RLIMIT_DATA: the allocation fails, and the tool says so with exit
 *   code 5. That limit counts what is reserved, of which a part is never touched: it is what the
 *   process has at the start, twice --memory, and SPARE for the stacks of threads. Memory that is
 *   mapped, not malloced, is the planner's (fenp_arena_open) or OpenBLAS's, and is given beyond.
 * OpenBLAS maps a buffer of 128 MB per thread when it is loaded, before main, and another when a
 *   product begins; it touches some MB of them. Where the system refuses (ulimit -v), it asks
 *   again, for ever. So the mmap of this program, which stands before that of the C library for
 *   all but malloc, ends the process with a sentence. All other callers get what mmap says. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dladdr, syscall */
#endif
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "cli.h"

static const int64_t SPARE = 64 << 20;

/* RLIMIT_DATA counts what VmData counts, in the words of /proc. */
static int64_t data_bytes(void)
{
    long long data = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file) return 0;
    if (fscanf(file, "%*d %*d %*d %*d %*d %lld", &data) != 1) data = 0;
    fclose(file);
    return data * sysconf(_SC_PAGESIZE);
}

void hold_memory(int64_t bytes)
{
    struct rlimit limit;
    const int64_t now = data_bytes();
    if (bytes <= 0 || now <= 0 || bytes > (INT64_MAX - now - SPARE) / 2) return;
    if (getrlimit(RLIMIT_DATA, &limit) != 0) return;
    const rlim_t wanted = (rlim_t)(now + 2 * bytes + SPARE);
    if (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < wanted) return;
    limit.rlim_cur = wanted;
    (void)setrlimit(RLIMIT_DATA, &limit); /* refused: reckoning has to do */
}

#ifndef FENCHEL_SANITIZED /* sanitizers have an mmap of their own */
static int is_blas(const void *caller)
{
    Dl_info about;
    return dladdr(caller, &about) && about.dli_fname && strstr(about.dli_fname, "blas");
}

static void *map(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    return (void *)syscall(SYS_mmap, at, size, protection, flags, fd, offset);
}

/* Beyond --memory, which is a soft limit of ours. */
static void *map_beyond(size_t size, int protection, int flags)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_DATA, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return MAP_FAILED;
    limit.rlim_cur += size;
    if (setrlimit(RLIMIT_DATA, &limit) != 0) return MAP_FAILED;
    return map(NULL, size, protection, flags, -1, 0);
}

__attribute__((visibility("default"))) void *mmap(void *at, size_t size, int protection, int flags,
                                                  int fd, off_t offset)
{
    static const char text[] =
        "fenchel: out of memory: the system leaves no room for the linear algebra (OpenBLAS), "
        "which maps 128 MB twice for every thread; raise the limit (ulimit -v), or use fewer "
        "threads: OMP_NUM_THREADS=1 in the environment and --threads 1\n";
    static atomic_flag said = ATOMIC_FLAG_INIT;
    void *const caller = __builtin_return_address(0);
    void *got = map(at, size, protection, flags, fd, offset);
    if (got != MAP_FAILED || fd >= 0 || errno != ENOMEM) return got;
    got = map_beyond(size, protection, flags);
    if (got != MAP_FAILED || !is_blas(caller)) return got;
    while (atomic_flag_test_and_set(&said)) pause(); /* several threads; one speaks for all */
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0) _exit(EXIT_ROOM); /* nowhere to say it */
    _exit(EXIT_ROOM);
}
#endif
