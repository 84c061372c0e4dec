/* plot.c -- curves as SVG
 *
 * One panel for every target: a frame, a line for every coefficient, the number of terms above,
 * names at the right end of the largest ones, moved apart where they would overlap; the margin
 * there is as wide as they are. Colours that come again are dashed. Numbers have two decimals of
 * a pixel; nothing but the curves decides what is written. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "plot.h"

enum { FRAME = 614, PANEL = 460, LEFT = 76, TOP = 62, BOTTOM = 58, END = LEFT + FRAME };
enum { MOST_LINES = 400, MOST_NAMES = 12, NAME_HEIGHT = 14, NAME_LENGTH = 60, TITLE_LENGTH = 36 };
enum { CHARACTER = 7, LEAST_RIGHT = 130 }; /* pixels: a wide one; room for "n more not labelled" */

/* Dark enough on white, and told apart by most eyes. */
static const char *const colours[] = { "#1f5fa8", "#c8501e", "#2e7d4f", "#8a3f9e", "#b08a00",
                                       "#0f8a9d", "#a8324a", "#5b5b5b", "#6b7f1e", "#3d4db3" };
enum { COLOURS = sizeof colours / sizeof *colours };

typedef struct panel {
    const figure *f;
    const curves *c;
    FILE *out;
    double top;     /* of the frame */
    double x0, x1;  /* at its left and right end: x or log10 x */
    double y0, y1;  /* at its lower and upper end */
    int64_t *order; /* lines, the largest first */
    int64_t moving; /* of them: those that are not 0 everywhere */
} panel;

static double frame_width(void) { return FRAME; }
static double frame_height(void) { return PANEL - TOP - BOTTOM; }
static double coordinate(const figure *f, double x) { return f->logarithmic ? log10(x) : x; }

static double across(const panel *p, double x)
{
    return LEFT + frame_width() * (coordinate(p->f, x) - p->x0) / (p->x1 - p->x0);
}

static double down(const panel *p, double y)
{
    return p->top + frame_height() * (p->y1 - y) / (p->y1 - p->y0);
}

/* ---- text --------------------------------------------------------------------------------- */

/* At most so many characters, with what XML reserves written out. */
static void put_escaped(FILE *out, const char *text, int most)
{
    const char *end = text + strlen(text);
    char shown[8];
    for (int count = 0; text < end && count < most; count++) {
        text += fen_character_show(text, end - text, shown);
        const char *reserved = shown[0] == '<'   ? "&lt;"
                               : shown[0] == '>' ? "&gt;"
                               : shown[0] == '&' ? "&amp;"
                                                 : shown;
        fputs(reserved, out);
    }
    if (text < end) fputs("...", out);
}

static void put_words(const panel *p, double x, double y, const char *anchor, const char *colour,
                      const char *text, int most)
{
    fprintf(p->out, "<text x=\"%.2f\" y=\"%.2f\" text-anchor=\"%s\" fill=\"%s\">", x, y, anchor,
            colour);
    put_escaped(p->out, text, most);
    fputs("</text>\n", p->out);
}

static void put_text(const panel *p, double x, double y, const char *anchor, const char *colour,
                     const char *text)
{
    put_words(p, x, y, anchor, colour, text, NAME_LENGTH);
}

static void put_line(const panel *p, double x0, double y0, double x1, double y1, const char *style)
{
    fprintf(p->out, "<line x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\" %s/>\n", x0, y0, x1, y1,
            style);
}

/* ---- axes ------------------------------------------------------------------------------------ */

static double nice_step(double span)
{
    const double power = pow(10.0, floor(log10(span / 5.0))), ratio = span / 5.0 / power;
    return power * (ratio < 1.5 ? 1.0 : ratio < 3.5 ? 2.0 : ratio < 7.5 ? 5.0 : 10.0);
}

static void put_y_axis(const panel *p)
{
    const double step = nice_step(p->y1 - p->y0);
    char text[32];
    for (double k = ceil(p->y0 / step); k * step <= p->y1; k += 1.0) {
        const double y = down(p, k * step);
        put_line(p, LEFT, y, END, y, k == 0.0 ? "stroke=\"#888\"" : "stroke=\"#e4e4e4\"");
        snprintf(text, sizeof text, "%.6g", k == 0.0 ? 0.0 : k * step);
        put_text(p, LEFT - 7, y + 4, "end", "#333", text);
    }
}

