/* option_type.c -- what may be written after an option
 *
 * Method: a type is a pair of functions. set parses text into a field; check looks at a
 *   field that somebody filled by hand. Both end in the same range test, so that they
 *   cannot disagree.
 * Special cases: low = FENP_POSITIVE reads "greater than 0". A word ("auto", "none") may
 *   stand for a value outside the range, which a field may hold and nobody may type: --nu 0
 *   is a mistake, not "none". A choice that ends in ':' is followed by a
 *   whole number from low to high. Grids have equal ratios, or equal steps that are
 *   rounded to twelve decimals so that 0.1:2.9:29 holds 2 itself; both ends are met. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/error.h"
#include "base/option.h"
#include "base/registry.h"
#include "base/text.h"

/* ---- ranges ----------------------------------------------------------------- */

/* Bounds are printed by our own routine: printf's decimal point follows the locale. */
static void describe_range(const fenp_option *r, int whole, char *out, size_t size)
{
    char low[32], high[32], range[96], word[64] = "";
    fenp_print_double(r->low, low);
    fenp_print_double(r->high, high);
    if (r->low == FENP_POSITIVE && r->high == FENP_NO_LIMIT)
        snprintf(range, sizeof range, "greater than 0");
    else if (r->low == FENP_POSITIVE)
        snprintf(range, sizeof range, "greater than 0 and at most %s", high);
    else if (r->high < FENP_NO_LIMIT)
        snprintf(range, sizeof range, "from %s to %s", low, high);
    else
        snprintf(range, sizeof range, "at least %s", low);
    if (r->words) snprintf(word, sizeof word, " or \"%s\"", r->words);
    snprintf(out, size, "%s%s%s", whole ? "a whole number " : "", range, word);
}

static fen_status refuse(const fenp_option *r, int whole, const char *text, fen_error *err)
{
    char range[192];
    describe_range(r, whole, range, sizeof range);
    return fenp_fail(err, FEN_BAD_CALL, "--%s must be %s, not \"%s\"", r->shown.name, range, text);
}

static fen_status refuse_number(const fenp_option *r, int whole, double value, fen_error *err)
{
    char text[32];
    fenp_print_double(value, text);
    return refuse(r, whole, text, err);
}

static int in_range(const fenp_option *r, double value) /* false for NaN */
{
    return isfinite(value) && value >= r->low && value <= r->high;
}

/* Fields filled by hand may hold the value that the word stands for. */
static int stands_for_word(const fenp_option *r, double value)
{
    return r->words && (value == r->stands_for || (r->stands_for < 0 && value < 0));
}

static int is_the_word(const fenp_option *r, const char *text)
{
    return r->words && strcmp(text, r->words) == 0;
}

/* ---- text and choices --------------------------------------------------------- */

static fen_status check_text(const fenp_option *r, const void *field, fen_error *err)
{
    const char *text = *(const char *const *)field;
    if (text == NULL)
        return fenp_fail(err, FEN_BAD_CALL, "--%s is NULL; start from fen_options_default()",
                         r->shown.name);
    return FEN_OK;
}

static fen_status set_text(const fenp_option *r, void *field, const char *text, fen_error *err)
{
    (void)r;
    (void)err;
    *(const char **)field = text;
    return FEN_OK;
}

enum { CHOICES_MAX = 64 };
typedef struct choices {
    const char *at[CHOICES_MAX + 1]; /* ends with NULL */
    int32_t count;
    char words[256]; /* the row's own, cut into strings */
} choices;

static void collect_choices(const fenp_option *r, choices *c)
{
    c->count = 0;
    snprintf(c->words, sizeof c->words, "%s", r->words);
    char *rest = NULL;
    for (char *word = strtok_r(c->words, " ", &rest); word && c->count < CHOICES_MAX;
         word = strtok_r(NULL, " ", &rest))
        c->at[c->count++] = word;
    for (int32_t i = 0; r->list && c->count < CHOICES_MAX; i++) {
        const char *name = fen_list(r->list, i, NULL);
        if (name == NULL) break;
        c->at[c->count++] = name;
    }
    c->at[c->count] = NULL;
}

static int matches_choice(const fenp_option *r, const char *choice, const char *text)
{
    size_t length = strlen(choice);
    if (length == 0 || choice[length - 1] != ':') return strcmp(choice, text) == 0;
    int64_t number;
    return strncmp(choice, text, length) == 0 &&
           fenp_parse_int(text + length, (int64_t)strlen(text + length), &number) &&
           in_range(r, (double)number);
}

