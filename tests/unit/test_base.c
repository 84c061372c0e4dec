/* test_base.c -- errors, sizes, arenas, tasks, threads, JSON, lists */
#include <float.h>
#include <locale.h>
#include <math.h>
#include <omp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/threads.h"

/* ---- errors -------------------------------------------------------------------------- */

static void an_error_may_quote_itself(void **state)
{
    (void)state;
    fen_error err;
    assert_int_equal(fenp_fail(&err, FEN_BAD_DATA, "row %d", 7), FEN_BAD_DATA);
    assert_int_equal(fenp_fail(&err, FEN_IO, "%s: %s", "x.csv", err.message), FEN_IO);
    assert_string_equal(err.message, "x.csv: row 7");
    assert_int_equal(err.status, FEN_IO);
    assert_int_equal(fenp_fail(NULL, FEN_LIMIT, "nobody listens"), FEN_LIMIT);
}

static void a_long_error_is_cut_and_says_so(void **state)
{
    (void)state;
    fen_error err;
    char name[2000];
    memset(name, 'a', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    fenp_fail(&err, FEN_IO, "%s", name);
    assert_int_equal(strlen(err.message), sizeof err.message - 1);
    assert_string_equal(err.message + sizeof err.message - 5, "a...");
    /* a message that fits exactly is whole */
    name[sizeof err.message - 1] = '\0';
    fenp_fail(&err, FEN_IO, "%s", name);
    assert_string_equal(err.message, name);
}

static void lack_of_memory_names_the_amount(void **state)
{
    (void)state;
    static const struct {
        int64_t bytes;
        const char *amount;
    } cases[] = {
        { 999, "999 bytes" }, { 1000, "1.0 kB" },       { 9990, "9.9 kB" },
        { 10000, "10 kB" },   { 1234567890, "1.2 GB" }, { INT64_MAX, "9.2 EB" },
    };
    fen_error err;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(fenp_no_memory(&err, cases[i].bytes, "the matrix"), FEN_MEMORY);
        assert_non_null(strstr(err.message, cases[i].amount));
        assert_non_null(strstr(err.message, "the matrix"));
    }
    assert_int_equal(fenp_no_memory(&err, -1, "the matrix"), FEN_MEMORY);
    assert_non_null(strstr(err.message, "no machine"));
    assert_int_equal(fenp_no_memory(&err, 0, "the matrix"), FEN_MEMORY);
    assert_null(strstr(err.message, "0 bytes"));
}

/* ---- sizes --------------------------------------------------------------------------- */

static void sizes_do_not_overflow(void **state)
{
    (void)state;
    assert_int_equal(fenp_bytes(3, 4, 8), 96);
    assert_int_equal(fenp_bytes(0, INT64_MAX, 8), 0);
    assert_int_equal(fenp_bytes(INT64_MAX, 1, 1), INT64_MAX);
    assert_int_equal(fenp_bytes(INT64_MAX / 8 + 1, 1, 8), -1);
    assert_int_equal(fenp_bytes(INT64_C(1) << 32, INT64_C(1) << 32, 1), -1);
    assert_int_equal(fenp_bytes(-1, 1, 8), -1);
    assert_int_equal(fenp_bytes(1, 1, -8), -1);
}

static void impossible_allocations_give_null(void **state)
{
    (void)state;
    assert_null(fenp_new(INT64_MAX, 8));
    assert_null(fenp_new_zeroed(-1, 8));
    void *kept = fenp_new(0, 8); /* none is not a failure */
    assert_non_null(kept);
    assert_null(fenp_resize(kept, INT64_MAX, 8));
    double *grown = fenp_resize(kept, 4, 8);
    assert_non_null(grown);
    free(grown);
    double *zeros = fenp_new_zeroed(1000, 8);
    assert_non_null(zeros);
    for (int i = 0; i < 1000; i++) assert_true(zeros[i] == 0.0);
    free(zeros);
    char *copy = fenp_strdup("x\ty");
    assert_string_equal(copy, "x\ty");
    free(copy);
}

