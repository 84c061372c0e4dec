/* csv_cell.c -- bytes to cells: quoting, blanks, ends of rows
 *
 * Grammar (RFC 4180 and what is met in the wild):
 *   row   = cell (separator cell)* newline
 *   cell  = blanks, then either text without separator or newline, or a quoted text in which
 *           "" stands for " and everything else for itself; then blanks
 *   A quote inside an unquoted cell is an ordinary character.
 * Blanks are space, tab and carriage return (hence CRLF), as far as none of them is the
 *   separator. A row of nothing but blanks is no row.
 * Cutting: only quotes at the start of a cell hide newlines, so rows are found by jumping
 *   from quote to quote with memchr; text without any quote is not looked at in between.
 */
#include <string.h>
#include "base/text.h"
#include "data/csv.h"

enum { EXCERPT = 40, NUMBER_MAX = 1024 };

static inline unsigned char kind_of(const fenp_csv_style *style, const char *p)
{
    return style->kind[(unsigned char)*p];
}

fenp_csv_style fenp_csv_style_of(char separator, char newline)
{
    fenp_csv_style style = { .separator = separator, .newline = newline, .decimal = '.' };
    unsigned char *kind = style.kind;
    kind[' '] = kind['\t'] = kind['\r'] = FENP_CSV_BLANK;
    kind[(unsigned char)separator] = FENP_CSV_SEPARATOR;
    if (separator == ' ') kind['\t'] = FENP_CSV_SEPARATOR;
    kind[(unsigned char)newline] = FENP_CSV_NEWLINE;
    return style;
}

/* ---- one cell ------------------------------------------------------------------------ */

static const char *skip(const fenp_csv_style *style, const char *p, const char *end, int kinds)
{
    while (p < end && kind_of(style, p) & kinds) p++;
    return p;
}

static const char *until(const fenp_csv_style *style, const char *p, const char *end, int kinds)
{
    while (p < end && !(kind_of(style, p) & kinds)) p++;
    return p;
}

/* The quote that closes the one at p, or NULL. */
static const char *closing_quote(const char *p, const char *end, int *doubled)
{
    for (p++; (p = memchr(p, '"', (size_t)(end - p))); p += 2) {
        if (p + 1 == end || p[1] != '"') return p;
        *doubled = 1;
    }
    return NULL;
}

const char *fenp_csv_take(const fenp_csv_style *style, const char *p, const char *end,
                          fenp_csv_cell *cell)
{
    const int stop = FENP_CSV_SEPARATOR | FENP_CSV_NEWLINE;
    p = skip(style, p, end, FENP_CSV_BLANK);
    *cell = (fenp_csv_cell){ .at = p };
    if (p == end || *p != '"') {
        const char *last = p = until(style, p, end, stop);
        while (last > cell->at && kind_of(style, last - 1) == FENP_CSV_BLANK) last--;
        cell->length = last - cell->at;
        return p;
    }
    const char *close = closing_quote(p, end, &cell->doubled);
    cell->at = p + 1;
    cell->quoted = 1;
    cell->length = (close ? close : end) - cell->at;
    if (!close) {
        cell->fault = FENP_CSV_OPEN_QUOTE;
        return end;
    }
    p = skip(style, close + 1, end, FENP_CSV_BLANK);
    const char *after = until(style, p, end, stop);
    if (after != p) cell->fault = FENP_CSV_AFTER_QUOTE;
    return after;
}

int fenp_csv_more(const fenp_csv_style *style, const char **p, const char *end)
{
    const char *q = *p;
    if (style->separator == ' ') {
        q = skip(style, q, end, FENP_CSV_SEPARATOR | FENP_CSV_BLANK);
        *p = q;
        if (q < end && kind_of(style, q) != FENP_CSV_NEWLINE) return 1;
    } else if (q < end && kind_of(style, q) == FENP_CSV_SEPARATOR) {
        *p = q + 1;
        return 1;
    }
    *p = q < end ? q + 1 : end;
    return 0;
}

const char *fenp_csv_row(const fenp_csv_style *style, const char *p, const char *end,
                         int64_t *lines)
{
    int blank = style->separator == ' ' ? FENP_CSV_BLANK | FENP_CSV_SEPARATOR : FENP_CSV_BLANK;
    for (;;) {
        const char *q = skip(style, p, end, blank);
        if (q == end) return end;
        /* leading blanks are skipped for good where they would count as a separator */
        if (kind_of(style, q) != FENP_CSV_NEWLINE) return style->separator == ' ' ? q : p;
        p = q + 1;
        ++*lines;
    }
}

/* ---- rows in bulk -------------------------------------------------------------------- */

