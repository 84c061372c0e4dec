/* test_text.c -- numbers against strtod, printing against its own inverse, words and lists
 *
 * test_text COUNT compares COUNT random numbers instead of two million. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define RUNNING_ON_VALGRIND 0
#endif

static int64_t count = 2000000;

/* splitmix64: the tests need many numbers, not good ones */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static double of_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void same_as_strtod(const char *text)
{
    double ours = -1.0, theirs = strtod(text, NULL);
    int is_number = fenp_parse_double(text, (int64_t)strlen(text), &ours);
    if (!is_number || bits_of(ours) != bits_of(theirs))
        fail_msg("%.60s... (%zu bytes) is read as %.17g, not %.17g", text, strlen(text), ours,
                 theirs);
}

static void test_hard_numbers(void **state)
{
    (void)state;
    static const char *const hard[] = {
        "0",
        "-0",
        "+0",
        "0.0",
        "-0e500",
        "00000000000000000000000000000000",
        "1",
        "-1",
        "+1",
        "1.",
        ".5",
        "-.5e1",
        "1e0",
        "1E+2",
        "1e-2",
        "1e0000000000000000000000002",
        "9007199254740992",
        "9007199254740993",
        "9007199254740994",
        "9007199254740995",
        "9007199254740993.0000000000000000000000000000000000000000000000000000000000000000001",
        "18446744073709551615",
        "18446744073709551616",
        "9999999999999999999",
        "99999999999999999999999999999999999999999999999999",
        "1e22",
        "1e23",
        "8.5e22",
        "123456789012345678e-18",
        "5e-324",
        "4.9e-324",
        "2.47e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "2.5e-324",
        "1e-324",
        "1e-323",
        "1e-400",
        "1e400",
        "-1e400",
        "2.2250738585072011e-308",
        "2.2250738585072012e-308",
        "2.2250738585072014e-308",
        "2.2250738585072009e-308",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "1.797693134862315807e308",
        "1.797693134862315808e308",
        "1.8e308",
        "17976931348623157e292",
        "6.9294956446009195e15",
        "3.7455744005952583e15",
        "1e999999999999999999999999",
        "1e-999999999999999999999999",
        "0e999999999999999999999",
        "1.00000000000000011102230246251565404236316680908203125",
        "1.00000000000000011102230246251565404236316680908203124",
        "1.00000000000000011102230246251565404236316680908203126",
        "0.500000000000000166533453693773481063544750213623046875",
        "7.0420557077594588669468784357561207962098443483187940792729600000e59",
        "1090544144181609348671888949248",
        "1090544144181609348835077142190",
        "1.448997445238699",
        "12345678.12345678",
        "00000000012345678",
        "1234567812345678.5",
        "9214843084008499.0",
        "0.000000000000000000000000000000000000000001e42",
        "8.10109172351e-10",
        "5.0e-20",
        "3.5844466002796428e298",
        "2.138347e-308",
    };
    for (size_t i = 0; i < sizeof hard / sizeof hard[0]; i++) same_as_strtod(hard[i]);
}

static void test_long_digit_strings(void **state)
{
    (void)state;
    enum { SIZE = 200000 };
    char *text = malloc(SIZE + 40);
    assert_non_null(text);
    for (int length = 18; length < 1200; length++) {
        for (int i = 0; i < length; i++) text[i] = (char)('0' + (i * 7 + length) % 10);
        sprintf(text + length, "e%d", -length - 300 + length % 600);
        same_as_strtod(text);
        text[length / 3] = '.';
        same_as_strtod(text);
    }
    /* 0.000...0001e+199990: only the sum of shift and exponent is a sane number */
    memset(text, '0', SIZE);
    text[1] = '.';
    sprintf(text + SIZE - 1, "123e%d", SIZE);
    same_as_strtod(text);
    /* 1000...000e-199990, and with a last digit that decides a tie */
    memset(text, '0', SIZE);
    memcpy(text, "9007199254740993", 16);
    sprintf(text + SIZE, "e-%d", SIZE - 16);
    same_as_strtod(text);
    text[SIZE - 1] = '1';
    same_as_strtod(text);
    free(text);
}

