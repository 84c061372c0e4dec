/* failing_memory.h -- every allocation of a program passes here; the includer says which fail
 *
 * Link with --wrap of malloc, calloc, realloc, mmap, munmap and free. */
#ifndef FAILING_MEMORY_H
#define FAILING_MEMORY_H
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/types.h>

static int no_memory(void);      /* the includer's: 1 if this allocation is to fail, errno set */
static int64_t memory_in_use;    /* allocations not yet released                               */

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_mmap(void *at, size_t size, int protection, int flags, int file, off_t offset);
int __real_munmap(void *at, size_t size);
void __real_free(void *old);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_mmap(void *at, size_t size, int protection, int flags, int file, off_t offset);
int __wrap_munmap(void *at, size_t size);
void __wrap_free(void *old);

static void *counted(void *fresh)
{
    memory_in_use += fresh != NULL;
    return fresh;
}

void *__wrap_malloc(size_t size) { return no_memory() ? NULL : counted(__real_malloc(size)); }

void *__wrap_calloc(size_t count, size_t size)
{
    return no_memory() ? NULL : counted(__real_calloc(count, size));
}

void *__wrap_realloc(void *old, size_t size)
{
    if (no_memory()) return NULL;
    void *fresh = __real_realloc(old, size);
    return old ? fresh : counted(fresh);
}

void *__wrap_mmap(void *at, size_t size, int protection, int flags, int file, off_t offset)
{
    return no_memory() ? MAP_FAILED
                       : counted(__real_mmap(at, size, protection, flags, file, offset));
}

int __wrap_munmap(void *at, size_t size)
{
    memory_in_use--;
    return __real_munmap(at, size);
}

void __wrap_free(void *old)
{
    memory_in_use -= old != NULL;
    __real_free(old);
}
#endif
