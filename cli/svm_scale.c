/* svm_scale.c -- fenchel svm-scale: LIBSVM's command of that name
 *
 *     x -> lower + (upper - lower) (x - min) / (max - min), column by column; absent is 0
 *
 * Three looks at the file: which indices, which ranges, and then the scaled rows. A pair that
 * cannot be read ends its row. Constant columns and zeros are not written. An index that neither
 * the file nor the file of factors has is a column of zeros and takes no room. */
#include "svm.h"
#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { UNREADABLE = 255 }; /* LIBSVM's exit code for a bad label or a bad file of factors */

typedef struct column {
    long index;
    double min, max;
} column;

typedef struct scaling {
    const command *command;
    const char *file, *save, *restore;
    double lower, upper;
    int scale_y;
    double y_lower, y_upper, y_min, y_max;
    long first;                 /* least index, 1 at most */
    column *column;             /* those that occur; the first so many are sorted, once each */
    long count, sorted, places; /* places: room for so many */
    long nonzeros, written;
    FILE *in;
    off_t size; /* at least, of a file on disk */
    char *line;
    size_t room;
} scaling;

static int say(int code, const char *text, const char *name)
{
    fprintf(stderr, "%s%s\n", text, name);
    return code;
}

/* ---- reading ------------------------------------------------------------------------- */

/* The next row: 1 and its label and the rest of it; 0 at the end; -1: a failure, said. */
static int next_row(scaling *s, double *label, char **rest)
{
    if (getline(&s->line, &s->room, s->in) < 0) {
        if (feof(s->in) && ftello(s->in) >= s->size) return 0;
        say(0,
            feof(s->in)       ? "ERROR: the file became shorter while it was read"
            : errno == ENOMEM ? "can't allocate enough memory"
                              : "can't read the file",
            "");
        return -1;
    }
    *label = strtod(s->line, rest);
    if (*rest == s->line) {
        say(0, "ERROR: failed to read labels", "");
        return -1;
    }
    while (**rest && !isspace((unsigned char)**rest)) ++*rest;
    return 1;
}

/* The pair at *at: 0: there is none; 1: an index alone; 2: a value too. */
static int next_pair(char **at, long *index, double *value)
{
    char *end;
    const long number = strtol(*at, &end, 10);
    if (end == *at || number < INT_MIN || number > INT_MAX) return 0;
    *index = number;
    while (isspace((unsigned char)*end)) end++;
    if (*end != ':') {
        *at = end + strlen(end);
        return 1;
    }
    char *after;
    *value = strtod(++end, &after);
    const int found = after != end ? 2 : 1;
    while (isspace((unsigned char)*end)) end++;
    while (*end && !isspace((unsigned char)*end)) end++;
    *at = end;
    return found;
}

/* ---- columns ------------------------------------------------------------------------- */

static int by_index(const void *a, const void *b)
{
    const long x = ((const column *)a)->index, y = ((const column *)b)->index;
    return (x > y) - (x < y);
}

static void sort_columns(scaling *s)
{
    const long all = s->count;
    if (all > 0) qsort(s->column, (size_t)all, sizeof *s->column, by_index);
    s->count = 0;
    for (long i = 0; i < all; i++)
        if (i == 0 || s->column[i].index != s->column[s->count - 1].index)
            s->column[s->count++] = s->column[i];
    s->sorted = s->count;
}

