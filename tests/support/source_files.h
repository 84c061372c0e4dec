/* source_files.h -- files of several blocks, and what is learned from them
 *
 * Blocks are some MB of text (CSV 8, svmlight 4) or of cells (npy and tables 4), so the files
 * here are padded with blanks and comments rather than with rows. */
#ifndef TEST_SOURCE_FILES_H
#define TEST_SOURCE_FILES_H
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/random.h"
#include "data/source.h"
#include "support/text_table.h"

enum { ROWS = 20000, PADDING = 1000 };

/* ---- files --------------------------------------------------------------------------------- */
static char folder[200];

static inline int make_folder(void **state)
{
    (void)state;
    const char *where = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%.150s/fenchel-XXXXXX", where ? where : "/tmp");
    return mkdtemp(folder) ? 0 : -1;
}

static inline int remove_folder(void **state)
{
    (void)state;
    DIR *list = opendir(folder);
    for (struct dirent *entry; (entry = readdir(list));)
        if (entry->d_name[0] != '.') unlinkat(dirfd(list), entry->d_name, 0);
    closedir(list);
    return rmdir(folder);
}

/* One of four buffers, in turn. */
static inline const char *in_folder(const char *name)
{
    static char paths[4][300];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static inline FILE *create(const char *name)
{
    FILE *out = fopen(in_folder(name), "w");
    assert_non_null(out);
    return out;
}

static inline double normal(int64_t row, int column)
{
    return fenp_normal(5, (uint64_t)column + 100, (uint64_t)row);
}

/* A row with all that can happen to a column. Levels are of unequal weight, and there are more
 * than fifty; the text column has gaps too. */
static inline void mixed_row(FILE *out, int64_t i)
{
    const int level =
        (int)(60.0 * fenp_uniform(5, 1, (uint64_t)i) * fenp_uniform(5, 2, (uint64_t)i));
    fprintf(out, "%.17g,", 1e9 + normal(i, 0));
    if (i % 7 != 3) fprintf(out, "%.17g", 3.0 * normal(i, 1));
    fprintf(out, ",5,%s", i % 3 ? "8" : ""); /* constant, and constant but for its gaps */
    if (i % 11 == 5)
        fputs(",", out);
    else
        fprintf(out, ",l%d", level);
    fprintf(out, ",%g,%*s%.17g\n", i % 13 == 1 ? 0.0 : 0.25 * (double)(1 + i % 9), PADDING, "",
            normal(i, 2));
}

static inline void mixed_file(const char *name, int64_t rows)
{
    FILE *out = create(name);
    fputs("a,g,k,h,c,w,y\n", out);
    for (int64_t i = 0; i < rows; i++) mixed_row(out, i);
    assert_int_equal(fclose(out), 0);
}

/* x40 and then x0 appear after the first block. */
static inline void sparse_file(const char *name, int64_t rows)
{
    FILE *out = create(name);
    for (int64_t i = 0; i < rows; i++) {
        fprintf(out, "%.17g", normal(i, 0));
        if (i % 5 == 0 && i > rows / 2) fprintf(out, " 0:%.17g", normal(i, 1));
        for (int j = 1 + (int)(i % 4); j < 20; j += 1 + (int)(i % 6))
            fprintf(out, " %d:%.17g", j, 2.0 + normal(i, 1 + j));
        if (i > rows / 3 && i % 2) fprintf(out, " 40:%.17g", normal(i, 30));
        fprintf(out, " # %*s\n", PADDING, "");
    }
    assert_int_equal(fclose(out), 0);
}

/* ---- both ways ------------------------------------------------------------------------------ */
typedef struct streamed {
    fenp_prep *prep;
    fenp_summary summary;
    fenp_sample *part;
} streamed;

static inline fenp_source *open_source(const char *name, const fen_options *o)
{
    fenp_source *source = NULL;
    fen_error err;
    if (fenp_source_file(in_folder(name), o, &source, &err) != FEN_OK) fail_msg("%s", err.message);
    return source;
}

static inline streamed learn_source(fenp_source *source, const fen_options *o, int64_t keep)
{
    streamed s = { NULL, { 0 }, NULL };
    fen_error err;
    if (fenp_prep_learn_source(source, o, keep, &s.prep, &s.summary, &s.part, NULL, &err) != FEN_OK)
        fail_msg("%s", err.message);
    return s;
}

static inline void forget_streamed(streamed *s)
{
    fenp_prep_free(s->prep);
    fenp_sample_free(s->part);
}

static inline learned learn_file(const char *name, const fen_options *o)
{
    fen_table *table = NULL;
    fen_error err;
    if (fen_table_read(in_folder(name), o, NULL, &table, &err) != FEN_OK)
        fail_msg("%s", err.message);
    return learn_table(table, o);
}

static inline void append(const char *name, const char *text)
{
    FILE *out = fopen(in_folder(name), "a");
    assert_non_null(out);
    fputs(text, out);
    assert_int_equal(fclose(out), 0);
}
#endif
