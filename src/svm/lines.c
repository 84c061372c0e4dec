/* lines.c -- a file line by line, whatever the length of the lines */
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/error.h"
#include "svm/parts.h"

enum { FIRST_BYTES = 1 << 16 };

/* Unread bytes move to the front and more of them follow. */
static fen_status fill(fenp_lines *l, fen_error *err)
{
    if (l->at > 0) memmove(l->text, l->text + l->at, (size_t)(l->used - l->at));
    l->used -= l->at;
    l->at = 0;
    if (l->used == l->size) {
        const int64_t size = l->size ? 2 * l->size : FIRST_BYTES;
        char *text = fenp_resize(l->text, size, 1);
        if (!text) return fenp_no_memory(err, size, "a line of text");
        l->text = text;
        l->size = size;
    }
    int64_t got = 0;
    fen_status status = fenp_bytes_read(l->in, l->text + l->used, l->size - l->used, &got, err);
    l->used += got;
    l->ended = got == 0;
    return status;
}

fen_status fenp_lines_next(fenp_lines *l, const char **at, const char **end, fen_error *err)
{
    const char *stop = NULL;
    int64_t seen = 0; /* unread bytes that hold no newline */
    for (;;) {
        const int64_t unread = l->used - l->at;
        if (unread > seen) stop = memchr(l->text + l->at + seen, '\n', (size_t)(unread - seen));
        if (stop || l->ended) break;
        seen = unread;
        fen_status status = fill(l, err);
        if (status != FEN_OK) return status;
    }
    *at = *end = NULL;
    if (l->at == l->used) return FEN_OK;
    *at = l->text + l->at;
    *end = stop ? stop : l->text + l->used;
    l->at = *end - l->text + (stop != NULL);
    l->number++;
    return FEN_OK;
}

void fenp_lines_close(fenp_lines *l)
{
    free(l->text);
    l->text = NULL;
}
