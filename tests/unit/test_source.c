/* test_source.c -- files read block by block: the same preparation, fingerprint and spread as
 * of the whole table in memory, a part of the rows, errors in late blocks, second passes
 *
 * Blocks are some MB of text (CSV 8, svmlight 4) or of cells (npy and tables 4), so the files
 * here are padded with blanks and comments rather than with rows. */
#include <dirent.h>
#include <fcntl.h>
#include <omp.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include "base/random.h"
#include "data/source.h"
#include "kernel/gram.h"
#include "support/text_table.h"

enum { ROWS = 20000, PADDING = 1000 };

/* ---- files --------------------------------------------------------------------------------- */
static char folder[200];

static int make_folder(void **state)
{
    (void)state;
    const char *where = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%.150s/fenchel-XXXXXX", where ? where : "/tmp");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    DIR *list = opendir(folder);
    for (struct dirent *entry; (entry = readdir(list));)
        if (entry->d_name[0] != '.') unlinkat(dirfd(list), entry->d_name, 0);
    closedir(list);
    return rmdir(folder);
}

/* One of four buffers, in turn. */
static const char *in_folder(const char *name)
{
    static char paths[4][300];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static FILE *create(const char *name)
{
    FILE *out = fopen(in_folder(name), "w");
    assert_non_null(out);
    return out;
}

static double normal(int64_t row, int column)
{
    return fenp_normal(5, (uint64_t)column + 100, (uint64_t)row);
}

/* A row with all that can happen to a column. Levels are of unequal weight, and there are more
 * than fifty; the text column has gaps too. */
static void mixed_row(FILE *out, int64_t i, const char *tail)
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
    fprintf(out, ",%g,%*s%.17g%s", i % 13 == 1 ? 0.0 : 0.25 * (double)(1 + i % 9), PADDING, "",
            normal(i, 2), tail);
}

static void mixed_file(const char *name, int64_t rows)
{
    FILE *out = create(name);
    fputs("a,g,k,h,c,w,y\n", out);
    for (int64_t i = 0; i < rows; i++) mixed_row(out, i, "\n");
    assert_int_equal(fclose(out), 0);
}

/* x40 and then x0 appear after the first block. */
static void sparse_file(const char *name, int64_t rows)
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
    int blocks;
} streamed;

static fenp_source *open_source(const char *name, const fen_options *o)
{
    fenp_source *source = NULL;
    fen_error err;
    if (fenp_source_file(in_folder(name), o, &source, &err) != FEN_OK) fail_msg("%s", err.message);
    return source;
}

static streamed learn_source(fenp_source *source, const fen_options *o, int64_t keep)
{
    streamed s = { NULL, { 0 }, NULL, 0 };
    fen_error err;
    if (fenp_prep_learn_source(source, o, keep, &s.prep, &s.summary, &s.part, NULL, &err) != FEN_OK)
        fail_msg("%s", err.message);
    return s;
}

static void forget_streamed(streamed *s)
{
    fenp_prep_free(s->prep);
    fenp_sample_free(s->part);
}

static learned learn_file(const char *name, const fen_options *o)
{
    fen_table *table = NULL;
    fen_error err;
    if (fen_table_read(in_folder(name), o, NULL, &table, &err) != FEN_OK)
        fail_msg("%s", err.message);
    return learn_table(table, o);
}

/* Relative to the larger of both and unit. */
static void agree(double a, double b, double unit, double tolerance)
{
    if (!(fabs(a - b) <= tolerance * fmax(fmax(fabs(a), fabs(b)), unit)))
        fail_msg("%.17g is not %.17g", a, b);
}

static void same_preparation(const fenp_prep *a, const fenp_prep *b)
{
    assert_true(a->inputs == b->inputs && a->features == b->features && a->targets == b->targets);
    assert_true(a->sparse == b->sparse && fenp_prep_agree(a, b) && fenp_prep_agree(b, a));
    assert_string_equal(a->target[0], b->target[0]);
    for (int64_t j = 0; j < a->inputs; j++) {
        const fenp_input *x = &a->input[j], *y = &b->input[j];
        assert_string_equal(x->name, y->name);
        assert_true(x->text == y->text && x->constant == y->constant && x->gaps == y->gaps);
        assert_int_equal(x->level_count, y->level_count);
        for (int64_t k = 0; k < x->level_count; k++)
            assert_string_equal(x->levels[k], y->levels[k]);
        agree(x->scale, y->scale, 0.0, 1e-12);
        agree(x->fill, y->fill, x->scale, 1e-12);
        agree(x->center, y->center, x->scale, 1e-12);
    }
}

