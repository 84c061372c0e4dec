/* stream.c -- files in and out: which format, block by block or whole
 *
 * The format of a file to read is the one asked for, or else the one most sure of itself
 * when shown the first bytes, where a matching ending of the name counts for something; of a
 * file to write, the one asked for or the one whose ending the name has, else CSV.
 * Memory: a table that is read grows by blocks; its rows are never held twice.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/registry.h"
#include "base/text.h"
#include "data/bytes.h"
#include "data/table.h"

enum { ENDING_COUNTS = 40, NAMES_MAX = 16 };
static const double MARGIN = 1.02, ROWS_MOST = 1e15; /* of the rows to be expected */

struct fen_stream {
    fen_bytes *in;
    const fen_format *format;
    void *state;
    int64_t rows; /* handed out so far */
};

/* ---- which format ------------------------------------------------------------------------- */

static fen_status named_format(const char *name, const fen_format **format, fen_error *err)
{
    *format = fenp_find_format(name);
    if (*format) return FEN_OK;
    const char *names[NAMES_MAX + 1] = { NULL };
    for (int i = 0; fenp_formats[i] && i < NAMES_MAX; i++) names[i] = fenp_formats[i]->name;
    const char *nearest = fenp_nearest(name, names);
    if (nearest)
        return fenp_fail(err, FEN_BAD_CALL, "\"%.60s\" is not a file format; did you mean \"%s\"?",
                         name, nearest);
    char known[200] = "";
    fenp_join(names, known, sizeof known);
    return fenp_fail(err, FEN_BAD_CALL, "\"%.60s\" is not a file format; known are %s", name,
                     known);
}

/* Whether the first length bytes of path end with one of the endings (".csv .tsv"). */
static int has_ending(const char *path, size_t length, const char *endings)
{
    while (*endings) {
        size_t size = strcspn(endings, " ");
        if (size > 0 && size < length && strncasecmp(path + length - size, endings, size) == 0)
            return 1;
        endings += size + (endings[size] == ' ');
    }
    return 0;
}

/* Files that hold tables and that others read: their first bytes, and a way to a CSV of them. */
static const struct {
    const char *first, *name, *way;
} foreign[] = {
    { "PAR1", "a Parquet file",
      "pandas.read_parquet(FILE).to_csv(OUT, index=False) in Python makes a CSV of it" },
    { "ARROW1", "an Arrow (Feather) file",
      "pandas.read_feather(FILE).to_csv(OUT, index=False) in Python makes a CSV of it" },
    { "\x89HDF", "a HDF5 file",
      "pandas.read_hdf(FILE).to_csv(OUT, index=False) in Python makes a CSV of it" },
    { "SQLite format 3", "a SQLite database", "sqlite3 -csv -header FILE 'SELECT ...' > OUT" },
    { "\xd0\xcf\x11\xe0", "a spreadsheet (.xls)", "save it as CSV where it was made" },
    { "PK\3\4", "a zip archive or a spreadsheet (.xlsx, .ods)",
      "unzip it; save a spreadsheet as CSV where it was made" },
    { "BZh", "compressed by bzip2", "bzip2 -dc FILE | fenchel ... - reads it" },
    { "\xfd"
      "7zXZ",
      "compressed by xz", "xz -dc FILE | fenchel ... - reads it" },
    { "\x28\xb5\x2f\xfd", "compressed by zstd", "zstd -dc FILE | fenchel ... - reads it" },
};

/* An object, or an array of objects or arrays; a name in a header may begin with a bracket. */
static int is_json(const char *head, int64_t size)
{
    int64_t at = 0;
    char mark[2] = { 0 };
    for (int k = 0; k < 2; k++) {
        while (at < size && strchr(" \t\r\n", head[at])) at++;
        if (at < size) mark[k] = head[at++];
    }
    return (mark[0] == '{' && mark[1] == '"') || (mark[0] == '[' && strchr("[{", mark[1]));
}

static fen_status refuse_foreign(const char *path, const char *head, int64_t size, fen_error *err)
{
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        const size_t length = strlen(foreign[i].first);
        if (size >= (int64_t)length && memcmp(head, foreign[i].first, length) == 0)
            return fenp_fail(err, FEN_BAD_DATA, "%.200s is %s, which is not read here; %s", path,
                             foreign[i].name, foreign[i].way);
    }
    if (!is_json(head, size)) return FEN_OK;
    return fenp_fail(err, FEN_BAD_DATA,
                     "%.200s is JSON, which is not read here; pandas.read_json(FILE%s).to_csv(OUT, "
                     "index=False) in Python makes a CSV of it",
                     path, head[0] == '{' ? ", lines=True" : "");
}