/* Place of the first sorted column whose index is not below this one; guess is tried first. */
static long place_of(const scaling *s, long index, long guess)
{
    if (guess < s->sorted && s->column[guess].index == index) return guess;
    long low = 0, high = s->sorted;
    while (low < high) {
        const long middle = low + (high - low) / 2;
        if (s->column[middle].index < index)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int is_at(const scaling *s, long place, long index)
{
    return place < s->sorted && s->column[place].index == index;
}

/* A full array is sorted, and grows where more than half of it are different columns. */
static int add_column(scaling *s, long index, long *guess)
{
    const long place = place_of(s, index, *guess);
    *guess = place + 1;
    if (is_at(s, place, index)) return EXIT_DONE;
    const int full = s->count == s->places;
    if (full) sort_columns(s);
    if (full && s->count >= s->places / 2) {
        const long places = 2 * s->places + 64;
        column *grown = realloc(s->column, (size_t)places * sizeof *grown);
        if (!grown) return say(SVM_FAILED, "can't allocate enough memory", "");
        s->column = grown;
        s->places = places;
    }
    s->column[s->count++] = (column){ index, DBL_MAX, -DBL_MAX };
    return EXIT_DONE;
}

static int find_indices(scaling *s)
{
    double label, value;
    long index;
    char *at;
    int found, code = EXIT_DONE;
    s->first = 1;
    while (code == EXIT_DONE && (found = next_row(s, &label, &at)) != 0) {
        if (found < 0) return UNREADABLE;
        for (long guess = 0; code == EXIT_DONE && next_pair(&at, &index, &value);) {
            if (index < s->first) s->first = index;
            s->nonzeros++;
            code = add_column(s, index, &guess);
        }
    }
    return code;
}

/* The column of the next pair; -1: there is no pair, or none that the first look found. */
static long next_place(const scaling *s, char **at, long guess, double *value)
{
    long index;
    if (next_pair(at, &index, value) != 2) return -1;
    const long place = place_of(s, index, guess);
    return is_at(s, place, index) ? place : -1;
}

static void widen(column *c, double value)
{
    c->min = fmin(c->min, value);
    c->max = fmax(c->max, value);
}

static int find_ranges(scaling *s)
{
    double label, value;
    long place;
    char *at;
    int found;
    s->y_min = DBL_MAX;
    s->y_max = -DBL_MAX;
    rewind(s->in);
    while ((found = next_row(s, &label, &at)) > 0) {
        long next = 0;
        s->y_min = fmin(s->y_min, label);
        s->y_max = fmax(s->y_max, label);
        while ((place = next_place(s, &at, next, &value)) >= 0) {
            for (; next < place; next++) widen(s->column + next, 0.0);
            widen(s->column + place, value);
            next = place + 1;
        }
        for (; next < s->count; next++) widen(s->column + next, 0.0);
    }
    return found < 0 ? UNREADABLE : EXIT_DONE;
}

/* ---- the file of factors ------------------------------------------------------------- */

typedef struct factors {
    int has_y, has_x;
    double y[4], x[2]; /* lower and upper; of y also min and max */
    column *at;
    long count, room;
} factors;

static int add_factor(factors *f, column one)
{
    if (f->count == f->room) {
        const long room = 2 * f->room + 64;
        column *at = realloc(f->at, (size_t)room * sizeof *at);
        if (!at) return say(SVM_FAILED, "can't allocate enough memory", "");
        f->at = at;
        f->room = room;
    }
    f->at[f->count++] = one;
    return EXIT_DONE;
}

/* "y", four numbers, "x", two numbers, then "index min max" lines; y may be missing. A file that
 * begins otherwise holds no factors. */
static int read_factors(const char *path, factors *f)
{
    FILE *in = fopen(path, "r");
    if (!in) return say(SVM_FAILED, "can't open file ", path);
    int code = EXIT_DONE, index, head = fgetc(in), right = 1;
    if (head == 'y') {
        right = f->has_y = fscanf(in, "%lf %lf %lf %lf ", f->y, f->y + 1, f->y + 2, f->y + 3) == 4;
        head = fgetc(in);
    }
    if (right && head == 'x') right = f->has_x = fscanf(in, "%lf %lf ", f->x, f->x + 1) == 2;
    if (!right) code = say(UNREADABLE, "ERROR: failed to read scaling parameters", "");
    double min, max;
    while (code == EXIT_DONE && f->has_x && fscanf(in, "%d %lf %lf ", &index, &min, &max) == 3)
        code = add_factor(f, (column){ index, min, max });
    fclose(in);
    return code;
}

/* Indices [from, to) have no factors: their columns become constant. */
static void leave_out(scaling *s, long from, long to)
{
    for (long i = place_of(s, from, 0); i < s->count && s->column[i].index < to; i++) {
        column *c = s->column + i;
        if (c->min != c->max)
            fprintf(stderr,
                    "WARNING: feature index %ld appeared in file %s was not seen in the scaling "
                    "factor file %s. The feature is scaled to 0.\n",
                    c->index, s->file, s->restore);
        c->min = c->max = 0.0;
    }
}

static void use_factors(scaling *s, const factors *f)
{
    if (f->has_y) {
        s->scale_y = 1;
        s->y_lower = f->y[0], s->y_upper = f->y[1], s->y_min = f->y[2], s->y_max = f->y[3];
    }
    if (!f->has_x) return;
    s->lower = f->x[0], s->upper = f->x[1];
    long next = 1;
    for (long i = 0; i < f->count; i++) {
        const long index = f->at[i].index, place = place_of(s, index, 0);
        leave_out(s, next, index);
        if (is_at(s, place, index)) s->column[place] = f->at[i];
        next = index + 1;
    }
    leave_out(s, next < 1 ? 1 : next, LONG_MAX);
}

static int save_factors(const scaling *s)
{
    sink file;
    if (sink_open(&file, s->save)) return say(SVM_FAILED, "can't open file ", s->save);
    FILE *out = file.stream;
    if (s->scale_y)
        fprintf(out, "y\n%.17g %.17g\n%.17g %.17g\n", s->y_lower, s->y_upper, s->y_min, s->y_max);
    fprintf(out, "x\n%.17g %.17g\n", s->lower, s->upper);
    for (const column *c = s->column + place_of(s, 1, 0); c < s->column + s->count; c++)
        if (c->min != c->max) fprintf(out, "%ld %.17g %.17g\n", c->index, c->min, c->max);
    if (s->first < 1)
        fprintf(stderr,
                "WARNING: scaling factors with indices smaller than 1 are not stored to the file "
                "%s.\n",
                s->save);
    return sink_close(&file, 1) ? say(SVM_FAILED, "can't write file ", s->save) : EXIT_DONE;
}

/* ---- writing ------------------------------------------------------------------------- */

static double between(double lower, double upper, double value, double min, double max)
{
    if (value == min) return lower;
    if (value == max) return upper;
    return lower + (upper - lower) * (value - min) / (max - min);
}

static void put_value(scaling *s, const column *c, double value)
{
    if (c->min == c->max) return;
    const double scaled = between(s->lower, s->upper, value, c->min, c->max);
    if (scaled == 0.0) return;
    printf("%ld:%g ", c->index, scaled);
    s->written++;
}

static int put_rows(scaling *s)
{
    double label, value;
    long place;
    char *at;
    int found;
    rewind(s->in);
    while ((found = next_row(s, &label, &at)) > 0) {
        long next = 0;
        if (s->scale_y) label = between(s->y_lower, s->y_upper, label, s->y_min, s->y_max);
        printf("%.17g ", label);
        while ((place = next_place(s, &at, next, &value)) >= 0) {
            for (; next < place; next++) put_value(s, s->column + next, 0.0);
            put_value(s, s->column + place, value);
            next = place + 1;
        }
        for (; next < s->count; next++) put_value(s, s->column + next, 0.0);
        putchar('\n');
    }
    if (s->written > s->nonzeros)
        fprintf(stderr,
                "WARNING: original #nonzeros %ld\n"
                "       > new      #nonzeros %ld\n"
                "If feature values are non-negative and sparse, use -l 0 rather than the default "
                "-l -1\n",
                s->nonzeros, s->written);
    return found < 0 ? UNREADABLE : EXIT_DONE;
}

/* ---- the command --------------------------------------------------------------------- */

static int scale_file(scaling *s, factors *f)
{
    int code = find_indices(s);
    if (code == EXIT_DONE && s->first < 1)
        fprintf(stderr, "WARNING: minimal feature index is %ld, but indices should start from 1\n",
                s->first);
    if (code == EXIT_DONE && s->restore) code = read_factors(s->restore, f);
    for (long i = 0, guess = 0; code == EXIT_DONE && i < f->count; i++)
        if (f->at[i].index >= s->first) code = add_column(s, f->at[i].index, &guess);
    sort_columns(s);
    if (code == EXIT_DONE) code = find_ranges(s);
    if (code == EXIT_DONE && s->restore) use_factors(s, f);
    if (code == EXIT_DONE && s->save) code = save_factors(s);
    return code == EXIT_DONE ? put_rows(s) : code;
}

/* Where the value of an option belongs; NULL: it is not one with a value of this kind. */
static double *number_field(scaling *s, char letter)
{
    return letter == 'l' ? &s->lower : letter == 'u' ? &s->upper : NULL;
}

static int read_options(scaling *s, int argc, const char **argv)
{
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; i++) {
        const char letter = argv[i][1];
        double *number = number_field(s, letter);
        const int values = letter == 'y' ? 2 : 1;
        if (!letter || !strchr("luysr", letter)) {
            fputs("unknown option\n", stderr);
            return svm_usage(s->command, 0);
        }
        if (i + values >= argc) return svm_usage(s->command, 0);
        int right = 1;
        if (number)
            right = svm_number(argv[i + 1], number);
        else if (letter == 'y')
            right = s->scale_y =
                svm_number(argv[i + 1], &s->y_lower) && svm_number(argv[i + 2], &s->y_upper);
        else
            *(letter == 's' ? &s->save : &s->restore) = argv[i + 1];
        if (!right) return svm_usage(s->command, 0);
        i += values;
    }
    if (!(s->upper > s->lower) || (s->scale_y && !(s->y_upper > s->y_lower)))
        return say(SVM_FAILED, "inconsistent lower/upper specification", "");
    if (s->restore && s->save) return say(SVM_FAILED, "cannot use -r and -s simultaneously", "");
    if (argc != i + 1) return svm_usage(s->command, 0);
    s->file = argv[i];
    return EXIT_DONE;
}

static int run(const command *c, int argc, const char **argv)
{
    scaling s = { .command = c, .lower = -1.0, .upper = 1.0 };
    factors f = { 0 };
    int code = read_options(&s, argc, argv);
    if (code == EXIT_DONE) {
        struct stat about;
        s.in = fopen(s.file, "r");
        if (s.in && fstat(fileno(s.in), &about) == 0 && S_ISREG(about.st_mode))
            s.size = about.st_size;
        code = s.in ? scale_file(&s, &f) : say(SVM_FAILED, "can't open file ", s.file);
    }
    if (s.in) fclose(s.in);
    free(s.line);
    free(s.column);
    free(f.at);
    return code;
}

static const char *const examples[] = { "scale to [-1, 1] and keep the factors",
                                        "fenchel svm-scale -s factors.txt train.txt >train.scaled",
                                        "scale other rows by the same factors",
                                        "fenchel svm-scale -r factors.txt test.txt >test.scaled",
                                        NULL };

const command command_svm_scale = {
    .name = "svm-scale",
    .operands = "[options] data_filename",
    .summary = "as LIBSVM's svm-scale, on its files",
    .description = "Scales every column of a file in LIBSVM's format to a range and writes the "
                   "rows to standard output.",
    .options = "options:\n"
               "-l lower : lower end of every column (default -1)\n"
               "-u upper : upper end of every column (default +1)\n"
               "-y y_lower y_upper : range of the labels (default: labels as they are)\n"
               "-s save_filename : write the factors to a file\n"
               "-r restore_filename : take the factors from a file\n",
    .examples = examples,
    .drop_in = run,
};
