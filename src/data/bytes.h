/* bytes.h -- a plain or gzipped file as a stream of bytes */
#ifndef FENP_BYTES_H
#define FENP_BYTES_H
#include "fenchel/extend.h"

/* Fills caller's buffers; gz is recognised by its first two bytes */
fen_status  fenp_bytes_open(const char *path, fen_bytes **out, fen_error *err);
/* A memory area as a file (tests, fuzzing); the area is borrowed. */
fen_status  fenp_bytes_from_memory(const char *name, const void *at, int64_t size,
                                   fen_bytes **out, fen_error *err);
/* Up to size bytes; *got = 0 at the end. */
fen_status  fenp_bytes_read(fen_bytes *in, char *out, int64_t size, int64_t *got, fen_error *err);
/* Looks at the first bytes without taking them. */
fen_status  fenp_bytes_peek(fen_bytes *in, const char **head, int64_t *size, fen_error *err);
const char *fenp_bytes_name(const fen_bytes *in);
double      fenp_bytes_fraction(const fen_bytes *in);    /* of the file on disk */
void        fenp_bytes_close(fen_bytes *in);

/* The longest row of text that is read: 1 GB, or a quarter of --memory (else of what the machine
 * has), since its cells take several times as much. */
int64_t     fenp_row_limit(const fen_options *o);
/* A longer one begins in this line. */
fen_status  fenp_row_too_long(const fen_bytes *in, int64_t line, int64_t limit, fen_error *err);
#endif
