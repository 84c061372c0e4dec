/* source.c -- training rows that can be read more than once
 *
 * A table is handed out in windows of some MB that copy nothing; a file is read block by
 * block, and opened again for another pass.
 * Special cases: a pipe has no second pass, so it is refused at once; a file that changed
 * between two passes is an error. A table without rows is one empty block, so that there
 * is something to complain about. Memory: one block.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/arena.h"
#include "base/error.h"
#include "data/columns.h"
#include "data/source.h"

enum { WINDOW_CELLS = 1 << 19 }; /* 4 MB of doubles */

struct fenp_source {
    /* a table */
    const fen_table *table; /* NULL: a file                                        */
    fen_table window;
    int64_t next; /* row; or, of a file, blocks so far                   */
    int ended;
    /* a file */
    char *path;
    fen_options options;
    fen_stream *stream; /* NULL: not opened, or at its end                     */
    fen_table *block;
    struct stat about; /* when it was opened first                            */
};

/* ---- tables ------------------------------------------------------------------------------ */
fen_status fenp_source_table(const fen_table *table, fenp_source **out, fen_error *err)
{
    fenp_source *source = fenp_new_zeroed(1, sizeof *source);
    if (!source) return fenp_no_memory(err, sizeof *source, "the rows");
    source->table = table;
    *out = source;
    return FEN_OK;
}

/* Cells, or entries of sparse rows, decide how many rows a window has. */
static int64_t window_rows(const fen_table *table)
{
    const int64_t cells = table->start && table->rows > 0
                              ? 1 + (table->start[table->rows] - table->start[0]) / table->rows
                              : table->cols;
    return cells < WINDOW_CELLS ? WINDOW_CELLS / cells : 1;
}

static void next_window(fenp_source *source, const fen_table **block)
{
    const fen_table *table = source->table;
    const int64_t left = table->rows - source->next, most = window_rows(table);
    *block = NULL;
    if (source->ended) return;
    source->window = fenp_table_window(table, source->next, left < most ? left : most);
    source->next += source->window.rows;
    source->ended = source->next == table->rows;
    *block = &source->window;
}

/* ---- files ------------------------------------------------------------------------------- */
static fen_status cannot_repeat(const char *what, fen_error *err)
{
    return fenp_fail(err, FEN_BAD_DATA,
                     "%.200s cannot be read twice, which is needed here; save it to a file first",
                     what);
}

static fen_status open_again(fenp_source *source, fen_error *err)
{
    struct stat about;
    if (stat(source->path, &about) == 0 &&
        (about.st_size != source->about.st_size || about.st_ino != source->about.st_ino ||
         about.st_mtim.tv_sec != source->about.st_mtim.tv_sec ||
         about.st_mtim.tv_nsec != source->about.st_mtim.tv_nsec))
        return fenp_fail(err, FEN_BAD_DATA,
                         "%.200s changed while it was being read; try again when it is complete",
                         source->path);
    return fen_stream_open(source->path, &source->options, &source->stream, err);
}

fen_status fenp_source_file(const char *path, const fen_options *o, fenp_source **out,
                            fen_error *err)
{
    if (strcmp(path, "-") == 0) return cannot_repeat("the standard input", err);
    fenp_source *source = fenp_new_zeroed(1, sizeof *source);
    char *copy = fenp_strdup(path);
    if (!source || !copy) {
        free(source);
        free(copy);
        return fenp_no_memory(err, sizeof *source, "opening a file");
    }
    source->path = copy;
    source->options = *o;
    fen_status status = FEN_OK;
    if (stat(path, &source->about) == 0 && !S_ISREG(source->about.st_mode) &&
        !S_ISDIR(source->about.st_mode))
        status = cannot_repeat(path, err);
    if (status == FEN_OK) status = fen_stream_open(path, o, &source->stream, err);
    if (status == FEN_OK)
        *out = source;
    else
        fenp_source_close(source);
    return status;
}

static fen_status next_block(fenp_source *source, const fen_table **block, fen_error *err)
{
    fen_table_free(source->block);
    source->block = NULL;
    *block = NULL;
    if (source->ended) return FEN_OK;
    fen_status status = fen_stream_next(source->stream, &source->block, err);
    source->ended = status != FEN_OK || !source->block;
    source->next++;
    *block = source->block;
    return status;
}

/* ---- both -------------------------------------------------------------------------------- */
fen_status fenp_source_rewind(fenp_source *source, fen_error *err)
{
    if (source->next == 0 && !source->ended) return FEN_OK;
    source->next = 0;
    source->ended = 0;
    if (source->table) return FEN_OK;
    fen_table_free(source->block);
    source->block = NULL;
    fen_stream_close(source->stream);
    source->stream = NULL;
    fen_status status = open_again(source, err);
    source->ended = status != FEN_OK;
    return status;
}

fen_status fenp_source_next(fenp_source *source, const fen_table **block, fen_error *err)
{
    if (!source->table) return next_block(source, block, err);
    next_window(source, block);
    return FEN_OK;
}

const char *fenp_source_title(const fenp_source *source)
{
    return source->table ? fenp_table_title(source->table) : source->path;
}

double fenp_source_fraction(const fenp_source *source)
{
    if (source->ended) return 1.0;
    if (source->next == 0) return 0.0;
    if (source->table) return (double)source->next / (double)source->table->rows;
    return fen_stream_fraction(source->stream);
}

void fenp_source_close(fenp_source *source)
{
    if (!source) return;
    fen_table_free(source->block);
    fen_stream_close(source->stream);
    free(source->path);
    free(source);
}