/* 1 / gamma of the mean rule is the mean squared distance; it sums ROWS terms in double. */
static void same_spread(const fenp_sample *s, double spread)
{
    double gamma = 0.0;
    fen_error err;
    assert_int_equal(
        fenp_gamma_mean(fenp_find_kernel("gaussian"), fenp_sample_inputs(s), s->w, &gamma, &err),
        FEN_OK);
    agree(spread, 1.0 / gamma, 0.0, 1e-11);
}

/* A second pass: the blocks, prepared, are the rows of the sample. */
static int same_rows(fenp_source *source, const fenp_prep *prep, const fenp_sample *s)
{
    const fen_table *table;
    fen_error err;
    int64_t row = 0;
    int blocks = 0;
    assert_int_equal(fenp_source_rewind(source, &err), FEN_OK);
    assert_true(fenp_source_fraction(source) < 0.5);
    for (;; blocks++) {
        fenp_sample *b = NULL;
        assert_int_equal(fenp_source_next(source, &table, &err), FEN_OK);
        if (!table) break;
        assert_int_equal(fenp_prep_block(prep, table, &b, &err), FEN_OK);
        assert_true(b->p == s->p && row + b->n <= s->n);
        for (int64_t i = 0; i < b->n; i++, row++) {
            agree(b->w[i] / s->weight_sum, s->w[row], 0.0, 1e-15);
            for (int64_t t = 0; t < s->targets; t++)
                assert_true(b->y[t * b->n + i] == s->y[t * s->n + row]);
            for (int64_t j = 0; j < s->p; j++)
                agree(b->x[i * s->p + j], s->x[row * s->p + j], 1.0, 1e-12);
        }
        fenp_sample_free(b);
    }
    assert_int_equal(row, s->n);
    assert_true(fenp_source_fraction(source) == 1.0);
    return blocks;
}

/* Everything that is learned, from source and from the table in memory; blocks: at least. */
static void same_learning(fenp_source *source, const learned *l, const fen_options *o, int blocks)
{
    streamed s = learn_source(source, o, 0);
    assert_null(s.part);
    same_preparation(s.prep, l->prep);
    assert_true(s.summary.hash == l->s->hash && s.summary.rows == l->s->n);
    assert_int_equal(s.summary.dropped_missing, l->s->dropped_missing);
    assert_int_equal(s.summary.dropped_weightless, l->s->dropped_weightless);
    agree(s.summary.weight_sum, l->s->weight_sum, 0.0, 1e-15);
    same_spread(l->s, s.summary.spread);
    assert_true(same_rows(source, s.prep, l->s) >= blocks);
    fenp_summary again;
    fen_error err;
    int agrees = 0;
    assert_int_equal(fenp_prep_fingerprint(s.prep, source, &again, NULL, &err), FEN_OK);
    assert_true(again.hash == s.summary.hash && again.rows == s.summary.rows);
    assert_true(again.weight_sum == s.summary.weight_sum && again.spread == 0.0);
    assert_int_equal(fenp_prep_check_source(s.prep, source, &agrees, &again, NULL, &err), FEN_OK);
    assert_true(agrees && again.hash == s.summary.hash && again.spread == s.summary.spread);
    forget_streamed(&s);
}

static void file_is_table(const char *name, const fen_options *o, int blocks)
{
    learned l = learn_file(name, o);
    fenp_source *file = open_source(name, o), *table = NULL;
    fen_error err;
    same_learning(file, &l, o, blocks);
    fenp_source_close(file);
    assert_int_equal(fenp_source_table(l.t, &table, &err), FEN_OK);
    same_learning(table, &l, o, 1);
    fenp_source_close(table);
    forget(&l);
}

static void csv(void **state)
{
    (void)state;
    fen_options o = options();
    o.target = "y";
    mixed_file("mixed.csv", ROWS);
    static const char *const scales[] = { "standard", "range", "none" };
    for (int k = 0; k < 3; k++) {
        o.scale = scales[k];
        o.weights = k == 2 ? "" : "w";
        file_is_table("mixed.csv", &o, 3);
    }
    learned l = learn_file("mixed.csv", &o);
    assert_true(l.prep->input[2].constant && l.prep->input[3].constant && l.prep->input[3].gaps);
    assert_int_equal(l.prep->input[4].level_count, 50);
    assert_true(l.prep->input[1].gaps && !l.prep->input[0].gaps);
    forget(&l);
}