/* What other programs call it: too far from our names for the edit distance. */
static const char *const elsewhere[][2] = {
    { "rbf", "gaussian" },
    { "poly", "polynomial" },
    { "laplacian", "laplace1" },
    { NULL, NULL },
};

static fen_status refuse_choice(const fenp_option *r, const choices *c, const char *text,
                                fen_error *err)
{
    const char *near = fenp_suggest(text, elsewhere, c->at);
    if (near && near[strlen(near) - 1] != ':')
        return fenp_fail(err, FEN_BAD_CALL, "--%s \"%s\" is unknown; did you mean %s?",
                         r->shown.name, text, near);
    if (near && strncmp(near, text, strlen(near) - 1) == 0 && !text[strlen(near) - 1])
        return fenp_fail(err, FEN_BAD_CALL, "--%s \"%s\" lacks a number; did you mean %s%d?",
                         r->shown.name, text, near, r->high > 1000 ? 1000 : 10);
    char known[320] = "";
    const char *letter = r->high > 0 ? strchr(r->shown.argument, ':') + 1 : ""; /* K of kfold:K */
    size_t used = 0;
    for (int32_t i = 0; i < c->count && used < sizeof known; i++) {
        const int numbered = strchr(c->at[i], ':') != NULL;
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s%.*s", i > 0 ? ", " : "",
                                 c->at[i], numbered, letter);
    }
    if (r->high > 0 && used < sizeof known)
        snprintf(known + used, sizeof known - used, " with %.1s from %d to %d", letter, (int)r->low,
                 (int)r->high);
    return fenp_fail(err, FEN_BAD_CALL, "--%s \"%s\" is unknown; it may be %s", r->shown.name, text,
                     known);
}

static fen_status set_choice(const fenp_option *r, void *field, const char *text, fen_error *err)
{
    choices c;
    collect_choices(r, &c);
    for (int32_t i = 0; i < c.count; i++)
        if (matches_choice(r, c.at[i], text)) {
            *(const char **)field = text;
            return FEN_OK;
        }
    return refuse_choice(r, &c, text, err);
}

static fen_status check_choice(const fenp_option *r, const void *field, fen_error *err)
{
    const char *again;
    fen_status status = check_text(r, field, err);
    return status ? status : set_choice(r, &again, *(const char *const *)field, err);
}

/* ---- the loss: NAME, NAME:VALUE or NAME:VALUE,VALUE ------------------------------ */

/* Whether it fits the targets is seen when they are known. */
static fen_status set_loss(const fenp_option *r, void *field, const char *text, fen_error *err)
{
    fenp_loss_choice parsed;
    const int classes = 1;
    (void)r;
    fen_status status = fenp_parse_loss(text, classes, &parsed, err);
    if (!status) *(const char **)field = text;
    return status;
}

static fen_status check_loss(const fenp_option *r, const void *field, fen_error *err)
{
    const char *again;
    fen_status status = check_text(r, field, err);
    return status ? status : set_loss(r, &again, *(const char *const *)field, err);
}

/* ---- the penalty: NAME or NAME:VALUE --------------------------------------------- */

static fen_status set_penalty(const fenp_option *r, void *field, const char *text, fen_error *err)
{
    fenp_penalty_choice parsed;
    (void)r;
    fen_status status = fenp_parse_penalty(text, &parsed, err);
    if (!status) *(const char **)field = text;
    return status;
}

static fen_status check_penalty(const fenp_option *r, const void *field, fen_error *err)
{
    const char *again;
    fen_status status = check_text(r, field, err);
    return status ? status : set_penalty(r, &again, *(const char *const *)field, err);
}

/* ---- numbers ------------------------------------------------------------------- */

static fen_status parse_whole(const fenp_option *r, const char *text, int64_t *value,
                              fen_error *err)
{
    if (is_the_word(r, text))
        *value = (int64_t)r->stands_for;
    else if (!fenp_parse_int(text, (int64_t)strlen(text), value) || !in_range(r, (double)*value))
        return refuse(r, 1, text, err);
    return FEN_OK;
}

static fen_status check_whole(const fenp_option *r, int64_t value, fen_error *err)
{
    double number = (double)value;
    return in_range(r, number) || stands_for_word(r, number) ? FEN_OK
                                                             : refuse_number(r, 1, number, err);
}

static fen_status set_int32(const fenp_option *r, void *field, const char *text, fen_error *err)
{
    int64_t value;
    fen_status status = parse_whole(r, text, &value, err);
    if (!status) *(int32_t *)field = (int32_t)value; /* ranges of this type lie within int32_t */
    return status;
}

