/* arena.h -- checked sizes, and one allocation for a whole computation */
#ifndef FENP_ARENA_H
#define FENP_ARENA_H
#include <stddef.h>
#include "fenchel/fenchel.h"

/* a*b*size in bytes, or -1 if that overflows int64_t or any factor is negative. */
int64_t fenp_bytes(int64_t a, int64_t b, int64_t size);
/* malloc / calloc / realloc with checked sizes; NULL on overflow or exhaustion;
 * a count of 0 gives a valid pointer. Freed with free(). */
void *fenp_new(int64_t count, int64_t size);
/* The same for what is written from end to end: large ones in large pages, where the system has
 * them (a page fault for every 2 MB and not for every 4 KB). */
void *fenp_new_large(int64_t count, int64_t size);
void *fenp_new_zeroed(int64_t count, int64_t size);
void *fenp_resize(void *old, int64_t count, int64_t size);
char *fenp_strdup(const char *text);

/* A bump allocator: 64-byte aligned pieces of one block. */
typedef struct fenp_arena { char *base; int64_t size, used; void *small; } fenp_arena;
fen_status fenp_arena_open(fenp_arena *arena, int64_t bytes, const char *what_for, fen_error *err);
double    *fenp_arena_doubles(fenp_arena *arena, int64_t count);  /* never NULL if sized right */
void       fenp_arena_close(fenp_arena *arena);
/* Bytes that count doubles take in an arena, alignment included. */
int64_t    fenp_arena_bytes(int64_t count);
#endif