/* ---- exact midpoints between neighbouring doubles, by schoolbook arithmetic ---------- */
typedef struct large {
    uint32_t part[128];
    int used;
} large; /* base 1e9, least first */

static void times(large *a, uint32_t factor)
{
    uint64_t carry = 0;
    for (int i = 0; i < a->used; i++) {
        carry += (uint64_t)a->part[i] * factor;
        a->part[i] = (uint32_t)(carry % 1000000000);
        carry /= 1000000000;
    }
    if (carry) a->part[a->used++] = (uint32_t)carry;
}

/* c 2^q in decimal */
static int exact_text(uint64_t c, int q, char *out)
{
    large a = { { (uint32_t)(c % 1000000000), (uint32_t)(c / 1000000000 % 1000000000),
                  (uint32_t)(c / 1000000000 / 1000000000) },
                3 };
    while (a.used > 1 && a.part[a.used - 1] == 0) a.used--;
    for (int i = 0; i < abs(q); i++) times(&a, q < 0 ? 5 : 2);
    int length = sprintf(out, "%u", a.part[a.used - 1]);
    for (int i = a.used - 2; i >= 0; i--) length += sprintf(out + length, "%09u", a.part[i]);
    if (q < 0) length += sprintf(out + length, "e%d", q);
    return length;
}

static void test_midpoints(void **state)
{
    (void)state;
    uint64_t seed = 11;
    char text[1400];
    for (int64_t i = 0; i < count / 400 + 1; i++) {
        uint64_t bits = next_random(&seed) & (UINT64_MAX >> 1);
        if (i % 3 == 0) bits >>= 1 + i % 60; /* small exponents, subnormals */
        int field = (int)(bits >> 52);
        if (field >= 0x7fe) continue;
        uint64_t c = bits << 12 >> 12;
        if (field) c |= (uint64_t)1 << 52;
        int q = (field ? field : 1) - 1075;
        int length = exact_text(2 * c + 1, q - 1, text);
        double value = -1.0, even = of_bits(bits + (bits & 1));
        assert_true(fenp_parse_double(text, length, &value));
        assert_int_equal(bits_of(value), bits_of(even));
        char *e = strchr(text, 'e'); /* a little more: upwards */
        char tail[16] = "";
        if (e) strcpy(tail, e);
        size_t digits = e ? (size_t)(e - text) : (size_t)length;
        sprintf(text + digits, ".0000001%s", tail);
        assert_true(fenp_parse_double(text, (int64_t)strlen(text), &value));
        assert_int_equal(bits_of(value), bits + 1);
        sprintf(text + digits, "%s", tail);
        size_t last = digits - 1; /* a little less: downwards */
        while (text[last] == '0') text[last--] = '9';
        text[last]--;
        assert_true(fenp_parse_double(text, (int64_t)strlen(text), &value));
        assert_int_equal(bits_of(value), bits);
    }
}

/* ---- random numbers ------------------------------------------------------------------ */
static void random_number(uint64_t *seed, char *text)
{
    uint64_t r = next_random(seed), s = next_random(seed);
    switch (r % 8) {
    case 0: sprintf(text, "%.17g", of_bits(s % 0x7ff0000000000000)); break;
    case 1: sprintf(text, "%.16e", of_bits(s % 0x7ff0000000000000)); break;
    case 2: sprintf(text, "%llu.%llu", (unsigned long long)(r >> 40), (unsigned long long)s); break;
    case 3: sprintf(text, "-%llue%d", (unsigned long long)s, (int)((r >> 8) % 700) - 370); break;
    case 4: sprintf(text, "%.6f", (double)(int64_t)s / 1e12); break;
    case 5:
        sprintf(text, "%llu.%06llu", (unsigned long long)(s >> 50),
                (unsigned long long)(s & 0xfffff));
        break;
    case 6:
        sprintf(text, "%llu%llu.%llue-%d", (unsigned long long)s, (unsigned long long)r,
                (unsigned long long)(s ^ r), (int)((r >> 8) % 400));
        break;
    default:
        sprintf(text, "%llue-%d", (unsigned long long)(s >> (r >> 8) % 64), (int)((r >> 16) % 30));
        break;
    }
}