static fen_status check_int32(const fenp_option *r, const void *field, fen_error *err)
{
    return check_whole(r, *(const int32_t *)field, err);
}

static fen_status set_int64(const fenp_option *r, void *field, const char *text, fen_error *err)
{
    int64_t value;
    fen_status status = parse_whole(r, text, &value, err);
    if (!status) *(int64_t *)field = value;
    return status;
}

static fen_status check_int64(const fenp_option *r, const void *field, fen_error *err)
{
    return check_whole(r, *(const int64_t *)field, err);
}

static fen_status set_seed(const fenp_option *r, void *field, const char *text, fen_error *err)
{
    int64_t value;
    fen_status status = parse_whole(r, text, &value, err);
    if (!status) *(uint64_t *)field = (uint64_t)value;
    return status;
}

static fen_status check_seed(const fenp_option *r, const void *field, fen_error *err)
{
    (void)r;
    (void)field;
    (void)err;
    return FEN_OK; /* every 64-bit pattern is a seed */
}

static fen_status set_real(const fenp_option *r, void *field, const char *text, fen_error *err)
{
    double value;
    if (is_the_word(r, text))
        value = r->stands_for;
    else if (!fenp_parse_fraction(text, (int64_t)strlen(text), &value) || !in_range(r, value))
        return refuse(r, 0, text, err);
    *(double *)field = value;
    return FEN_OK;
}

static fen_status check_real(const fenp_option *r, const void *field, fen_error *err)
{
    double value = *(const double *)field;
    return in_range(r, value) || stands_for_word(r, value) ? FEN_OK
                                                           : refuse_number(r, 0, value, err);
}

/* 8G, 500M, 1.5G or plain bytes; K, M, G, T are powers of 1000, as in every message. */
static fen_status set_bytes(const fenp_option *r, void *field, const char *text, fen_error *err)
{
    static const char units[] = "KMGT";
    int64_t length = (int64_t)strlen(text);
    const char *unit = length > 1 ? strchr(units, text[length - 1]) : NULL;
    double value;
    if (is_the_word(r, text))
        value = r->stands_for;
    else if (!fenp_parse_double(text, unit ? length - 1 : length, &value))
        return fenp_fail(err, FEN_BAD_CALL,
                         "--%s must be a size like 8G, 500M or \"%s\", not \"%s\"", r->shown.name,
                         r->words, text);
    else if (unit)
        value *= pow(1000, (double)(unit - units + 1));
    if (!is_the_word(r, text) && !in_range(r, value)) return refuse(r, 0, text, err);
    *(int64_t *)field = (int64_t)value;
    return FEN_OK;
}

static fen_status set_on(const fenp_option *r, void *field, const char *text, fen_error *err)
{
    int on = text[0] == '\0' || strcmp(text, "yes") == 0;
    if (!on && strcmp(text, "no") != 0)
        return fenp_fail(err, FEN_BAD_CALL, "--%s takes no value, not \"%s\"", r->shown.name, text);
    *(int32_t *)field = on;
    return FEN_OK;
}

/* A switch that is named by what it turns off: --no-bias clears bias. */
static fen_status set_off(const fenp_option *r, void *field, const char *text, fen_error *err)
{
    int32_t on = 0;
    fen_status status = set_on(r, &on, text, err);
    if (!status) *(int32_t *)field = !on;
    return status;
}

/* ---- values: given, searched or left to us ---------------------------------------- */

static fen_status refuse_values(const fenp_option *r, const char *text, fen_error *err)
{
    return fenp_fail(err, FEN_BAD_CALL,
                     "--%s must be auto, %s%sa number, a list like 0.1,1,10 "
                     "or a grid low:high:count with low < high and 2 to %d values, not \"%s\"",
                     r->shown.name, r->words ? r->words : "", r->words ? ", " : "", FEN_VALUES_MAX,
                     text);
}

/* One of several values is refused for its own sake, without the words for the whole. */
static fenp_option one_value(const fenp_option *r)
{
    return (fenp_option){ .shown = r->shown, .low = r->low, .high = r->high };
}

typedef struct reader {
    const fenp_option *row;
    const char *text; /* all that was written */
    fen_values *out;
    fen_status status;
    fen_error *err;
} reader;

static fen_status parse_value(const reader *in, const char *item, int64_t length, double *value)
{
    if (!fenp_parse_fraction(item, length, value)) return refuse_values(in->row, in->text, in->err);
    if (in_range(in->row, *value)) return FEN_OK;
    char piece[64];
    snprintf(piece, sizeof piece, "%.*s", (int)(length < 63 ? length : 63), item);
    if (*value == 0.0 && strcmp(in->row->shown.name, "lambda") == 0)
        return fenp_fail(in->err, FEN_BAD_CALL,
                         "--lambda must be greater than 0, not \"%s\"; a fit without a penalty is "
                         "--penalty none without --lambda",
                         piece);
    fenp_option one = one_value(in->row);
    return refuse(&one, 0, piece, in->err);
}

