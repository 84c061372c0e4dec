/* parse.c -- the loss of --loss NAME[:VALUE[,VALUE...]]
 *
 * Every value makes an output of its own (quantiles). Values must be different and within the
 * range of the loss's parameter; "auto" in the place of an epsilon or k is NaN, to be filled in
 * from the data. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/error.h"
#include "base/registry.h"
#include "base/text.h"
#include "loss/traits.h"

enum { NAME_MAX_KNOWN = 31, LOSSES_MAX = 64 };

/* The values of one loss while they are read. */
typedef struct reader {
    const char *text; /* all that was written */
    fenp_loss_choice *out;
    fen_status status;
    fen_error *err;
} reader;

/* ---- names ------------------------------------------------------------------------ */

/* What other programs call it: too far from our names for the edit distance. */
static const char *const elsewhere[][2] = {
    { "mse", "square" },
    { "squared", "square" },
    { "l2", "square" },
    { "ridge", "square" },
    { "mae", "absolute" },
    { "l1", "absolute" },
    { "median", "absolute" },
    { "svr", "eps" },
    { "epsilon", "eps" },
    { "quantile", "pinball" },
    { "svm", "hinge" },
    { "svc", "hinge" },
    { "squared_hinge", "sqhinge" },
    { "log", "logistic" },
    { "logit", "logistic" },
    { "cross-entropy", "logistic" },
    { NULL, NULL },
};

static fen_status unknown(const char *text, const char *name, fen_error *err)
{
    const char *names[LOSSES_MAX + 1] = { NULL };
    char known[256] = "";
    for (int i = 0; fenp_losses[i] && i < LOSSES_MAX; i++) names[i] = fenp_losses[i]->name;
    fenp_join(names, known, sizeof known);
    const char *near = fenp_suggest(name, elsewhere, names);
    if (strcmp(name, "auto") == 0)
        return fenp_fail(err, FEN_BAD_CALL, "--loss \"%.64s\" is unknown; auto takes no value",
                         text);
    if (near)
        return fenp_fail(err, FEN_BAD_CALL, "--loss \"%.64s\" is unknown; did you mean %s?", text,
                         near);
    return fenp_fail(err, FEN_BAD_CALL, "--loss \"%.64s\" is unknown; it may be auto, %s", text,
                     known);
}

/* The loss that text names before its colon, if any; auto goes by the kind of target. */
static fen_status find(const char *text, int classes, const fen_loss **loss, fen_error *err)
{
    const size_t length = strcspn(text, ":");
    char name[NAME_MAX_KNOWN + 1];
    snprintf(name, sizeof name, "%.*s", (int)(length < NAME_MAX_KNOWN ? length : NAME_MAX_KNOWN),
             text);
    if (strcmp(text, "auto") == 0)
        *loss = fenp_find_loss(classes ? "logistic" : "square");
    else
        *loss = length <= NAME_MAX_KNOWN ? fenp_find_loss(name) : NULL;
    if (!*loss) return unknown(text, name, err);
    if ((*loss)->labels == FEN_SIGNS && !classes)
        return fenp_fail(err, FEN_BAD_CALL,
                         "--loss %s is for classes, but the target holds numbers; choose another "
                         "loss, or --task classification",
                         name);
    return FEN_OK;
}

/* ---- values ----------------------------------------------------------------------- */

/* The rules that go by the noise need a loss that forgives what lies outside the tube. */
static int has_rule(const fen_loss *loss)
{
    return strcmp(loss->name, "eps") == 0 || strcmp(loss->name, "sqeps") == 0 ||
           fenp_is_huber(loss);
}

static int in_range(const fen_parameter *p, double value) /* false for NaN */
{
    return (value > p->low || (p->from_low && value == p->low)) && value < p->high;
}

static fen_status refuse(const reader *in, const char *item, int64_t length)
{
    const fen_loss *loss = in->out->loss;
    const fen_parameter *p = &loss->parameter;
    char low[32], high[32], range[96];
    fenp_print_double(p->low, low);
    fenp_print_double(p->high, high);
    if (isfinite(p->high))
        snprintf(range, sizeof range, "lie strictly between %s and %s", low, high);
    else
        snprintf(range, sizeof range, "be a number %s %s%s", p->from_low ? "of at least" : "above",
                 low, has_rule(loss) ? " or auto" : "");
    return fenp_fail(in->err, FEN_BAD_CALL, "--loss %s:%.*s: %s must %s", loss->name,
                     (int)(length < 64 ? length : 64), item, p->name, range);
}

static int append(void *user, const char *item, int64_t length)
{
    reader *in = user;
    fenp_loss_choice *out = in->out;
    const fen_parameter *p = &out->loss->parameter;
    double value = NAN;
    const int rule = has_rule(out->loss) && length == 4 && memcmp(item, "auto", 4) == 0;
    if (!rule && (!fenp_parse_double(item, length, &value) || !in_range(p, value)))
        in->status = refuse(in, item, length);
    else if (out->count == FENP_PARAMETERS_MAX)
        in->status = fenp_fail(in->err, FEN_BAD_CALL, "--loss %s takes at most %d values of %s",
                               out->loss->name, FENP_PARAMETERS_MAX, p->name);
    for (int i = 0; i < out->count && !in->status; i++)
        if (out->par[i] == value || (isnan(out->par[i]) && rule))
            in->status = fenp_fail(in->err, FEN_BAD_CALL, "--loss %s: %s %.*s is given twice",
                                   in->text, p->name, (int)length, item);
    if (!in->status) out->par[out->count++] = value;
    return in->status != FEN_OK;
}

static fen_status read_values(const char *text, const char *values, fenp_loss_choice *out,
                              fen_error *err)
{
    reader in = { text, out, FEN_OK, err };
    const fen_loss *loss = out->loss;
    if (!loss->parameter.name)
        return fenp_fail(err, FEN_BAD_CALL, "--loss %s takes no value; leave \":%s\" out",
                         loss->name, values);
    fenp_each_item(values, append, &in);
    if (!in.status && out->count == 0)
        return fenp_fail(err, FEN_BAD_CALL, "--loss %s: a value of %s is missing after the colon",
                         text, loss->parameter.name);
    return in.status;
}

fen_status fenp_parse_loss(const char *text, int classes, fenp_loss_choice *out, fen_error *err)
{
    const char *colon = strchr(text, ':');
    *out = (fenp_loss_choice){ 0 };
    fen_status status = find(text, classes, &out->loss, err);
    if (!status && colon) return read_values(text, colon + 1, out, err);
    if (!status) out->par[out->count++] = out->loss->parameter.initial;
    return status;
}
