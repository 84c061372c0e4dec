/* text_table.h -- tables written as text, and what is learned from them
 *
 * "a,c*,y\n1,red,2\n...": a star marks a column of text, an empty cell is missing. */
#ifndef TEST_TEXT_TABLE_H
#define TEST_TEXT_TABLE_H
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/registry.h"
#include "data/bytes.h"
#include "data/prepare.h"

/* ---- tables and samples from text --------------------------------------------------------- */
static inline const char *word(const char **at, char *out)
{
    size_t length = strcspn(*at, ",\n");
    memcpy(out, *at, length);
    out[length] = '\0';
    *at += length + ((*at)[length] != '\0');
    return out;
}

static inline fen_table *table_of(const char *text)
{
    char cell[256];
    fen_table *t = fenp_table_new("t.csv");
    const char *line = text, *end = text + strcspn(text, "\n") + 1;
    t->column = calloc(64, sizeof *t->column);
    while (line < end) {
        fenp_column *c = &t->column[t->cols++];
        word(&line, cell);
        c->text = strchr(cell, '*') != NULL;
        cell[strcspn(cell, "*")] = '\0';
        c->name = strdup(cell);
    }
    t->first_line = 2;
    t->cells = calloc(strlen(text) + 1, sizeof *t->cells);
    for (; *line; t->rows++)
        for (int64_t j = 0; j < t->cols; j++) {
            word(&line, cell);
            t->cells[t->rows * t->cols + j] =
                !cell[0] ? NAN
                : t->column[j].text
                    ? (double)fenp_column_code(&t->column[j], cell, (int64_t)strlen(cell))
                    : strtod(cell, NULL);
        }
    return t;
}

static inline fen_table *sparse_of(const char *text)
{
    const fen_format *format = fenp_find_format("svmlight");
    fen_options o = fen_options_default();
    fen_bytes *in;
    void *state;
    fen_table *t;
    fen_error err;
    assert_int_equal(fenp_bytes_from_memory("t.svm", text, (int64_t)strlen(text), &in, &err),
                     FEN_OK);
    assert_int_equal(format->open(in, &o, &state, &err), FEN_OK);
    if (format->next(state, &t, &err) != FEN_OK) fail_msg("%s", err.message);
    format->close(state);
    fenp_bytes_close(in);
    return t;
}

typedef struct learned {
    fen_table *t;
    fenp_prep *prep;
    fenp_sample *s;
} learned;

static inline fen_options options(void)
{
    fen_options o = fen_options_default();
    o.target = o.weights = "";
    return o;
}

static inline learned learn_table(fen_table *t, const fen_options *o)
{
    learned l = { t, NULL, NULL };
    fen_error err;
    if (fenp_prep_learn(t, o, &l.prep, &l.s, &err) != FEN_OK) fail_msg("%s", err.message);
    assert_int_equal(l.s->p, l.prep->features);
    return l;
}

static inline learned learn(const char *text)
{
    fen_options o = options();
    return learn_table(table_of(text), &o);
}

static inline void forget(learned *l)
{
    fen_table_free(l->t);
    fenp_prep_free(l->prep);
    fenp_sample_free(l->s);
}

/* Features of the rows of text, which the caller frees. */
static inline double *apply(const fenp_prep *prep, fen_table *t)
{
    double *x = malloc((size_t)(t->rows * prep->features + 1) * sizeof *x);
    fen_error err;
    if (fenp_prep_apply(prep, t, x, &err) != FEN_OK) fail_msg("%s", err.message);
    fen_table_free(t);
    return x;
}

static inline void near(double a, double b)
{
    if (!(fabs(a - b) <= 1e-14 * fmax(1.0, fabs(b)))) fail_msg("%.17g is not %.17g", a, b);
}

/* Learning from t fails with a sentence that holds both pieces; t is freed. */
static inline void refused_table(fen_table *t, const fen_options *o, fen_status status,
                                 const char *a, const char *b)
{
    fenp_prep *prep = NULL;
    fenp_sample *s = NULL;
    fen_error err = { FEN_OK, "" };
    fen_status got = fenp_prep_learn(t, o, &prep, &s, &err);
    fen_table_free(t);
    if (got != status || !strstr(err.message, a) || !strstr(err.message, b))
        fail_msg("expected %d with \"%s\" and \"%s\", got %d: %s", (int)status, a, b, (int)got,
                 err.message);
    assert_null(prep);
    assert_null(s);
}

static inline void refused(const char *text, const fen_options *o, const char *a, const char *b)
{
    refused_table(table_of(text), o, FEN_BAD_DATA, a, b);
}

static inline void cannot_apply(const fenp_prep *prep, fen_table *t, const char *a, const char *b)
{
    double x[256];
    fen_error err = { FEN_OK, "" };
    fen_status got = fenp_prep_apply(prep, t, x, &err);
    fen_table_free(t);
    if (got != FEN_BAD_DATA || !strstr(err.message, a) || !strstr(err.message, b))
        fail_msg("expected \"%s\" and \"%s\", got %d: %s", a, b, (int)got, err.message);
}

#endif