static void arenas_give_aligned_pieces_and_no_more(void **state)
{
    (void)state;
    static const int64_t counts[] = { 1, 8, 9, 0, 1000 };
    int64_t bytes = 0;
    for (size_t i = 0; i < 5; i++) bytes += fenp_arena_bytes(counts[i]);
    fenp_arena arena;
    fen_error err;
    assert_int_equal(fenp_arena_open(&arena, bytes, "a test", &err), FEN_OK);
    double *before = NULL;
    for (size_t i = 0; i < 5; i++) {
        double *piece = fenp_arena_doubles(&arena, counts[i]);
        assert_non_null(piece);
        assert_int_equal((uintptr_t)piece % 64, 0);
        if (before) assert_true(piece >= before + counts[i - 1]);
        for (int64_t k = 0; k < counts[i]; k++) piece[k] = 1.0; /* sanitizers look */
        before = piece;
    }
    assert_null(fenp_arena_doubles(&arena, 1000));
    assert_null(fenp_arena_doubles(&arena, INT64_MAX));
    assert_null(fenp_arena_doubles(&arena, -1));
    fenp_arena_close(&arena);
    fenp_arena_close(&arena); /* twice is harmless */
    assert_int_equal(fenp_arena_open(&arena, -1, "a test", &err), FEN_MEMORY);
    assert_int_equal(fenp_arena_open(&arena, INT64_MAX, "a test", &err), FEN_MEMORY);
    assert_int_equal(fenp_arena_bytes(INT64_MAX), -1);
    assert_int_equal(fenp_arena_bytes(INT64_MAX / 8), -1);
}

/* ---- tasks --------------------------------------------------------------------------- */

typedef struct listener {
    double heard[8];
    int count, stop_after;
} listener;

static int listen(void *user, const char *stage, double fraction)
{
    listener *l = user;
    assert_non_null(stage);
    l->heard[l->count++] = fraction;
    return l->count == l->stop_after;
}

static void parts_of_tasks_map_into_the_whole(void **state)
{
    (void)state;
    listener l = { .stop_after = 4 };
    fen_host host = { .progress = listen, .user = &l };
    fen_error err;
    fenp_task whole = fenp_task_start(&host, 0);
    fenp_task half = fenp_task_part(&whole, "second half", 0.5, 1);
    fenp_task end = fenp_task_part(&half, "its end", 0.5, 1);
    assert_int_equal(fenp_task_at(&whole, 0.25, &err), FEN_OK);
    assert_int_equal(fenp_task_at(&half, 0, &err), FEN_OK);
    assert_int_equal(fenp_task_at(&end, 0.5, &err), FEN_OK);
    assert_int_equal(fenp_task_at(&end, 1, &err), FEN_STOPPED);
    assert_non_null(strstr(err.message, "its end"));
    const double expected[] = { 0.25, 0.5, 0.875, 1 };
    for (int i = 0; i < 4; i++) assert_true(l.heard[i] == expected[i]);
    assert_int_equal(fenp_task_at(NULL, 0.5, &err), FEN_OK);
    fenp_task none = fenp_task_part(NULL, "alone", 0, 1);
    assert_int_equal(fenp_task_at(&none, 0.5, &err), FEN_OK);
}

static void a_deadline_in_the_past_is_a_limit(void **state)
{
    (void)state;
    fen_error err;
    fenp_task task = fenp_task_start(NULL, 1e-9);
    double start = fenp_now();
    while (fenp_now() == start) {}
    assert_int_equal(fenp_task_at(&task, 0.5, &err), FEN_LIMIT);
    task = fenp_task_start(NULL, 1e6);
    assert_int_equal(fenp_task_at(&task, 0.5, &err), FEN_OK);
}

static void memory_is_counted(void **state)
{
    (void)state;
    enum { MB = 1 << 20 };
    assert_true(fenp_memory_available() > 0);
    int64_t before = fenp_memory_resident();
    assert_true(before > 0);
    char *block = malloc(64 * MB);
    assert_non_null(block);
    memset(block, 1, 64 * MB);
    assert_int_equal(block[17 * MB], 1);
    assert_true(fenp_memory_resident() > before + 60 * MB);
    free(block);
}

/* ---- threads ------------------------------------------------------------------------- */

/* BLAS may begin with another number than OpenMP: both come back as they were. */
static void threads_are_set_and_restored(void **state)
{
    (void)state;
    int before = omp_get_max_threads();
    fenp_threads outer = fenp_threads_enter(3);
    assert_int_equal(omp_get_max_threads(), 3);
    fenp_threads inner = fenp_threads_enter(0);
    assert_int_equal(omp_get_max_threads(), omp_get_num_procs());
    fenp_threads_leave(inner);
    assert_int_equal(omp_get_max_threads(), 3);
    fenp_threads_leave(outer);
    assert_int_equal(omp_get_max_threads(), before);
}

/* ---- JSON ---------------------------------------------------------------------------- */

static char *text_of(json_t *value)
{
    char *text = NULL;
    json_t *holder = json_pack("{s:o}", "v", value);
    assert_int_equal(fenp_json_text(holder, &text, NULL), FEN_OK);
    return text;
}

