/* parse.c -- the penalty of --penalty NAME[:VALUE], and the kernel that goes with it
 *
 * elastic and lp take a number, group the way in which columns are grouped, all others nothing. */
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "base/error.h"
#include "base/registry.h"
#include "base/text.h"

static const double NEAREST_TO_1 = 1.0001; /* of lp: q-th powers, q = 10001 */
enum { NAME_MAX_KNOWN = 31, PENALTIES_MAX = 64 };

/* ---- names ------------------------------------------------------------------------ */

/* What other programs call it: too far from our names for the edit distance. */
static const char *const elsewhere[][2] = {
    { "lasso", "l1" },          { "L1", "l1" },
    { "enet", "elastic" },      { "elasticnet", "elastic" },
    { "en", "elastic" },        { "elastic-net", "elastic" },
    { "grplasso", "group" },    { "grouplasso", "group" },
    { "group-lasso", "group" }, { "ols", "none" },
    { "no", "none" },           { NULL, NULL },
};

/* That is rkhs, whose own kernel makes something else of it. */
static int is_ridge(const char *name)
{
    return strcasecmp(name, "ridge") == 0 || strcasecmp(name, "l2") == 0;
}

static fen_status unknown(const char *text, const char *name, fen_error *err)
{
    const char *names[PENALTIES_MAX + 1] = { NULL };
    char known[256] = "";
    for (int i = 0; fenp_penalties[i] && i < PENALTIES_MAX; i++) names[i] = fenp_penalties[i]->name;
    fenp_join(names, known, sizeof known);
    const char *near = fenp_suggest(name, elsewhere, names);
    const size_t sign = strcspn(name, "=");
    for (int i = 0; name[sign] && names[i]; i++)
        if (strlen(names[i]) == sign && strncmp(names[i], name, sign) == 0)
            return fenp_fail(err, FEN_BAD_CALL,
                             "--penalty \"%.64s\" is unknown; did you mean %s:%.64s?", text,
                             names[i], text + sign + 1);
    if (is_ridge(name))
        return fenp_fail(err, FEN_BAD_CALL,
                         "--penalty \"%.64s\" is unknown; ridge regression is --kernel linear with "
                         "the default penalty, rkhs",
                         text);
    if (near)
        return fenp_fail(err, FEN_BAD_CALL, "--penalty \"%.64s\" is unknown; did you mean %s?",
                         text, near);
    return fenp_fail(err, FEN_BAD_CALL, "--penalty \"%.64s\" is unknown; it may be %s", text,
                     known);
}

/* ---- values ----------------------------------------------------------------------- */

static fen_status read_number(const fen_penalty *penalty, const char *value, double *out,
                              fen_error *err)
{
    const fen_parameter *p = &penalty->parameter;
    char low[32], high[32];
    if (fenp_parse_fraction(value, (int64_t)strlen(value), out) &&
        (*out > p->low || (p->from_low && *out == p->low)) && *out < p->high)
        return FEN_OK;
    fenp_print_double(p->low, low);
    fenp_print_double(p->high, high);
    return fenp_fail(err, FEN_BAD_CALL,
                     "--penalty %s:%.64s: %s must be a number %s %s and below %s%s", penalty->name,
                     value, p->name, p->from_low ? "from" : "above", low, high,
                     p->high == 1.0 ? "; of 1 it is --penalty l1" : "");
}

/* The number of lp has other penalties beyond its ends. */
static fen_status read_exponent(const fen_penalty *penalty, const char *value, double *out,
                                fen_error *err)
{
    const int number = value && fenp_parse_fraction(value, (int64_t)strlen(value), out);
    if (!value || value[0] == '\0')
        return fenp_fail(err, FEN_BAD_CALL,
                         "--penalty %s needs its exponent: lp:P with P above 1 and at most 2, such "
                         "as lp:4/3",
                         penalty->name);
    if (number && *out > penalty->parameter.low && *out < NEAREST_TO_1)
        return fenp_fail(err, FEN_BAD_CALL,
                         "--penalty %s:%.64s: P must be at least 1.0001; so near 1 use --penalty "
                         "l1",
                         penalty->name, value);
    if (number && *out > penalty->parameter.low && *out < penalty->parameter.high) return FEN_OK;
    return fenp_fail(err, FEN_BAD_CALL,
                     "--penalty %s:%.64s: P must be a number above 1 and at most 2%s",
                     penalty->name, value,
                     !number                          ? ", such as lp:4/3"
                     : *out <= penalty->parameter.low ? "; for sparse weights use --penalty l1"
                                                      : "; lp:2 is ridge regression");
}

static fen_status read_groups(const char *value, fenp_penalty_choice *out, fen_error *err)
{
    out->how = value;
    if (strcmp(value, "prefix") == 0 || strcmp(value, "prefix:") == 0)
        return fenp_fail(err, FEN_BAD_CALL,
                         "--penalty group:prefix needs the separator behind the prefix: "
                         "group:prefix:_");
    if (value[0] == '\0')
        return fenp_fail(err, FEN_BAD_CALL,
                         "--penalty group: says nothing behind the colon; it may be group:auto, "
                         "group:prefix:SEP, group:targets or group:FILE");
    return FEN_OK;
}

fen_status fenp_parse_penalty(const char *text, fenp_penalty_choice *out, fen_error *err)
{
    const size_t length = strcspn(text, ":");
    const char *value = text[length] ? text + length + 1 : NULL;
    char name[NAME_MAX_KNOWN + 1];
    snprintf(name, sizeof name, "%.*s", (int)(length < NAME_MAX_KNOWN ? length : NAME_MAX_KNOWN),
             text);
    const fen_penalty *found = length <= NAME_MAX_KNOWN ? fenp_find_penalty(name) : NULL;
    if (!found) return unknown(text, name, err);
    const int number = found->parameter.name && found->written;
    *out = (fenp_penalty_choice){ found, number ? found->parameter.initial : 1.0, NULL };
    if (found->parts == FEN_GROUPS) return read_groups(value ? value : "auto", out, err);
    if (number && found->parts == FEN_WHOLE) return read_exponent(found, value, &out->par, err);
    if (!value) return FEN_OK;
    if (number) return read_number(found, value, &out->par, err);
    return fenp_fail(err, FEN_BAD_CALL, "--penalty %s takes no value; leave \":%.64s\" out%s",
                     found->name, value,
                     found->parts == FEN_WHOLE ? " (the power is --power)" : "");
}

/* ---- what follows from it ----------------------------------------------------------- */

double fenp_exponent_of(const fen_options *o)
{
    fenp_penalty_choice choice;
    const int lp = fenp_parse_penalty(o->penalty, &choice, NULL) == FEN_OK &&
                   choice.penalty == fenp_find_penalty("lp");
    return lp ? choice.par : 0.0;
}

int fenp_on_coefficients(const fen_options *o)
{
    fenp_penalty_choice choice;
    return fenp_parse_penalty(o->penalty, &choice, NULL) == FEN_OK &&
           choice.penalty->parts != FEN_WHOLE;
}

const fen_kernel *fenp_kernel_of(const fen_options *o)
{
    if (strcmp(o->kernel, "auto") != 0) return fenp_find_kernel(o->kernel);
    const int linear = fenp_on_coefficients(o) || fenp_exponent_of(o) > 0.0;
    return fenp_find_kernel(linear ? "linear" : "gaussian");
}
