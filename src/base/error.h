/* error.h -- one sentence for the person, one status for the program */
#ifndef FENP_ERROR_H
#define FENP_ERROR_H
#include "fenchel/fenchel.h"

/* Writes status and message into *err (may be NULL) and returns status. */
fen_status fenp_fail(fen_error *err, fen_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* FEN_MEMORY with the amount that could not be had (0: unknown; -1: overflowed). */
fen_status fenp_no_memory(fen_error *err, int64_t bytes, const char *what_for);
/* Work was cut short from outside: there may be an answer so far. */
static inline int fenp_is_end(fen_status status)
{
    return status == FEN_LIMIT || status == FEN_STOPPED;
}
#endif