static void numbers_read_back_and_nothing_is_infinite(void **state)
{
    (void)state;
    static const double values[] = {
        0.1, 1.0 / 3, DBL_MAX, DBL_MIN, 0x1p-1074, -0.0, 1e22, 123456
    };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char *text = text_of(fenp_json_number(values[i]));
        json_t *back = NULL;
        assert_int_equal(fenp_json_parse(text, (int64_t)strlen(text), &back, NULL), FEN_OK);
        double got = json_real_value(json_object_get(back, "v"));
        assert_memory_equal(&got, &values[i], sizeof got);
        json_decref(back);
        fen_text_free(text);
    }
    const double odd[] = { NAN, INFINITY, -INFINITY };
    char *text = text_of(fenp_json_numbers(odd, 3));
    assert_string_equal(text, "{\"v\": [null, null, null]}");
    fen_text_free(text);
    text = text_of(fenp_json_numbers((double[]){ 0.5 }, 1));
    assert_string_equal(text, "{\"v\": 0.5}");
    fen_text_free(text);
    text = text_of(fenp_json_numbers((double[]){ 0.1, 2.0, 1e-7, -3e200 }, 4));
    assert_string_equal(text, "{\"v\": [0.1, 2.0, 1e-7, -3e200]}");
    fen_text_free(text);
    assert_int_equal(fenp_json_text(NULL, &text, NULL), FEN_MEMORY);
}

static void strings_become_utf8(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        { "plain \"quoted\" \\ text", "plain \"quoted\" \\ text" },
        { "gr\xc3\xbc\xc3\x9f"
          "e \xf0\x9f\x98\x80",
          "gr\xc3\xbc\xc3\x9f"
          "e \xf0\x9f\x98\x80" },
        { "latin \xfc.", "latin \xef\xbf\xbd." },                   /* a lone byte        */
        { "cut \xc3", "cut \xef\xbf\xbd" },                         /* cut in the middle  */
        { "\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd" },                 /* overlong           */
        { "\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" }, /* surrogate          */
        { "\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *string = fenp_json_string(cases[i][0]);
        assert_non_null(string);
        assert_string_equal(json_string_value(string), cases[i][1]);
        json_decref(string);
    }
}

/* Jansson reads what we write, of every kind. */
static void texts_are_json(void **state)
{
    (void)state;
    json_t *value = json_pack("{s:s, s:[i, b, b, n], s:{}, s:[]}", "a \"b\" \\ \n \x01 gr\xc3\xbc",
                              "\t\"\x1f\x7f", "list", -7, 1, 0, "none", "nothing");
    json_t *back = NULL;
    char *text = NULL;
    assert_int_equal(fenp_json_text(json_incref(value), &text, NULL), FEN_OK);
    assert_int_equal(fenp_json_parse(text, (int64_t)strlen(text), &back, NULL), FEN_OK);
    assert_true(json_equal(value, back));
    json_decref(value), json_decref(back);
    fen_text_free(text);
}

static void write_item(const void *of, int64_t item, fenp_json_writer *to)
{
    fenp_write_plain(to, "{\"x\": ");
    fenp_write_number(to, (double)item / 7.0);
    fenp_write_plain(to, ", ");
    fenp_write_string(to, of);
    fenp_write_plain(to, ": [1, ");
    fenp_write_number(to, NAN);
    fenp_write_plain(to, "]}");
}

/* Whether threads write the items or one does, from JSON or from what they are kept in: the same
 * bytes, and no reference is left. */
static void a_list_by_threads_is_the_same_text(void **state)
{
    static const char *const KEY = "a \"b\"";
    (void)state;
    for (int count = 0; count <= 60; count += count < 3 ? 1 : 19) {
        json_t *head = json_pack("{s:s, s:i}", "a", "\"}", "b", 1), *list = json_array();
        for (int i = 0; i < count; i++)
            json_array_append_new(list, json_pack("{s:f, s:[i, n]}", "x", i / 7.0, KEY, 1));
        json_t *whole = json_copy(head);
        json_object_set(whole, "list", list);
        char *parts = NULL, *items = NULL, *text = NULL;
        json_incref(head);
        assert_int_equal(fenp_json_text_items(head, "list", count, write_item, KEY, &items, NULL),
                         FEN_OK);
        assert_int_equal(fenp_json_text_with(head, "list", list, &parts, NULL), FEN_OK);
        assert_int_equal(json_object_get(whole, "list")->refcount, 1);
        assert_int_equal(fenp_json_text(whole, &text, NULL), FEN_OK);
        assert_string_equal(parts, text);
        assert_string_equal(items, text);
        free(parts), free(items), free(text);
    }
    char *none = NULL;
    assert_int_equal(fenp_json_text_with(NULL, "list", json_array(), &none, NULL), FEN_MEMORY);
    assert_int_equal(fenp_json_text_with(json_object(), "list", NULL, &none, NULL), FEN_MEMORY);
    assert_null(none);
}