static int append_value(void *user, const char *item, int64_t length)
{
    reader *in = user;
    fen_values *out = in->out;
    if (out->count == FEN_VALUES_MAX)
        in->status = fenp_fail(in->err, FEN_BAD_CALL, "--%s takes at most %d values",
                               in->row->shown.name, FEN_VALUES_MAX);
    else
        in->status = parse_value(in, item, length, &out->at[out->count]);
    if (!in->status) out->count++;
    return in->status != FEN_OK;
}

static void fill_grid(fen_values *out, double low, double high, int even_steps)
{
    const int32_t last = out->count - 1;
    const double ratio = (log(high) - log(low)) / last; /* high/low may overflow */
    for (int32_t i = 0; i <= last; i++)
        out->at[i] = even_steps ? round(1e12 * (low + (high - low) * i / last)) / 1e12
                                : exp(log(low) + ratio * i);
    out->at[0] = low;
    out->at[last] = high;
}

static fen_status parse_grid(const reader *in)
{
    const char *first = strchr(in->text, ':'), *second = strchr(first + 1, ':');
    fen_values *out = in->out;
    int64_t count;
    double low, high;
    if (!second || !fenp_parse_int(second + 1, (int64_t)strlen(second + 1), &count))
        return refuse_values(in->row, in->text, in->err);
    fen_status status = parse_value(in, in->text, first - in->text, &low);
    if (!status) status = parse_value(in, first + 1, second - first - 1, &high);
    if (status) return status;
    if (!(low < high) || count < 2 || count > FEN_VALUES_MAX)
        return refuse_values(in->row, in->text, in->err);
    out->count = (int32_t)count;
    fill_grid(out, low, high, in->row->even_steps);
    return FEN_OK;
}

static fen_status set_values(const fenp_option *r, void *field, const char *text, fen_error *err)
{
    fen_values parsed = { .choice = FEN_GIVEN };
    reader in = { r, text, &parsed, FEN_OK, err };
    if (strcmp(text, "auto") == 0)
        parsed.choice = FEN_AUTO;
    else if (is_the_word(r, text))
        parsed.choice = FEN_RULE;
    else if (strchr(text, ':'))
        in.status = parse_grid(&in);
    else {
        fenp_each_item(text, append_value, &in);
        if (!in.status && parsed.count == 0) in.status = refuse_values(r, text, err);
    }
    if (!in.status) *(fen_values *)field = parsed;
    return in.status;
}

static fen_status check_values(const fenp_option *r, const void *field, fen_error *err)
{
    const fen_values *v = field;
    if (v->choice == FEN_AUTO || (v->choice == FEN_RULE && r->words)) return FEN_OK;
    if (v->choice != FEN_GIVEN || v->count < 1 || v->count > FEN_VALUES_MAX)
        return fenp_fail(err, FEN_BAD_CALL, "--%s holds %" PRId32 " values, expected 1 to %d",
                         r->shown.name, v->count, FEN_VALUES_MAX);
    fenp_option one = one_value(r);
    for (int32_t i = 0; i < v->count; i++)
        if (!in_range(r, v->at[i])) return refuse_number(&one, 0, v->at[i], err);
    return FEN_OK;
}

/* ---- the types ------------------------------------------------------------------- */

/* clang-format off */
const fenp_option_type fenp_text_type   = { set_text,   check_text };
const fenp_option_type fenp_choice_type = { set_choice, check_choice };
const fenp_option_type fenp_loss_type   = { set_loss,   check_loss };
const fenp_option_type fenp_penalty_type = { set_penalty, check_penalty };
const fenp_option_type fenp_int32_type  = { set_int32,  check_int32 };
const fenp_option_type fenp_int64_type  = { set_int64,  check_int64 };
const fenp_option_type fenp_seed_type   = { set_seed,   check_seed };
const fenp_option_type fenp_real_type   = { set_real,   check_real };
const fenp_option_type fenp_values_type = { set_values, check_values };
const fenp_option_type fenp_bytes_type  = { set_bytes,  check_int64 };
const fenp_option_type fenp_on_type     = { set_on,     check_int32 };
const fenp_option_type fenp_off_type    = { set_off,    check_int32 };
/* clang-format on */