static void two_targets(void **state)
{
    (void)state;
    fen_options o = options();
    o.target = "y,a";
    o.weights = "w";
    mixed_file("mixed.csv", ROWS / 2);
    file_is_table("mixed.csv", &o, 2);
}

static void svmlight(void **state)
{
    (void)state;
    fen_options o = options();
    sparse_file("wide.svm", ROWS / 2);
    file_is_table("wide.svm", &o, 3);
    o.scale = "range";
    file_is_table("wide.svm", &o, 3);
    o.target = "x40"; /* which the first block does not have; the label is an input then */
    file_is_table("wide.svm", &o, 3);
    o.target = "2"; /* x1, since x0 stands before it in the end */
    file_is_table("wide.svm", &o, 3);
    learned l = learn_file("wide.svm", &o);
    assert_string_equal(l.prep->target[0], "x1");
    assert_string_equal(l.prep->input[0].name, "x0");
    forget(&l);
}

static void npy(void **state)
{
    (void)state;
    enum { COLS = 41 };
    double *cells = malloc((size_t)ROWS * 2 * COLS * sizeof *cells);
    for (int64_t k = 0; k < ROWS * 2 * COLS; k++)
        cells[k] =
            k % 997 == 5 ? NAN : (double)(k % COLS) * (normal(k / COLS, (int)(k % COLS)) + 7);
    cells[ROWS * 2 * COLS - 1] = -3.0;
    fen_table *table = NULL;
    fen_error err;
    const fen_view view = { cells, ROWS * 2, COLS, COLS };
    assert_int_equal(fen_table_copy(view, (fen_view){ NULL, 0, 0, 0 }, NULL, &table, &err), FEN_OK);
    assert_int_equal(fen_table_write(table, in_folder("array.npy"), NULL, &err), FEN_OK);
    fen_table_free(table);
    free(cells);
    fen_options o = options();
    file_is_table("array.npy", &o, 4);
    o.weights = "41";
    o.target = "3";
    streamed s = { 0 };
    fenp_source *source = open_source("array.npy", &o);
    assert_true(fenp_prep_learn_source(source, &o, 0, &s.prep, &s.summary, NULL, NULL, &err) ==
                FEN_BAD_DATA);
    assert_non_null(strstr(err.message, "array.npy:40000: column \"x41\" (the weight)"));
    fenp_source_close(source);
}

/* ---- numbers of all sizes --------------------------------------------------------------------- */
static fen_table *large_table(int64_t n, int64_t d, double (*cell)(int64_t i, int64_t j))
{
    fen_table *table = NULL;
    fen_error err;
    double *cells = malloc((size_t)(n * d) * sizeof *cells);
    for (int64_t k = 0; k < n * d; k++) cells[k] = cell(k / d, k % d);
    assert_int_equal(fen_table_copy((fen_view){ cells, n, d, d }, (fen_view){ NULL, 0, 0, 0 }, NULL,
                                    &table, &err),
                     FEN_OK);
    free(cells);
    return table;
}

static double any_size(int64_t i, int64_t j)
{
    static const double unit[] = { 1.0, 1.0, 1e300, 1e-300, 1e-3, 1.0 };
    static const double offset[] = { 0.0, 1e9, 1e300, 0.0, 1e7, 0.0 };
    return offset[j] + unit[j] * normal(i, (int)j);
}