static void test_random_numbers(void **state)
{
    (void)state;
    uint64_t seed = 1;
    char text[128];
    for (int64_t i = 0; i < count; i++) {
        random_number(&seed, text);
        same_as_strtod(text);
    }
}

static void test_not_numbers(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "",      "-",     "+",        ".",     "-.",  "e5",    ".e5",
        "1e",    "1e+",   "1e-",      "--1",   "+-1", "1.2.3", "1,2",
        "0x10",  "0x1p3", "1e5.5",    " 1",    "1 ",  "1f",    "1d5",
        "nan",   "inf",   "infinity", "1_000", "abc", "1\0",   "\xc2\xa0\x31",
        "1e5e5", "١",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        double value = 7.0;
        int64_t length = strcmp(wrong[i], "1") == 0 ? 2 : (int64_t)strlen(wrong[i]);
        if (fenp_parse_double(wrong[i], length, &value)) fail_msg("\"%s\" was read", wrong[i]);
        assert_true(value == 7.0);
    }
}

static void test_scan_stops(void **state)
{
    (void)state;
    const char *text = "12.5e,7";
    double value = 0.0;
    assert_ptr_equal(fenp_scan_double(text, text + 7, &value), text + 4);
    assert_true(value == 12.5);
    assert_ptr_equal(fenp_scan_double(text, text + 2, &value), text + 2);
    assert_true(value == 12.0);
    assert_null(fenp_scan_double(text + 4, text + 7, &value));
    assert_null(fenp_scan_double(text, text, &value));
}

/* ---- printing -------------------------------------------------------------------------- */
static int significant_digits(const char *text)
{
    int digits = 0, zeros = 0;
    for (; *text && *text != 'e'; text++) {
        if (*text < '0' || *text > '9' || (*text == '0' && digits == 0)) continue;
        digits++;
        zeros = *text == '0' ? zeros + 1 : 0;
    }
    return digits - zeros;
}

/* Reads back as itself, and no shorter %.{n}e text does. */
static void check_print(double value)
{
    char ours[32], trial[40];
    int length = fenp_print_double(value, ours);
    assert_int_equal(length, strlen(ours));
    assert_true(length < 32);
    double back = strtod(ours, NULL);
    if (bits_of(back) != bits_of(value)) fail_msg("%.17g is printed as %s", value, ours);
    int digits = significant_digits(ours);
    assert_true(digits <= 17);
    if (digits < 2) return;
    snprintf(trial, sizeof trial, "%.*e", digits - 2, value);
    if (bits_of(strtod(trial, NULL)) == bits_of(value))
        fail_msg("%s is printed, %s is shorter", ours, trial);
    snprintf(trial, sizeof trial, "%.*e", digits - 1, value);
    if (bits_of(strtod(trial, NULL)) == bits_of(value) &&
        strtod(trial, NULL) - value > fabs(back - value))
        fail_msg("%s is printed, %s is nearer", ours, trial);
}

static void test_print_examples(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } examples[] = {
        { 0.0, "0" },
        { -0.0, "-0" },
        { 1.0, "1" },
        { -1.5, "-1.5" },
        { 0.1, "0.1" },
        { 1e-5, "0.00001" },
        { 1e-6, "1e-6" },
        { 123456789.0, "123456789" },
        { 1e16, "10000000000000000" },
        { 1e17, "1e17" },
        { 1e22, "1e22" },
        { 1e23, "1e23" },
        { 5e-324, "5e-324" },
        { 1.7976931348623157e308, "1.7976931348623157e308" },
        { 2.2250738585072014e-308, "2.2250738585072014e-308" },
        { 0.3, "0.3" },
        { 0.1 + 0.2, "0.30000000000000004" },
        { 100.25, "100.25" },
        { 2e-10, "2e-10" },
        { 9007199254740992.0, "9007199254740992" },
        { INFINITY, "inf" },
        { -INFINITY, "-inf" },
        { NAN, "nan" },
        { -1.2345678901234568e-300, "-1.2345678901234568e-300" },
    };
    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
        char text[32];
        int length = fenp_print_double(examples[i].value, text);
        assert_string_equal(text, examples[i].text);
        assert_int_equal(length, strlen(text));
    }
}