static void what_is_not_json_is_said_to_be_none(void **state)
{
    (void)state;
    static const char *const bad[] = { "", "{", "{\"a\": tru}", "{\"a\": 1, \"a\": 2}",
                                       "\"\xff\"" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        json_t *value = NULL;
        assert_int_equal(fenp_json_parse(bad[i], (int64_t)strlen(bad[i]), &value, NULL), FEN_OK);
        assert_null(value);
    }
}

static void json_does_not_follow_the_locale(void **state)
{
    (void)state;
    if (!setlocale(LC_NUMERIC, "de_DE.UTF-8") && !setlocale(LC_NUMERIC, "fr_FR.UTF-8")) {
        print_message("SKIPPED: no locale with a decimal comma is installed\n");
        skip();
    }
    char *text = text_of(fenp_json_number(0.5));
    fen_error err;
    fenp_no_memory(&err, 1500, "x");
    setlocale(LC_NUMERIC, "C");
    assert_string_equal(text, "{\"v\": 0.5}");
    assert_non_null(strstr(err.message, "1.5 kB"));
    fen_text_free(text);
}

/* ---- lists --------------------------------------------------------------------------- */

static void lists_end_and_explain(void **state)
{
    (void)state;
    static const char *const kinds[][2] = { { "loss", "square" },       { "kernel", "gaussian" },
                                            { "format", "csv" },        { "engine", "cholesky" },
                                            { "penalty", "lp" },        { "route", "packed" },
                                            { "generator", "friedman" } };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        int found = 0;
        int32_t i = 0;
        const char *name, *help = NULL;
        for (; (name = fen_list(kinds[k][0], i, &help)); i++) {
            found |= strcmp(name, kinds[k][1]) == 0;
            assert_non_null(help);
            assert_true(strlen(help) > 0);
            assert_ptr_equal(fen_list(kinds[k][0], i, NULL), name);
            help = NULL;
        }
        assert_true(found);
        assert_null(fen_list(kinds[k][0], i + 100, &help));
        assert_null(fen_list(kinds[k][0], -1, &help));
        assert_null(help);
    }
    assert_null(fen_list("colour", 0, NULL));
}

static void every_status_and_verdict_has_its_words(void **state)
{
    (void)state;
    assert_string_equal(fen_status_text(FEN_OK), "success");
    assert_string_equal(fen_verdict_text(FEN_VERDICT_OPTIMAL), "optimal");
    for (int i = 0; i < FEN_STATUS_COUNT; i++)
        for (int j = 0; j < i; j++)
            assert_string_not_equal(fen_status_text((fen_status)i), fen_status_text((fen_status)j));
    assert_non_null(fen_status_text((fen_status)-1));
    assert_non_null(fen_status_text(FEN_STATUS_COUNT));
    assert_non_null(fen_verdict_text((fen_verdict)-1));
    assert_non_null(fen_verdict_text(FEN_VERDICT_COUNT));
    assert_string_equal(fen_version(), FEN_VERSION);
    fen_text_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_error_may_quote_itself),
        cmocka_unit_test(a_long_error_is_cut_and_says_so),
        cmocka_unit_test(lack_of_memory_names_the_amount),
        cmocka_unit_test(sizes_do_not_overflow),
        cmocka_unit_test(impossible_allocations_give_null),
        cmocka_unit_test(arenas_give_aligned_pieces_and_no_more),
        cmocka_unit_test(parts_of_tasks_map_into_the_whole),
        cmocka_unit_test(a_deadline_in_the_past_is_a_limit),
        cmocka_unit_test(memory_is_counted),
        cmocka_unit_test(threads_are_set_and_restored),
        cmocka_unit_test(numbers_read_back_and_nothing_is_infinite),
        cmocka_unit_test(strings_become_utf8),
        cmocka_unit_test(a_list_by_threads_is_the_same_text),
        cmocka_unit_test(texts_are_json),
        cmocka_unit_test(what_is_not_json_is_said_to_be_none),
        cmocka_unit_test(json_does_not_follow_the_locale),
        cmocka_unit_test(lists_end_and_explain),
        cmocka_unit_test(every_status_and_verdict_has_its_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
