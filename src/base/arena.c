/* arena.c -- checked sizes, and one allocation for a whole computation
 *
 * Every size in the library passes through fenp_bytes before it reaches malloc. */
#include <sys/mman.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/error.h"

enum { PAGE = 4096, LARGE = 1 << 25, SMALL = 1 << 21 };
enum { ALIGNMENT = 64 }; /* a cache line, and the widest vector register */

int64_t fenp_bytes(int64_t a, int64_t b, int64_t size)
{
    int64_t product;
    if (a < 0 || b < 0 || size < 0 || __builtin_mul_overflow(a, b, &product) ||
        __builtin_mul_overflow(product, size, &product))
        return -1;
    return product;
}

/* What malloc is asked for: at least one byte, so that NULL always means failure;
 * 0 when the size is impossible. */
static size_t request(int64_t count, int64_t size)
{
    int64_t bytes = fenp_bytes(count, 1, size);
    if (bytes < 0 || (uint64_t)bytes > PTRDIFF_MAX) return 0;
    return bytes > 0 ? (size_t)bytes : 1;
}

void *fenp_new(int64_t count, int64_t size)
{
    size_t bytes = request(count, size);
    return bytes ? malloc(bytes) : NULL;
}

void *fenp_new_large(int64_t count, int64_t size)
{
    char *at = fenp_new(count, size);
    const int64_t bytes = fenp_bytes(count, 1, size);
    if (!at || bytes < LARGE) return at; /* smaller blocks are malloc's own, from a heap */
    const size_t into = (PAGE - (uintptr_t)at % PAGE) % PAGE;
    madvise(at + into, (size_t)bytes - into, MADV_HUGEPAGE);
    return at;
}

void *fenp_new_zeroed(int64_t count, int64_t size)
{
    size_t bytes = request(count, size);
    return bytes ? calloc(bytes, 1) : NULL;
}

void *fenp_resize(void *old, int64_t count, int64_t size)
{
    size_t bytes = request(count, size);
    return bytes ? realloc(old, bytes) : NULL;
}

char *fenp_strdup(const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = malloc(bytes);
    if (copy) memcpy(copy, text, bytes);
    return copy;
}

int64_t fenp_arena_bytes(int64_t count)
{
    int64_t bytes = fenp_bytes(count, 1, sizeof(double));
    if (bytes < 0 || bytes > INT64_MAX - ALIGNMENT) return -1;
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

fen_status fenp_arena_open(fenp_arena *arena, int64_t bytes, const char *what_for, fen_error *err)
{
    *arena = (fenp_arena){ 0 };
    if (bytes < 0 || (uint64_t)bytes > PTRDIFF_MAX - ALIGNMENT)
        return fenp_no_memory(err, -1, what_for);
    int64_t rounded = (bytes / ALIGNMENT + 1) * ALIGNMENT;
    if (rounded < SMALL) { /* pages that the last computation touched are at hand again */
        arena->small = calloc((size_t)rounded + ALIGNMENT, 1);
        if (!arena->small) return fenp_no_memory(err, bytes, what_for);
        arena->base = (char *)arena->small + ALIGNMENT - (uintptr_t)arena->small % ALIGNMENT;
        arena->size = rounded;
        return FEN_OK;
    }
    /* mapped, not malloced: malloc keeps freed blocks of up to 32 MB for later, thread by
     * thread, and the planner could not say what a fit takes */
    arena->base =
        mmap(NULL, (size_t)rounded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (arena->base == MAP_FAILED) {
        arena->base = NULL;
        return fenp_no_memory(err, bytes, what_for);
    }
    /* large pages where the system gives them on demand: matrices walk far at every step */
    madvise(arena->base, (size_t)rounded, MADV_HUGEPAGE);
    arena->size = rounded;
    return FEN_OK;
}

double *fenp_arena_doubles(fenp_arena *arena, int64_t count)
{
    int64_t bytes = fenp_arena_bytes(count);
    if (bytes < 0 || bytes > arena->size - arena->used) return NULL;
    double *piece = (double *)(void *)(arena->base + arena->used);
    arena->used += bytes;
    return piece;
}

void fenp_arena_close(fenp_arena *arena)
{
    if (arena->base && !arena->small) munmap(arena->base, (size_t)arena->size);
    free(arena->small);
    *arena = (fenp_arena){ 0 };
}