/* Against two passes in long double from the first value on; a mean is known to some eps of the deviation. */
static void numbers_of_all_sizes(void **state)
{
    (void)state;
    enum { N = 200000, D = 6 };
    volatile long double square = 1e300L;
    square *= square;
    if (!(square < 1e601L)) {
        print_message("SKIPPED: squares beyond the range of a double need a real long double\n");
        return;
    }
    fen_table *table = large_table(N, D, any_size);
    fen_options o = options();
    fenp_source *source = NULL;
    fen_error err;
    assert_int_equal(fenp_source_table(table, &source, &err), FEN_OK);
    streamed s = learn_source(source, &o, 0);
    for (int64_t j = 0; j < D - 1; j++) {
        long double sum = 0.0L, squares = 0.0L;
        const long double first = table->cells[j];
        for (int64_t i = 0; i < N; i++) sum += table->cells[i * D + j] - first;
        const long double mean = first + sum / N;
        for (int64_t i = 0; i < N; i++)
            squares += (table->cells[i * D + j] - mean) * (table->cells[i * D + j] - mean);
        const double deviation = (double)sqrtl(squares / N), exact = (double)mean;
        agree(s.prep->input[j].scale, deviation, 0.0, 1e-14);
        agree(s.prep->input[j].center, exact, deviation, 1e-14);
        assert_false(s.prep->input[j].constant);
    }
    agree(s.summary.spread, 2.0 * (D - 1), 0.0, 1e-13);
    forget_streamed(&s);
    fenp_source_close(source);
    fen_table_free(table);
}

static double far_apart(int64_t i, int64_t j) { return j ? (double)i : i < 2 ? 1.7e308 : -1.7e308; }

static void values_too_far_apart(void **state)
{
    (void)state;
    fen_table *table = large_table(10, 2, far_apart);
    fen_options o = options();
    refused_table(table, &o, FEN_BAD_DATA, "the values of column \"x1\" lie too far apart",
                  "rescale");
}

/* The same bits with one thread and with many, with and without a part. */
static void threads_do_not_matter(void **state)
{
    (void)state;
    fen_options o = options();
    o.weights = "w";
    mixed_file("mixed.csv", ROWS / 2);
    const int before = omp_get_max_threads();
    streamed one, many;
    fenp_source *source = open_source("mixed.csv", &o);
    omp_set_num_threads(1);
    one = learn_source(source, &o, 100);
    omp_set_num_threads(4);
    many = learn_source(source, &o, 100);
    omp_set_num_threads(before);
    assert_true(one.summary.hash == many.summary.hash);
    assert_true(one.summary.spread == many.summary.spread);
    for (int64_t j = 0; j < one.prep->inputs; j++) {
        assert_true(one.prep->input[j].fill == many.prep->input[j].fill);
        assert_true(one.prep->input[j].scale == many.prep->input[j].scale);
    }
    assert_memory_equal(one.part->x, many.part->x,
                        (size_t)(one.part->n * one.part->p) * sizeof(double));
    forget_streamed(&one);
    forget_streamed(&many);
    fenp_source_close(source);
}

/* ---- a part of the rows ------------------------------------------------------------------------- */
/* Every row of part is one of whole, in its order; their numbers to row. */
static void find_rows(const fenp_sample *part, const fenp_sample *whole, int64_t *row)
{
    for (int64_t i = 0, k = 0; i < part->n; i++, k++) {
        while (k < whole->n && whole->y[k] != part->y[i]) k++;
        assert_true(k < whole->n);
        for (int64_t j = 0; j < whole->p; j++)
            agree(part->x[i * whole->p + j], whole->x[k * whole->p + j], 1.0, 1e-12);
        agree(part->w[i] * part->weight_sum, whole->w[k] * whole->weight_sum, 0.0, 1e-14);
        row[i] = k;
    }
}

static void same_part(const char *name, const fen_options *o)
{
    enum { KEEP = 300 };
    learned l = learn_file(name, o);
    fen_error err;
    fenp_source *file = open_source(name, o), *table = NULL;
    assert_int_equal(fenp_source_table(l.t, &table, &err), FEN_OK);
    streamed a = learn_source(file, o, KEEP), b = learn_source(table, o, KEEP);
    assert_int_equal(a.part->n, KEEP);
    assert_true(a.part->p == l.s->p && b.part->n == KEEP);
    int64_t row[KEEP], other[KEEP];
    find_rows(a.part, l.s, row);
    find_rows(b.part, l.s, other); /* other blocks, the same rows */
    assert_memory_equal(row, other, sizeof row);
    double sum = 0.0, middle = 0.0;
    for (int i = 0; i < KEEP; i++) {
        sum += a.part->w[i];
        middle += (double)row[i] / (double)l.s->n / KEEP;
    }
    near(sum, 1.0);
    agree(middle, 0.5, 0.0, 5.0 / sqrt(12.0 * KEEP) / 0.5); /* five standard deviations */
    forget_streamed(&b);
    fen_options seeded = *o;
    seeded.seed = o->seed + 1;
    b = learn_source(table, &seeded, KEEP);
    find_rows(b.part, l.s, other);
    assert_memory_not_equal(row, other, sizeof row);
    forget_streamed(&a);
    forget_streamed(&b);
    a = learn_source(table, o, l.s->n + 5); /* more than there are: all */
    assert_int_equal(a.part->n, l.s->n);
    agree(a.part->weight_sum, l.s->weight_sum, 0.0, 1e-14);
    forget_streamed(&a);
    a = learn_source(file, o, 1);
    assert_true(a.part->n == 1 && a.part->w[0] == 1.0);
    forget_streamed(&a);
    fenp_source_close(file);
    fenp_source_close(table);
    forget(&l);
}