static fen_status format_to_read(fen_bytes *in, const char *path, const char *asked,
                                 const fen_format **format, fen_error *err)
{
    if (asked && *asked && strcmp(asked, "auto") != 0) return named_format(asked, format, err);
    const char *head;
    int64_t size;
    fen_status status = fenp_bytes_peek(in, &head, &size, err);
    if (status != FEN_OK) return status;
    status = refuse_foreign(path, head, size, err);
    if (status != FEN_OK) return status;
    size_t length = strlen(path);
    if (has_ending(path, length, ".gz")) length -= 3;
    int best = -1;
    for (int i = 0; fenp_formats[i]; i++) {
        int sure = fenp_formats[i]->sniff(head, size);
        if (has_ending(path, length, fenp_formats[i]->endings)) sure += ENDING_COUNTS;
        if (sure <= best) continue;
        best = sure;
        *format = fenp_formats[i];
    }
    return FEN_OK;
}

static fen_status format_to_write(const char *path, const char *asked, const fen_format **format,
                                  fen_error *err)
{
    if (has_ending(path, strlen(path), ".gz"))
        return fenp_fail(err, FEN_BAD_CALL,
                         "%.200s: files are not compressed when written; leave the .gz out and "
                         "use gzip",
                         path);
    if (asked && *asked) return named_format(asked, format, err);
    *format = fenp_formats[0];
    for (int i = 0; fenp_formats[i]; i++)
        if (has_ending(path, strlen(path), fenp_formats[i]->endings)) *format = fenp_formats[i];
    return FEN_OK;
}

/* ---- reading ----------------------------------------------------------------------------- */

fen_status fen_stream_open(const char *path, const fen_options *o, fen_stream **out, fen_error *err)
{
    fen_stream *stream = fenp_new_zeroed(1, sizeof *stream);
    if (!stream) return fenp_no_memory(err, sizeof *stream, "opening a file");
    fen_status status = fenp_bytes_open(path, &stream->in, err);
    if (status == FEN_OK)
        status = format_to_read(stream->in, path, o->format, &stream->format, err);
    if (status == FEN_OK) status = stream->format->open(stream->in, o, &stream->state, err);
    if (status != FEN_OK)
        fen_stream_close(stream);
    else
        *out = stream;
    return status;
}

fen_status fen_stream_next(fen_stream *stream, fen_table **block, fen_error *err)
{
    fen_status status = stream->format->next(stream->state, block, err);
    if (status != FEN_OK || !*block) return status;
    (*block)->first_row = stream->rows;
    stream->rows += (*block)->rows;
    return FEN_OK;
}

double fen_stream_fraction(const fen_stream *stream) { return fenp_bytes_fraction(stream->in); }

void fen_stream_close(fen_stream *stream)
{
    if (!stream) return;
    if (stream->state) stream->format->close(stream->state);
    fenp_bytes_close(stream->in);
    free(stream);
}

/* The first block becomes the table, the others follow it. Takes block. */
static fen_status gather(fen_table **table, fen_table *block, const fen_options *o, fen_error *err)
{
    if (!*table) {
        *table = block;
        return FEN_OK;
    }
    fen_status status = fenp_table_append(*table, block, err);
    fen_table_free(block);
    if (status == FEN_OK && o->memory_limit_bytes > 0 &&
        fenp_memory_resident() > o->memory_limit_bytes)
        return fenp_fail(err, FEN_MEMORY,
                         "%.200s: its first %lld rows alone take more than --memory, which is %.3g "
                         "GB; raise it or use fewer rows",
                         (*table)->origin, (long long)(*table)->rows,
                         (double)o->memory_limit_bytes / 1e9);
    return status;
}

/* Room for the rows that are to be expected after this part of the file, if they are many. */
static void reserve(fen_table *table, double fraction)
{
    const double rows = MARGIN * (double)table->rows / fraction;
    if (fraction > 0.0 && fraction < 1.0 && rows < ROWS_MOST)
        fenp_table_reserve(table, (int64_t)rows);
}

fen_status fen_table_read(const char *path, const fen_options *o, const fen_host *host,
                          fen_table **out, fen_error *err)
{
    fen_stream *stream;
    fen_status status = fen_stream_open(path, o, &stream, err);
    if (status != FEN_OK) return status;
    fenp_task whole = fenp_task_start(host, 0.0), task = fenp_task_part(&whole, "reading", 0, 1);
    fen_table *table = NULL, *block = NULL;
    do {
        const int first = !table;
        status = fen_stream_next(stream, &block, err);
        if (status == FEN_OK && block) status = gather(&table, block, o, err);
        if (status == FEN_OK && block && first) reserve(table, fen_stream_fraction(stream));
        if (status == FEN_OK) status = fenp_task_at(&task, fen_stream_fraction(stream), err);
    } while (status == FEN_OK && block);
    if (status == FEN_OK && !table)
        status = fenp_fail(err, FEN_BAD_DATA, "%.200s has no rows", path);
    fen_stream_close(stream);
    if (status != FEN_OK)
        fen_table_free(table);
    else
        *out = table;
    return status;
}