static void test_print_random(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (int64_t i = 0; i < count / 4; i++) {
        uint64_t r = next_random(&seed);
        check_print(of_bits(r % 0x7ff0000000000000));
        check_print((double)(int64_t)(r >> 20) / 1e4);
        check_print(-of_bits(r >> (12 + r % 50))); /* subnormals */
    }
    for (uint64_t field = 0; field < 0x7ff; field++) /* powers of two and neighbours */
        for (uint64_t near = 0; near < 3; near++)
            if (field || near > 1) check_print(of_bits((field << 52) + near - 1));
    for (int k = -323; k <= 308; k++) {
        char text[16];
        sprintf(text, "1e%d", k);
        check_print(strtod(text, NULL));
    }
}

static void test_comma_locale(void **state)
{
    (void)state;
    static const char *const names[] = { "de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE",
                                         NULL };
    int set = 0;
    for (int i = 0; names[i] && !set; i++) set = setlocale(LC_ALL, names[i]) != NULL;
    if (!set) {
        print_message("SKIPPED: no locale with a decimal comma is installed\n");
        return;
    }
    double value = 0.0;
    char text[32], hard[900] = "1.00000000000000011102230246251565404236316680908203125";
    assert_true(fenp_parse_double("2.5", 3, &value) && value == 2.5);
    assert_true(fenp_parse_double(hard, (int64_t)strlen(hard), &value) && value == 1.0);
    fenp_print_double(2.5, text);
    setlocale(LC_ALL, "C");
    assert_string_equal(text, "2.5");
}

/* ---- the rest ---------------------------------------------------------------------------- */
static int parse_int(const char *text, int64_t *value)
{
    return fenp_parse_int(text, (int64_t)strlen(text), value);
}

static void test_whole_numbers(void **state)
{
    (void)state;
    int64_t v = 3;
    assert_true(parse_int("9223372036854775807", &v) && v == INT64_MAX);
    assert_true(parse_int("-9223372036854775808", &v) && v == INT64_MIN);
    assert_true(parse_int("+17", &v) && v == 17);
    assert_true(parse_int("-0", &v) && v == 0);
    static const char *const wrong[] = { "",
                                         "+",
                                         "-",
                                         "1.0",
                                         "9223372036854775808",
                                         " 1",
                                         "1e3",
                                         "-9223372036854775809",
                                         "99999999999999999999",
                                         "a" };
    v = 3;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_false(parse_int(wrong[i], &v));
    assert_int_equal(v, 3);
}

static void test_words(void **state)
{
    (void)state;
    static const char *const yes[] = { "nan",     "NaN",     "NAN",       "-nan",
                                       "inf",     "+Inf",    "-INFINITY", "1.#INF",
                                       "-1.#IND", "1.#QNAN", "-nan(ind)" };
    static const char *const no[] = { "", "-", "na", "nano", "infinit", "in", "NA", "1", "+-inf" };
    for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++)
        assert_true(fenp_is_not_finite_word(yes[i], (int64_t)strlen(yes[i])));
    for (size_t i = 0; i < sizeof no / sizeof no[0]; i++)
        assert_false(fenp_is_not_finite_word(no[i], (int64_t)strlen(no[i])));
}

static void test_fractions(void **state)
{
    (void)state;
    double v = 0.0;
    assert_true(fenp_parse_fraction("4/3", 3, &v) && v == 4.0 / 3.0);
    assert_true(fenp_parse_fraction("-1e2/8", 6, &v) && v == -12.5);
    assert_true(fenp_parse_fraction("1.5", 3, &v) && v == 1.5);
    assert_false(fenp_parse_fraction("1/0", 3, &v));
    assert_false(fenp_parse_fraction("1/", 2, &v));
    assert_false(fenp_parse_fraction("/2", 2, &v));
    assert_false(fenp_parse_fraction("1/2/3", 5, &v));
    assert_false(fenp_parse_fraction("", 0, &v));
    assert_true(v == 1.5);
}