static void part(void **state)
{
    (void)state;
    fen_options o = options();
    o.weights = "w";
    mixed_file("mixed.csv", ROWS / 2);
    same_part("mixed.csv", &o);
    o.weights = "";
    sparse_file("wide.svm", ROWS / 2);
    same_part("wide.svm", &o);
}

/* ---- errors ---------------------------------------------------------------------------------------- */
static void source_refused(const char *name, const fen_options *o, fen_status status, const char *a,
                           const char *b)
{
    fenp_source *source = open_source(name, o);
    fenp_prep *prep = NULL;
    fenp_summary summary;
    fenp_sample *rows = NULL;
    fen_error err = { FEN_OK, "" };
    fen_status got = fenp_prep_learn_source(source, o, 10, &prep, &summary, &rows, NULL, &err);
    fenp_source_close(source);
    if (got != status || !strstr(err.message, a) || !strstr(err.message, b))
        fail_msg("expected %d with \"%s\" and \"%s\", got %d: %s", (int)status, a, b, (int)got,
                 err.message);
    assert_null(prep);
    assert_null(rows);
}

/* The same sentence as for the table in memory, if that is an error of the rows. */
static void same_error(const char *name, const fen_options *o, const char *a)
{
    fen_table *table = NULL;
    fen_error err = { FEN_OK, "" };
    fenp_prep *prep = NULL;
    fenp_sample *rows = NULL;
    assert_int_equal(fen_table_read(in_folder(name), o, NULL, &table, &err), FEN_OK);
    fen_status status = fenp_prep_learn(table, o, &prep, &rows, &err);
    assert_true(status != FEN_OK);
    source_refused(name, o, status, err.message, a);
    fen_table_free(table);
}

static void append(const char *name, const char *text)
{
    FILE *out = fopen(in_folder(name), "a");
    assert_non_null(out);
    fputs(text, out);
    assert_int_equal(fclose(out), 0);
}

static void late_errors(void **state)
{
    (void)state;
    char place[64];
    fen_options o = options();
    o.weights = "w";
    o.target = "y";
    snprintf(place, sizeof place, "late.csv:%d: column \"w\"", ROWS + 2);
    mixed_file("late.csv", ROWS);
    append("late.csv", "1,2,5,8,l1,-1,3\n");
    same_error("late.csv", &o, place);
    mixed_file("late.csv", ROWS);
    append("late.csv", "1,2,5,8,l1,1e-320,3\n1,2,5,8,l2,1,4\n");
    same_error("late.csv", &o, "vanishes");
    snprintf(place, sizeof place, "late.csv:%d: column \"y\"", ROWS + 2);
    mixed_file("late.csv", ROWS);
    append("late.csv", "1,2,5,8,l1,1,1e200\n");
    same_error("late.csv", &o, place);
    /* blank lines: rows are counted, not lines, and from the beginning of the file */
    snprintf(place, sizeof place, "late.csv: row %d: column \"w\"", ROWS + 1);
    mixed_file("late.csv", ROWS);
    append("late.csv", "\n\n1,2,5,8,l1,-1,3\n\n1,2,5,8,l1,1,3\n");
    same_error("late.csv", &o, place);
    /* what the reader itself finds */
    snprintf(place, sizeof place, "late.csv:%d: column 2", ROWS + 2);
    mixed_file("late.csv", ROWS);
    append("late.csv", "1,oops,5,8,l1,1,3\n");
    source_refused("late.csv", &o, FEN_BAD_DATA, place, "\"oops\"");
    FILE *out = create("late.svm");
    for (int i = 0; i < ROWS / 2; i++) fprintf(out, "1 1:%d # %*s\n", i, PADDING, "");
    fputs("1e200 1:1\n", out);
    fclose(out);
    snprintf(place, sizeof place, "late.svm:%d: column \"label\"", ROWS / 2 + 1);
    same_error("late.svm",
               &(fen_options){
                   .kernel = "gaussian", .scale = "standard", .missing = "", .index_base = -1 },
               place);
}

