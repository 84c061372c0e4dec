/* test_source.c -- files read block by block: the same preparation, fingerprint and spread as
 * of the whole table in memory, whatever the blocks and threads; a part of the rows */
#include <omp.h>
#include <zlib.h>
#include "kernel/gram.h"
#include "support/source_files.h"

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
    assert_int_equal(fenp_prep_check_source(s.prep, source, &agrees, &again, NULL, &err), FEN_OK);
    assert_true(agrees && again.hash == s.summary.hash && again.spread == s.summary.spread);
    assert_true(again.rows == s.summary.rows && again.weight_sum == s.summary.weight_sum);
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
    FILE *out = create("late.svm"); /* labels alone for a block and more */
    for (int i = 0; i < ROWS / 2; i++)
        fprintf(out, "%d%s # %*s\n", i % 7, i > ROWS / 4 && i % 2 ? " 3:1.5" : "", PADDING, "");
    assert_int_equal(fclose(out), 0);
    o.target = "";
    file_is_table("late.svm", &o, 3);
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

/* Whole blocks of a file may have no usable row. */
static void blocks_of_nothing(void **state)
{
    (void)state;
    FILE *out = create("holes.csv");
    fputs("a,b,y\n", out);
    for (int i = 0; i < 2 * ROWS; i++)
        fprintf(out, "%d,%*s%d,%s\n", i % 17, PADDING, "", i % 5,
                i > ROWS / 2 && i < 3 * ROWS / 2 ? "" : "1");
    fclose(out);
    fen_options o = options();
    file_is_table("holes.csv", &o, 4);
}

/* ---- numbers of all sizes ---------------------------------------------------------------- */
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

/* Against two passes in long double from the first value on; a mean is known to some eps of the
 * deviation. */
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

/* ---- a part of the rows ------------------------------------------------------------------ */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csv),
        cmocka_unit_test(two_targets),
        cmocka_unit_test(svmlight),
        cmocka_unit_test(npy),
        cmocka_unit_test(gzip),
        cmocka_unit_test(blocks_of_nothing),
        cmocka_unit_test(numbers_of_all_sizes),
        cmocka_unit_test(values_too_far_apart),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(part),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