static void test_nearest(void **state)
{
    (void)state;
    static const char *const names[] = { "gaussian", "laplace", "laplace1", "linear", "age", NULL };
    assert_string_equal(fenp_nearest("gausian", names), "gaussian");
    assert_string_equal(fenp_nearest("Lapalce", names), "laplace");
    assert_string_equal(fenp_nearest("agee", names), "age");
    assert_string_equal(fenp_nearest("AGE", names), "age");
    assert_null(fenp_nearest("polynomial", names));
    assert_null(fenp_nearest("q", names));
    assert_null(fenp_nearest("", names));
    char long_name[300];
    memset(long_name, 'a', sizeof long_name);
    long_name[299] = 0;
    assert_null(fenp_nearest(long_name, names));
    const struct {
        int64_t before;
        const char *name;
    } columns[] = { { 1, "age" }, { 2, "rooms" } };
    assert_string_equal(fenp_nearest_member("roms", &columns->name, 2, sizeof *columns), "rooms");
    assert_null(fenp_nearest_member("roms", &columns->name, 1, sizeof *columns));
}

static void test_suggestions(void **state)
{
    (void)state;
    static const char *const names[] = { "gaussian", "linear", NULL };
    static const char *const pairs[][2] = { { "rbf", "gaussian" },
                                            { "poly", "polynomial" },
                                            { NULL, NULL } };
    assert_string_equal(fenp_suggest("rbf", pairs, names), "gaussian");
    assert_null(fenp_suggest("poly", pairs, names)); /* is none of the names */
    assert_string_equal(fenp_suggest("linaer", pairs, names), "linear");
    char text[17];
    fenp_join(names, text, sizeof text);
    assert_string_equal(text, "gaussian, linear");
    fenp_join(names, text, 12);
    assert_string_equal(text, "gaussian, l");
}

static void test_members(void **state)
{
    (void)state;
    struct {
        int64_t before;
        const char *name;
    } columns[21];
    char text[128];
    for (int k = 0; k < 21; k++) columns[k].name = k % 2 ? "b" : "a";
    fenp_list_members(&columns->name, 0, sizeof *columns, text, sizeof text);
    assert_string_equal(text, "");
    fenp_list_members(&columns->name, 3, sizeof *columns, text, sizeof text);
    assert_string_equal(text, "\"a\", \"b\", \"a\"");
    fenp_list_members(&columns->name, 20, sizeof *columns, text, sizeof text);
    assert_int_equal(strlen(text), 20 * 5 - 2);
    fenp_list_members(&columns->name, 21, sizeof *columns, text, sizeof text);
    assert_string_equal(text, "\"a\" to \"a\"");
    fenp_list_members(&columns->name, 4, sizeof *columns, text, 18); /* takes 19 */
    assert_string_equal(text, "\"a\" to \"b\"");
    fenp_list_members(&columns->name, 4, sizeof *columns, text, 19);
    assert_string_equal(text, "\"a\", \"b\", \"a\", \"b\"");
}

static int collect(void *user, const char *item, int64_t length)
{
    char *out = user;
    sprintf(out + strlen(out), "[%.*s]", (int)length, item);
    return *item == '!';
}

static void test_lists(void **state)
{
    (void)state;
    char out[64] = "";
    assert_int_equal(fenp_each_item(" NA, N/A ,,?\t, x y", collect, out), 0);
    assert_string_equal(out, "[NA][N/A][?][x y]");
    out[0] = 0;
    assert_int_equal(fenp_each_item("", collect, out), 0);
    assert_string_equal(out, "");
    assert_int_equal(fenp_each_item("a,!,b", collect, out), 1);
    assert_string_equal(out, "[a][!]");
}

int main(int argc, char **argv)
{
    if (RUNNING_ON_VALGRIND) count = 2000;
    if (argc > 1) count = atoll(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hard_numbers),   cmocka_unit_test(test_long_digit_strings),
        cmocka_unit_test(test_midpoints),      cmocka_unit_test(test_random_numbers),
        cmocka_unit_test(test_not_numbers),    cmocka_unit_test(test_scan_stops),
        cmocka_unit_test(test_print_examples), cmocka_unit_test(test_print_random),
        cmocka_unit_test(test_comma_locale),   cmocka_unit_test(test_whole_numbers),
        cmocka_unit_test(test_words),          cmocka_unit_test(test_fractions),
        cmocka_unit_test(test_nearest),        cmocka_unit_test(test_suggestions),
        cmocka_unit_test(test_members),        cmocka_unit_test(test_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