/* ---- writing ----------------------------------------------------------------------------- */

typedef struct output {
    const fen_format *format;
    fen_sink *sink;
    void *state;
} output;

static fen_status output_open(output *out, const char *path, const char *asked,
                              const fen_table *first, fen_error *err)
{
    *out = (output){ 0 };
    fen_status status = format_to_write(path, asked, &out->format, err);
    if (status == FEN_OK) status = fen_sink_open(path, &out->sink, err);
    if (status == FEN_OK) status = out->format->begin(out->sink, first, &out->state, err);
    return status;
}

/* Ends the file: there if status is FEN_OK all along, else as it was before. */
static fen_status output_close(output *out, fen_status status, fen_error *err)
{
    if (out->state) {
        fen_status ended = out->format->end(out->state, status == FEN_OK ? err : NULL);
        if (status == FEN_OK) status = ended;
    }
    if (status == FEN_OK) return fen_sink_commit(out->sink, err);
    fen_sink_abandon(out->sink);
    return status;
}

fen_status fen_table_write(const fen_table *table, const char *path, const char *format,
                           fen_error *err)
{
    output out;
    fen_status status = output_open(&out, path, format, table, err);
    if (status == FEN_OK) status = out.format->rows(out.state, table, err);
    return output_close(&out, status, err);
}

/* ---- converting -------------------------------------------------------------------------- */

static int is_regular(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

/* Reads a sparse file to the end for its columns, of which the first block may not have all:
 * *shape gets them, but no rows. */
static fen_status find_shape(const char *path, const fen_options *o, const fenp_task *task,
                             fen_table **shape, fen_error *err)
{
    fen_stream *stream;
    fen_status status = fen_stream_open(path, o, &stream, err);
    if (status != FEN_OK) return status;
    fen_table *first = NULL, *block = NULL;
    status = fen_stream_next(stream, &first, err);
    if (first) first->rows = 0;
    while (status == FEN_OK && first) {
        status = fen_stream_next(stream, &block, err);
        if (status != FEN_OK || !block) break;
        status = fenp_table_widen(first, block, err);
        fen_table_free(block);
        if (status == FEN_OK) status = fenp_task_at(task, fen_stream_fraction(stream), err);
    }
    fen_stream_close(stream);
    if (status != FEN_OK)
        fen_table_free(first);
    else
        *shape = first;
    return status;
}

/* Writes block and what follows it in stream; shape: columns every block is to have, or NULL. */
static fen_status copy_blocks(fen_stream *stream, fen_table *block, const fen_table *shape,
                              const output *out, const fenp_task *task, int64_t *rows,
                              fen_error *err)
{
    fen_status status = FEN_OK;
    while (status == FEN_OK && block) {
        if (shape) status = fenp_table_widen(block, shape, err);
        if (status == FEN_OK) status = out->format->rows(out->state, block, err);
        *rows += block->rows;
        fen_table_free(block);
        block = NULL;
        if (status == FEN_OK) status = fenp_task_at(task, fen_stream_fraction(stream), err);
        if (status == FEN_OK) status = fen_stream_next(stream, &block, err);
    }
    fen_table_free(block);
    return status;
}

fen_status fen_convert(const char *from, const char *to, const char *to_format,
                       const fen_options *o, const fen_host *host, int64_t *rows, fen_error *err)
{
    fen_stream *stream;
    fen_options plain = *o;
    plain.task = "regression"; /* no column holds labels, which keep the blanks around them */
    o = &plain;
    fen_status status = fen_stream_open(from, o, &stream, err);
    if (status != FEN_OK) return status;
    fen_table *first = NULL, *shape = NULL;
    output out = { 0 };
    int64_t count = 0;
    status = fen_stream_next(stream, &first, err);
    if (status == FEN_OK && !first)
        status = fenp_fail(err, FEN_BAD_DATA, "%.200s has no rows", from);
    int twice = first && !first->cells && is_regular(from); /* a pipe can be read only once */
    fenp_task whole = fenp_task_start(host, 0.0);
    fenp_task looking = fenp_task_part(&whole, "reading", 0, 0.5);
    fenp_task copying = fenp_task_part(&whole, "converting", twice ? 0.5 : 0, 1);
    if (status == FEN_OK && twice) status = find_shape(from, o, &looking, &shape, err);
    if (status == FEN_OK) status = output_open(&out, to, to_format, shape ? shape : first, err);
    if (status == FEN_OK)
        status = copy_blocks(stream, first, shape, &out, &copying, &count, err);
    else
        fen_table_free(first);
    status = output_close(&out, status, err);
    fen_table_free(shape);
    fen_stream_close(stream);
    if (status == FEN_OK && rows) *rows = count;
    return status;
}
