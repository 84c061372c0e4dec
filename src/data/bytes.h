/* bytes.h -- a plain or gzipped file as a stream of bytes, and an atomic file to write */
#ifndef FENP_BYTES_H
#define FENP_BYTES_H
#include "fenchel/extend.h"

/* --- reading: fills caller's buffers; gz is recognised by its first two bytes */
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

/* --- writing: path + ".tmp-PID-K" beside it; fsync and rename on commit; "-" and
 * non-regular targets (pipes, /dev/stdout) are written straight through. */
typedef struct fenp_sink fenp_sink;
fen_status  fenp_sink_open(const char *path, fenp_sink **out, fen_error *err);
fen_status  fenp_sink_write(fenp_sink *sink, const void *at, int64_t size, fen_error *err);
fen_status  fenp_sink_seek(fenp_sink *sink, int64_t offset, fen_error *err);
const char *fenp_sink_name(const fenp_sink *sink);       /* path, as it was given */
/* Ends it either way: the file is there whole, or is as it was before. Frees sink. */
fen_status  fenp_sink_commit(fenp_sink *sink, fen_error *err);
void        fenp_sink_abandon(fenp_sink *sink);
#endif
