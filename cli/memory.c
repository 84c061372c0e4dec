/* memory.c -- the end of the process where ulimit leaves BLAS no memory
 *
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
#include <sys/syscall.h>
#include <unistd.h>
#include "cli.h"

#ifndef FENCHEL_SANITIZED /* sanitizers have an mmap of their own */
static int is_blas(const void *caller)
{
    Dl_info about;
    return dladdr(caller, &about) && about.dli_fname && strstr(about.dli_fname, "blas");
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
    void *got = (void *)syscall(SYS_mmap, at, size, protection, flags, fd, offset);
    if (got != MAP_FAILED || fd >= 0 || errno != ENOMEM || !is_blas(caller)) return got;
    while (atomic_flag_test_and_set(&said)) pause(); /* several threads; one speaks for all */
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0) _exit(EXIT_ROOM); /* nowhere to say it */
    _exit(EXIT_ROOM);
}
#endif
