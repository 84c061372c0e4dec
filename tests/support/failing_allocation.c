/* failing_allocation.c -- preloaded: one allocation of a program fails
 *
 * FAIL_ALLOCATION=K: the K-th call that asks for memory (malloc, calloc, realloc, aligned_alloc,
 * posix_memalign) fails, whoever asks in the tool's name: the tool, libfenchel, jansson, zlib,
 * the streams of the C library. The runtimes of OpenMP and BLAS and popt, which end the
 * process themselves, and the loader are let through, and so is what happens before main.
 * FAIL_ALLOCATION_LOG names a file that gets the number of calls when the program ends, or
 * "failed" when one has. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static _Atomic long calls, unlucky; /* unlucky: the number of the one that fails; 0: none */
static _Atomic int begun;
static _Thread_local int busy; /* dladdr may allocate */

static void note(const char *text)
{
    const char *log = getenv("FAIL_ALLOCATION_LOG");
    const int file = log ? open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : -1;
    if (file < 0 || write(file, text, strlen(text)) < 0) return;
    close(file);
}

__attribute__((constructor)) static void begin(void)
{
    const char *number = getenv("FAIL_ALLOCATION");
    unlucky = number ? atol(number) : 0;
    begun = 1;
}

__attribute__((destructor)) static void end(void)
{
    char text[32];
    begun = 0;
    snprintf(text, sizeof text, "%ld", calls);
    if (unlucky == 0 || calls < unlucky) note(text);
}

static int is_spared(const void *caller)
{
    static const char *const names[] = { "libgomp",  "blas",   "libgfortran",
                                         "ld-linux", "libomp", "libpopt" };
    Dl_info about;
    if (!dladdr(caller, &about) || !about.dli_fname) return 1;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strstr(about.dli_fname, names[i])) return 1;
    return 0;
}

static int fails(const void *caller)
{
    if (!begun || busy) return 0;
    busy = 1;
    const int spared = is_spared(caller), now = !spared && ++calls == unlucky;
    if (now) note("failed");
    busy = 0;
    if (now) errno = ENOMEM;
    return now;
}

#pragma GCC visibility push(default)
#define CALLER __builtin_return_address(0)

void *malloc(size_t size) { return fails(CALLER) ? NULL : __libc_malloc(size); }

void *calloc(size_t count, size_t size)
{
    return fails(CALLER) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size) { return fails(CALLER) ? NULL : __libc_realloc(old, size); }

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails(CALLER) ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    void *at = fails(CALLER) ? NULL : __libc_memalign(alignment, size);
    if (at) *out = at;
    return at ? 0 : ENOMEM;
}
