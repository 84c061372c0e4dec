/* npy_header.c -- the header of a npy file
 *
 *   {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }
 *
 * Keys may come in any order; each must come once and no other may. Anything that is not
 * this grammar is refused with one sentence.
 */
#include <string.h>
#include "base/arena.h"
#include "base/error.h"
#include "data/npy_header.h"

typedef struct parser {
    const char *at, *name;
    fen_error *err;
} parser;

static fen_status malformed(const parser *p, const char *expected)
{
    return fenp_fail(p->err, FEN_BAD_DATA,
                     "%.200s has a damaged npy header: expected %s at "
                     "\"%.20s\"",
                     p->name, expected, p->at);
}

static void skip_blanks(parser *p) { p->at += strspn(p->at, " \t\r\n"); }

/* Takes the character c if it comes next. */
static int take(parser *p, char c)
{
    skip_blanks(p);
    if (*p->at != c) return 0;
    p->at++;
    return 1;
}

static int take_word(parser *p, const char *word)
{
    skip_blanks(p);
    size_t length = strlen(word);
    if (strncmp(p->at, word, length) != 0) return 0;
    p->at += length;
    return 1;
}

/* 'text' or "text", at most size-1 bytes. */
static int take_string(parser *p, char *out, size_t size)
{
    skip_blanks(p);
    char quote = *p->at;
    if (quote != '\'' && quote != '"') return 0;
    const char *end = strchr(p->at + 1, quote);
    size_t length = end ? (size_t)(end - p->at - 1) : size;
    if (length >= size) return 0;
    memcpy(out, p->at + 1, length);
    out[length] = '\0';
    p->at = end + 1;
    return 1;
}

/* A whole number >= 0; the L of Python 2 may follow it. */
static int take_count(parser *p, int64_t *out)
{
    skip_blanks(p);
    int64_t value = 0;
    const char *first = p->at;
    for (; *p->at >= '0' && *p->at <= '9'; p->at++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, *p->at - '0', &value))
            return 0;
    *out = value;
    if (p->at == first) return 0;
    take(p, 'L');
    return 1;
}

static fen_status read_type(parser *p, fenp_npy_header *head)
{
    char type[16], kind = 0;
    int bytes = 0;
    skip_blanks(p);
    if (*p->at == '[')
        return fenp_fail(p->err, FEN_BAD_DATA,
                         "%.200s holds records; save a plain array of "
                         "numbers, one column per field",
                         p->name);
    if (!take_string(p, type, sizeof type)) return malformed(p, "a type such as '<f8'");
    if (strlen(type) == 3 && strchr("<>|=", type[0])) {
        kind = type[1];
        bytes = type[2] - '0';
    }
    int known = kind == 'f'                  ? bytes == 4 || bytes == 8
                : kind == 'b'                ? bytes == 1
                : kind == 'i' || kind == 'u' ? bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8
                                             : 0;
    if (!known)
        return fenp_fail(p->err, FEN_BAD_DATA,
                         "%.200s holds items of type '%s', which are not "
                         "numbers known here; save it as array.astype(float)",
                         p->name, type);
    head->kind = kind;
    head->item_bytes = bytes;
    /* '=' was never written by NumPy; it means the order of the writing machine */
    head->big_endian = type[0] == '>' || (type[0] == '=' && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
    return FEN_OK;
}

static fen_status read_order(parser *p, fenp_npy_header *head)
{
    if (!take_word(p, "True") && !take_word(p, "False")) return malformed(p, "True or False");
    head->fortran = p->at[-2] == 'u';
    return FEN_OK;
}

static fen_status read_shape(parser *p, fenp_npy_header *head)
{
    int64_t size[2] = { 0, 1 };
    int dimensions = 0;
    if (!take(p, '(')) return malformed(p, "a shape such as (3, 4)");
    while (!take(p, ')')) {
        int64_t extra;
        if (!take_count(p, dimensions < 2 ? &size[dimensions] : &extra))
            return malformed(p, "a size");
        dimensions++;
        if (!take(p, ',') && *p->at != ')') return malformed(p, "a comma");
    }
    if (dimensions < 1 || dimensions > 2)
        return fenp_fail(p->err, FEN_BAD_DATA,
                         "%.200s is an array of %d dimensions; one (a column) "
                         "or two (rows x columns) are needed",
                         p->name, dimensions);
    head->rows = size[0];
    head->cols = size[1];
    if (head->rows == 0 || head->cols == 0)
        return fenp_fail(p->err, FEN_BAD_DATA, "%.200s is an empty array: %lld x %lld", p->name,
                         (long long)head->rows, (long long)head->cols);
    return FEN_OK;
}

fen_status fenp_npy_parse(const char *text, const char *name, fenp_npy_header *out, fen_error *err)
{
    static const struct {
        const char *key;
        fen_status (*read)(parser *, fenp_npy_header *);
    } entry[3] = { { "descr", read_type },
                   { "fortran_order", read_order },
                   { "shape", read_shape } };
    parser p = { text, name, err };
    fenp_npy_header head = { .rows = 0 };
    unsigned seen = 0;
    if (!take(&p, '{')) return malformed(&p, "{");
    while (!take(&p, '}')) {
        char key[16];
        if (!take_string(&p, key, sizeof key) || !take(&p, ':')) return malformed(&p, "a key");
        int k = 0;
        while (k < 3 && strcmp(key, entry[k].key) != 0) k++;
        if (k == 3 || (seen & (1u << k)))
            return malformed(&p, "descr, fortran_order and shape once each");
        seen |= 1u << k;
        fen_status status = entry[k].read(&p, &head);
        if (status != FEN_OK) return status;
        if (!take(&p, ',') && *p.at != '}') return malformed(&p, "a comma");
    }
    if (seen != 7) return malformed(&p, "descr, fortran_order and shape before the end");
    head.bytes = fenp_bytes(head.rows, head.cols, head.item_bytes);
    if (head.bytes < 0)
        return fenp_fail(err, FEN_BAD_DATA,
                         "%.200s claims %lld x %lld items, more than a file can "
                         "hold",
                         name, (long long)head.rows, (long long)head.cols);
    *out = head;
    return FEN_OK;
}

double fenp_npy_item(const fenp_npy_header *head, const unsigned char *at)
{
    uint64_t bits = 0;
    int bytes = head->item_bytes;
    for (int b = 0; b < bytes; b++)
        bits |= (uint64_t)at[head->big_endian ? bytes - 1 - b : b] << (8 * b);
    if (head->kind == 'f' && bytes == 8) {
        double value;
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    if (head->kind == 'f') {
        uint32_t half = (uint32_t)bits;
        float value;
        memcpy(&value, &half, sizeof value);
        return (double)value;
    }
    if (head->kind == 'i') { /* the sign bit is spread over the upper bytes */
        int unused = 64 - 8 * bytes;
        return (double)((int64_t)(bits << unused) >> unused);
    }
    return head->kind == 'b' ? (double)(bits != 0) : (double)bits;
}