static void small_file(const char *name, const char *text)
{
    FILE *out = create(name);
    fputs(text, out);
    assert_int_equal(fclose(out), 0);
}

static void too_few_rows(void **state)
{
    (void)state;
    fen_options o = options();
    o.weights = "w";
    o.target = "y";
    static const struct {
        const char *text, *sentence;
    } cases[] = {
        { "a,w,y\n1,0,5\n2,,6\n", "\"w\" is 0 or missing in every row" },
        { "a,w,y\n1,1,5\n3,0,6\n", "only 1 usable row" },
        { "a,w,y\n1,1,\n3,1,\n", "no usable row: 2 lack the target \"y\"" },
        { "a,w,y\n1,1,4\n1,1,5\n", "the only input column, \"a\", is constant" },
        { "caf\xe9,w,y\n1,1,4\n2,1,5\n", "iconv" },
        { "a,v,y\n1,1,4\n2,1,5\n", "--weights w" },
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        small_file("few.csv", cases[k].text);
        same_error("few.csv", &o, cases[k].sentence);
    }
    o.weights = "";
    o.kernel = "precomputed";
    small_file("few.csv", "a,b,y\n1,0,4\n0,1,5\n");
    source_refused("few.csv", &o, FEN_BAD_CALL, "precomputed", "another kernel");
}

/* A block without a usable row has none, and is no error. */
static void block_of_nothing(void **state)
{
    (void)state;
    learned l = learn("a,b,y\n1,2,3\n2,5,4\n3,4,9\n");
    fen_table *t = table_of("a,b,y\n1,2,\n2,5,\n");
    fenp_sample *s = NULL;
    fen_error err;
    assert_int_equal(fenp_prep_block(l.prep, t, &s, &err), FEN_OK);
    assert_true(s->n == 0 && s->p == 2 && s->dropped_missing == 2 && s->weight_sum == 0.0);
    fenp_sample_free(s);
    fen_table_free(t);
    t = table_of("a,y\n1,2\n");
    assert_int_equal(fenp_prep_block(l.prep, t, &s, &err), FEN_BAD_DATA);
    assert_non_null(strstr(err.message, "no column \"b\""));
    fen_table_free(t);
    forget(&l);
    /* whole blocks of them within a file */
    FILE *out = create("holes.csv");
    fputs("a,b,y\n", out);
    for (int i = 0; i < 2 * ROWS; i++)
        fprintf(out, "%d,%*s%d,%s\n", i % 17, PADDING, "", i % 5,
                i > ROWS / 2 && i < 3 * ROWS / 2 ? "" : "1");
    fclose(out);
    fen_options o = options();
    file_is_table("holes.csv", &o, 4);
}

/* ---- sources ------------------------------------------------------------------------------------------ */
static void cannot_open(const char *path, const char *a, const char *b)
{
    fen_options o = options();
    fenp_source *source = NULL;
    fen_error err = { FEN_OK, "" };
    assert_true(fenp_source_file(path, &o, &source, &err) != FEN_OK);
    if (!strstr(err.message, a) || !strstr(err.message, b)) fail_msg("%s", err.message);
    assert_null(source);
}

static void pipes_are_refused(void **state)
{
    (void)state;
    assert_int_equal(mkfifo(in_folder("pipe"), 0600), 0);
    cannot_open("-", "the standard input cannot be read twice", "save it to a file");
    cannot_open(in_folder("pipe"), "pipe cannot be read twice", "save it to a file");
    cannot_open(in_folder("absent.csv"), "absent.csv", "cannot be opened");
}

static void gzip(void **state)
{
    (void)state;
    mixed_file("mixed.csv", ROWS / 2);
    char text[1 << 12];
    FILE *in = fopen(in_folder("mixed.csv"), "r");
    gzFile out = gzopen(in_folder("mixed.csv.gz"), "wb1");
    for (size_t got; (got = fread(text, 1, sizeof text, in)) > 0;)
        assert_int_equal(gzwrite(out, text, (unsigned)got), got);
    assert_int_equal(gzclose(out), Z_OK);
    fclose(in);
    fen_options o = options();
    file_is_table("mixed.csv.gz", &o, 2);
}