/* Whether the quote at q opens a cell: nothing but blanks between it and what ends a cell. */
static int opens_cell(const fenp_csv_style *style, const char *row, const char *q)
{
    while (q > row && kind_of(style, q - 1) == FENP_CSV_BLANK) q--;
    return q == row || kind_of(style, q - 1) & (FENP_CSV_SEPARATOR | FENP_CSV_NEWLINE);
}

/* After the row at p, or NULL if it is not complete. *quote: the first quote at or after p,
 * or end; kept from row to row so that a rare quote is searched for once. */
static const char *row_end(const fenp_csv_style *style, const char *p, const char *end,
                           const char **quote)
{
    const char *row = p;
    for (;;) {
        const char *stop = memchr(p, style->newline, (size_t)(end - p));
        if (*quote < p) {
            const char *found = memchr(p, '"', (size_t)(end - p));
            *quote = found ? found : end;
        }
        if (*quote == end || (stop && stop < *quote)) return stop ? stop + 1 : NULL;
        int doubled;
        const char *close = *quote;
        if (opens_cell(style, row, *quote) && !(close = closing_quote(*quote, end, &doubled)))
            return NULL;
        p = close + 1;
    }
}

/* Text without quotes: every newline ends a row. */
static int cut_plain(const fenp_csv_style *style, const char *at, const char *end, int parts,
                     const char **cut)
{
    int64_t size = end - at;
    int made = 0;
    cut[0] = at;
    for (int k = 1; k < parts; k++) {
        const char *aim = at + size * k / parts;
        if (aim <= cut[made]) continue;
        const char *stop = memchr(aim - 1, style->newline, (size_t)(end - aim + 1));
        if (stop && stop + 1 < end) cut[++made] = stop + 1;
    }
    cut[++made] = end;
    return made;
}

static int cut_quoted(const fenp_csv_style *style, const char *at, const char *end, int whole,
                      int parts, const char **cut)
{
    int64_t size = end - at;
    int made = 0;
    const char *p = at, *quote = memchr(at, '"', (size_t)size);
    cut[0] = at;
    while (p < end) {
        const char *next = row_end(style, p, end, &quote);
        if (!next && !whole) break;
        p = next ? next : end;
        if (made < parts - 1 && p - at >= size * (made + 1) / parts && p < end) cut[++made] = p;
    }
    if (p > cut[made]) cut[++made] = p;
    return made;
}

int fenp_csv_cut(const fenp_csv_style *style, const char *at, int64_t size, int whole, int parts,
                 const char **cut)
{
    const char *end = at + size;
    if (size == 0) return 0;
    if (memchr(at, '"', (size_t)size)) /* then rows may hold newlines */
        return cut_quoted(style, at, end, whole, parts, cut);
    while (!whole && end > at && end[-1] != style->newline) end--;
    return end > at ? cut_plain(style, at, end, parts, cut) : 0;
}

int64_t fenp_csv_newlines(const char *p, const char *end, char newline)
{
    int64_t count = 0;
    for (; p < end; p++) count += *p == newline;
    return count;
}

/* ---- what a cell says ------------------------------------------------------------------ */

int fenp_csv_number(const fenp_csv_style *style, const fenp_csv_cell *cell, double *value)
{
    const char *at = cell->at;
    int64_t length = cell->length;
    while (length > 0 && *at == ' ') at++, length--; /* blanks within quotes */
    while (length > 0 && at[length - 1] == ' ') length--;
    if (style->decimal == '.') return fenp_parse_double(at, length, value);
    char copy[NUMBER_MAX];
    if (length > NUMBER_MAX || memchr(at, '.', (size_t)length)) return 0;
    memcpy(copy, at, (size_t)length);
    char *comma = memchr(copy, ',', (size_t)length);
    if (comma) *comma = '.';
    return fenp_parse_double(copy, length, value);
}

int64_t fenp_csv_unquote(const fenp_csv_cell *cell, char *out)
{
    int64_t length = 0;
    for (int64_t i = 0; i < cell->length; i++) {
        out[length++] = cell->at[i];
        if (cell->doubled && cell->at[i] == '"') i++;
    }
    return length;
}

void fenp_csv_excerpt(const fenp_csv_cell *cell, char out[64])
{
    int64_t length = cell->length < EXCERPT ? cell->length : EXCERPT;
    /* not in the middle of a UTF-8 character */
    while (length < cell->length && length > 0 && ((unsigned char)cell->at[length] & 0xc0) == 0x80)
        length--;
    memcpy(out, cell->at, (size_t)length);
    memcpy(out + length, length < cell->length ? "..." : "", length < cell->length ? 4 : 1);
}