/* Of the point nearest to x. */
static double terms_near(const panel *p, double x)
{
    int64_t near = 0;
    for (int64_t k = 1; k < p->c->points; k++)
        if (fabs(across(p, p->c->x[k]) - across(p, x)) <
            fabs(across(p, p->c->x[near]) - across(p, x)))
            near = k;
    return p->c->terms[near];
}

/* A breakpoint has the terms just below it. */
static double terms_at(const panel *p, double x)
{
    const curves *c = p->c;
    int64_t next = 0, first = 0;
    while (next < c->points && c->x[next] > x) next++;
    for (int64_t i = 0; i < c->lines; i++) first += c->y[i * c->points] != 0.0;
    return next > 0 ? c->terms[next - 1] : (double)first;
}

static void put_terms(const panel *p, double x)
{
    const double terms = p->f->exact ? terms_at(p, x) : terms_near(p, x);
    char text[32];
    if (isnan(terms)) return;
    snprintf(text, sizeof text, "%.0f", terms);
    put_text(p, across(p, x), p->top - 7, "middle", "#333", text);
}

static void put_x_axis(const panel *p)
{
    const double low = fmin(p->x0, p->x1), high = fmax(p->x0, p->x1), step = nice_step(high - low);
    const double bottom = p->top + frame_height();
    char text[32];
    for (double k = ceil(low / step); k * step <= high; k += 1.0) {
        const double x = p->f->logarithmic ? pow(10.0, k * step) : k * step, at = across(p, x);
        put_line(p, at, bottom, at, bottom + 5, "stroke=\"#333\"");
        snprintf(text, sizeof text, "%.3g", x);
        put_text(p, at, bottom + 19, "middle", "#333", text);
        put_terms(p, x);
    }
    put_text(p, LEFT + 0.5 * frame_width(), bottom + 40, "middle", "#333", p->f->x_name);
    put_words(p, LEFT, p->top - 42, "start", "#333", p->f->y_name, NAME_LENGTH);
    if (!isnan(p->c->terms[0])) put_text(p, END + 8, p->top - 7, "start", "#333", "terms");
    put_words(p, END, p->top - 42, "end", "#000", p->c->title, TITLE_LENGTH);
}

static void put_mark(const panel *p)
{
    const double x = isnan(p->f->mark) ? NAN : across(p, p->f->mark);
    if (!(x >= LEFT - 1 && x <= END + 1)) return;
    put_line(p, x, p->top, x, p->top + frame_height(), "stroke=\"#333\" stroke-dasharray=\"5 4\"");
    put_text(p, x, p->top - 21, "middle", "#333", "selected"); /* where no curve comes */
}

/* ---- curves ------------------------------------------------------------------------------ */

static const char *colour_of(int64_t rank) { return colours[rank % COLOURS]; }

static const char *dashes_of(int64_t rank)
{
    static const char *const dashes[] = { "", " stroke-dasharray=\"7 3\"",
                                          " stroke-dasharray=\"2 3\"" };
    return dashes[rank < 2 * COLOURS ? rank / COLOURS : 2];
}

static void put_curves(const panel *p)
{
    const int64_t points = p->c->points;
    const int64_t shown = p->c->lines < MOST_LINES ? p->c->lines : MOST_LINES;
    for (int64_t rank = shown - 1; rank >= 0; rank--) { /* the largest on top */
        const double *y = p->c->y + p->order[rank] * points;
        fprintf(p->out, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.6\"%s points=\"",
                colour_of(rank), dashes_of(rank));
        for (int64_t k = 0; k < points; k++)
            fprintf(p->out, "%s%.2f,%.2f", k ? " " : "", across(p, p->c->x[k]), down(p, y[k]));
        fputs("\"/>\n", p->out);
    }
}

typedef struct label {
    double y;
    int64_t rank;
} label;

static int by_height(const void *a, const void *b)
{
    const double x = ((const label *)a)->y, y = ((const label *)b)->y;
    return (x > y) - (x < y);
}

/* Names of the largest at the last values, those below moved down until none overlap, then all of
 * them up as far as the frame asks. */