static void changed_file(void **state)
{
    (void)state;
    fen_options o = options();
    small_file("grows.csv", "a,y\n1,2\n3,4\n");
    fenp_source *source = open_source("grows.csv", &o);
    const fen_table *block = NULL;
    fen_error err;
    assert_int_equal(fenp_source_rewind(source, &err), FEN_OK); /* before the first row: nothing */
    assert_int_equal(fenp_source_next(source, &block, &err), FEN_OK);
    assert_int_equal(block->rows, 2);
    assert_int_equal(fenp_source_rewind(source, &err), FEN_OK);
    assert_int_equal(fenp_source_next(source, &block, &err), FEN_OK);
    assert_int_equal(block->rows, 2);
    append("grows.csv", "5,6\n");
    assert_int_equal(fenp_source_rewind(source, &err), FEN_BAD_DATA);
    assert_non_null(strstr(err.message, "grows.csv changed"));
    assert_int_equal(fenp_source_next(source, &block, &err), FEN_OK); /* no rows, no crash */
    assert_null(block);
    fenp_source_close(source);
}

static int stop(void *user, const char *stage, double fraction)
{
    (void)stage;
    *(double *)user = fraction;
    return fraction > 0.3;
}

static void can_be_stopped(void **state)
{
    (void)state;
    mixed_file("mixed.csv", ROWS);
    fen_options o = options();
    double reached = 0.0;
    fen_host host = { .progress = stop, .user = &reached };
    fenp_task task = fenp_task_start(&host, 0.0);
    fenp_source *source = open_source("mixed.csv", &o);
    streamed s = { 0 };
    fen_error err;
    assert_int_equal(fenp_prep_learn_source(source, &o, 0, &s.prep, &s.summary, NULL, &task, &err),
                     FEN_STOPPED);
    assert_true(reached > 0.3 && reached < 1.0);
    fenp_source_close(source);
}

/* ---- comparing preparations -------------------------------------------------------------------------------- */
static void agreement(void **state)
{
    (void)state;
    learned l = learn("a,c*,b,y\n1,u,3,1\n2,v,5,2\n4,u,9,3\n");
    learned m = learn("q,b,c*,a,y\n5,3,u,1,1\n6,5,v,2,2\n8,9,u,4,3\n");
    assert_true(fenp_prep_agree(l.prep, m.prep));
    assert_false(fenp_prep_agree(m.prep, l.prep)); /* q is missing */
    l.prep->input[0].center *= 1.0 + 1e-6;
    assert_false(fenp_prep_agree(l.prep, m.prep));
    forget(&m);
    forget(&l);
}

/* Text of the training file that reads as numbers in another one. */
static void text_or_numbers(void **state)
{
    (void)state;
    learned l = learn("c*,y\n1,1\n2.5,2\n10,3\n1,4\n");
    fen_table *t = table_of("c,y\n1,1\n2.5,2\n10,3\n1,4\n");
    fenp_summary summary;
    fenp_source *source = NULL;
    fen_error err;
    int agrees = 0;
    assert_int_equal(fenp_source_table(t, &source, &err), FEN_OK);
    assert_int_equal(fenp_prep_check_source(l.prep, source, &agrees, &summary, NULL, &err), FEN_OK);
    assert_true(agrees && summary.hash == l.s->hash);
    agrees = 0;
    assert_int_equal(fenp_prep_check(l.prep, t, &agrees, &err), FEN_OK);
    assert_true(agrees);
    fenp_source_close(source);
    fen_table_free(t);
    forget(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csv),
        cmocka_unit_test(two_targets),
        cmocka_unit_test(svmlight),
        cmocka_unit_test(npy),
        cmocka_unit_test(numbers_of_all_sizes),
        cmocka_unit_test(values_too_far_apart),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(part),
        cmocka_unit_test(late_errors),
        cmocka_unit_test(too_few_rows),
        cmocka_unit_test(block_of_nothing),
        cmocka_unit_test(pipes_are_refused),
        cmocka_unit_test(gzip),
        cmocka_unit_test(changed_file),
        cmocka_unit_test(can_be_stopped),
        cmocka_unit_test(agreement),
        cmocka_unit_test(text_or_numbers),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