static void put_names(const panel *p)
{
    label names[MOST_NAMES];
    const curves *c = p->c;
    const int count = (int)(p->moving < MOST_NAMES ? p->moving : MOST_NAMES);
    const double bottom = p->top + frame_height() + 8;
    char more[48];
    for (int i = 0; i < count; i++)
        names[i] = (label){ down(p, c->y[(p->order[i] + 1) * c->points - 1]) + 4, i };
    qsort(names, (size_t)count, sizeof *names, by_height);
    for (int i = 1; i < count; i++) names[i].y = fmax(names[i].y, names[i - 1].y + NAME_HEIGHT);
    for (int i = count - 1; i >= 0; i--)
        names[i].y = fmin(names[i].y, i == count - 1 ? bottom : names[i + 1].y - NAME_HEIGHT);
    for (int i = 0; i < count; i++)
        put_text(p, END + 8, names[i].y, "start", colour_of(names[i].rank),
                 c->name[p->order[names[i].rank]]);
    if (count == p->moving) return;
    snprintf(more, sizeof more, "%" PRId64 " more not labelled", p->moving - count);
    put_text(p, END + 8, bottom + 32, "start", "#333", more);
}

/* ---- panels ------------------------------------------------------------------------------ */

static double largest(const curves *c, int64_t line)
{
    double most = 0.0;
    for (int64_t k = 0; k < c->points; k++) most = fmax(most, fabs(c->y[line * c->points + k]));
    return most;
}

/* By the value at the end, where the names stand, then by the largest one. */
static double rank_of(const void *of, int64_t line)
{
    const curves *c = of;
    return fabs(c->y[(line + 1) * c->points - 1]) + 1e-3 * largest(c, line);
}

/* A little more than all values, 0 among them. */
static void find_ranges(panel *p)
{
    const curves *c = p->c;
    double low = 0.0, high = 0.0;
    for (int64_t i = 0; i < c->lines * c->points; i++)
        low = fmin(low, c->y[i]), high = fmax(high, c->y[i]);
    const double margin = high > low ? 0.04 * (high - low) : 1.0;
    p->y0 = low - margin, p->y1 = high + margin;
    p->x0 = coordinate(p->f, c->x[0]), p->x1 = coordinate(p->f, c->x[c->points - 1]);
    if (p->x0 == p->x1) p->x0 += 0.5, p->x1 -= 0.5;
}

static void put_panel(const figure *f, int64_t i, FILE *out)
{
    panel p = { .f = f, .c = &f->of[i], .out = out, .top = TOP + (double)i * PANEL };
    p.order = largest_first(p.c->lines, rank_of, p.c);
    if (!p.order) return;
    while (p.moving < p.c->lines && largest(p.c, p.order[p.moving]) > 0.0) p.moving++;
    find_ranges(&p);
    put_y_axis(&p);
    put_x_axis(&p);
    put_curves(&p);
    put_mark(&p);
    put_names(&p);
    fprintf(
        out,
        "<rect x=\"%d\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"none\" stroke=\"#333\"/>\n",
        LEFT, p.top, frame_width(), frame_height());
    free(p.order);
}

/* In characters, not bytes, as far as they are written. */
static int name_width(const char *name)
{
    int count = 0;
    for (; *name; name++) count += ((unsigned char)*name & 0xc0) != 0x80;
    return CHARACTER * (count > NAME_LENGTH ? NAME_LENGTH + 1 : count);
}

/* Of the names that any panel writes. */
static int right_margin(const figure *f)
{
    int most = LEAST_RIGHT;
    for (int64_t i = 0; i < f->count; i++) {
        const curves *c = &f->of[i];
        int64_t *order = c->points > 0 ? largest_first(c->lines, rank_of, c) : NULL;
        for (int64_t k = 0; order && k < c->lines && k < MOST_NAMES; k++) {
            const int width = name_width(c->name[order[k]]) + 16;
            if (width > most) most = width;
        }
        free(order);
    }
    return most;
}

void plot(const figure *f, FILE *out)
{
    const int height = (int)f->count * PANEL, width = END + right_margin(f);
    fprintf(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
        "font-family=\"sans-serif\" font-size=\"12\">\n"
        "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
        width, height, width, height);
    for (int64_t i = 0; i < f->count; i++)
        if (f->of[i].points > 0) put_panel(f, i, out);
    fputs("</svg>\n", out);
}
