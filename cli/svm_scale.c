/* svm_scale.c -- fenchel svm-scale: LIBSVM's command of that name
 *
 *     x -> lower + (upper - lower) (x - min) / (max - min), column by column; absent is 0
 *
 * Three looks at the file: which indices, which ranges, and then the scaled rows. A pair that
 * cannot be read ends its row. Constant columns and zeros are not written. */
#include "svm.h"
#include <ctype.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { UNREADABLE = 255 }; /* LIBSVM's exit code for a bad label or a bad file of factors */

typedef struct scaling {
    const command *command;
    const char *file, *save, *restore;
    double lower, upper;
    int scale_y;
    double y_lower, y_upper, y_min, y_max;
    long first, last;  /* indices that occur; first is 1 at most */
    double *min, *max; /* of index i at [i - first] */
    long nonzeros, written;
    FILE *in;
    char *line;
    size_t room;
} scaling;

static int say(int code, const char *text, const char *name)
{
    fprintf(stderr, "%s%s\n", text, name);
    return code;
}

/* ---- reading ------------------------------------------------------------------------- */

/* The next row: 1 and its label and the rest of it; 0 at the end; -1: no label. */
static int next_row(scaling *s, double *label, char **rest)
{
    if (getline(&s->line, &s->room, s->in) < 0) return 0;
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

static int find_indices(scaling *s)
{
    double label, value;
    long index;
    char *at;
    int found;
    s->first = 1;
    while ((found = next_row(s, &label, &at)) > 0)
        while (next_pair(&at, &index, &value)) {
            if (index > s->last) s->last = index;
            if (index < s->first) s->first = index;
            s->nonzeros++;
        }
    return found < 0 ? UNREADABLE : EXIT_DONE;
}

static void widen(scaling *s, long index, double value)
{
    double *min = s->min + (index - s->first), *max = s->max + (index - s->first);
    *min = fmin(*min, value);
    *max = fmax(*max, value);
}

static int find_ranges(scaling *s)
{
    double label, value;
    long index;
    char *at;
    int found;
    rewind(s->in);
    while ((found = next_row(s, &label, &at)) > 0) {
        long next = s->first;
        s->y_min = fmin(s->y_min, label);
        s->y_max = fmax(s->y_max, label);
        while (next_pair(&at, &index, &value) == 2) {
            for (; next < index; next++) widen(s, next, 0.0);
            widen(s, index, value);
            next = index + 1;
        }
        for (; next <= s->last; next++) widen(s, next, 0.0);
    }
    return found < 0 ? UNREADABLE : EXIT_DONE;
}

/* ---- the file of factors ------------------------------------------------------------- */

typedef struct factor {
    long index;
    double min, max;
} factor;

typedef struct factors {
    int has_y, has_x;
    double y[4], x[2]; /* lower and upper; of y also min and max */
    factor *at;
    long count, room;
} factors;

static int add_factor(factors *f, factor one)
{
    if (f->count == f->room) {
        const long room = 2 * f->room + 64;
        factor *at = realloc(f->at, (size_t)room * sizeof *at);
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
        code = add_factor(f, (factor){ index, min, max });
    fclose(in);
    return code;
}

/* Indices [from, to) have no factors: their columns become constant. */
static void leave_out(scaling *s, long from, long to)
{
    for (long i = from; i < to && i <= s->last; i++) {
        if (s->min[i - s->first] != s->max[i - s->first])
            fprintf(stderr,
                    "WARNING: feature index %ld appeared in file %s was not seen in the scaling "
                    "factor file %s. The feature is scaled to 0.\n",
                    i, s->file, s->restore);
        s->min[i - s->first] = s->max[i - s->first] = 0.0;
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
        const long index = f->at[i].index;
        leave_out(s, next, index);
        if (index >= s->first) {
            s->min[index - s->first] = f->at[i].min;
            s->max[index - s->first] = f->at[i].max;
        }
        next = index + 1;
    }
    leave_out(s, next < 1 ? 1 : next, s->last + 1);
}

static int save_factors(const scaling *s)
{
    sink file;
    if (sink_open(&file, s->save)) return say(SVM_FAILED, "can't open file ", s->save);
    FILE *out = file.stream;
    if (s->scale_y)
        fprintf(out, "y\n%.17g %.17g\n%.17g %.17g\n", s->y_lower, s->y_upper, s->y_min, s->y_max);
    fprintf(out, "x\n%.17g %.17g\n", s->lower, s->upper);
    for (long i = 1; i <= s->last; i++) {
        const double min = s->min[i - s->first], max = s->max[i - s->first];
        if (min != max) fprintf(out, "%ld %.17g %.17g\n", i, min, max);
    }
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

static void put_value(scaling *s, long index, double value)
{
    const double min = s->min[index - s->first], max = s->max[index - s->first];
    if (min == max) return;
    const double scaled = between(s->lower, s->upper, value, min, max);
    if (scaled == 0.0) return;
    printf("%ld:%g ", index, scaled);
    s->written++;
}

static int put_rows(scaling *s)
{
    double label, value;
    long index;
    char *at;
    int found;
    rewind(s->in);
    while ((found = next_row(s, &label, &at)) > 0) {
        long next = s->first;
        if (s->scale_y) label = between(s->y_lower, s->y_upper, label, s->y_min, s->y_max);
        printf("%.17g ", label);
        while (next_pair(&at, &index, &value) == 2) {
            for (; next < index; next++) put_value(s, next, 0.0);
            put_value(s, index, value);
            next = index + 1;
        }
        for (; next <= s->last; next++) put_value(s, next, 0.0);
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

static int make_room(scaling *s)
{
    const size_t count = (size_t)(s->last - s->first + 1);
    s->min = malloc(count * sizeof *s->min);
    s->max = malloc(count * sizeof *s->max);
    if (!s->min || !s->max) return say(SVM_FAILED, "can't allocate enough memory", "");
    for (size_t i = 0; i < count; i++) {
        s->min[i] = DBL_MAX;
        s->max[i] = -DBL_MAX;
    }
    s->y_min = DBL_MAX;
    s->y_max = -DBL_MAX;
    return EXIT_DONE;
}

static int scale_file(scaling *s, factors *f)
{
    int code = find_indices(s);
    if (code == EXIT_DONE && s->first < 1)
        fprintf(stderr, "WARNING: minimal feature index is %ld, but indices should start from 1\n",
                s->first);
    if (code == EXIT_DONE && s->restore) code = read_factors(s->restore, f);
    for (long i = 0; i < f->count; i++)
        if (f->at[i].index > s->last) s->last = f->at[i].index;
    if (code == EXIT_DONE) code = make_room(s);
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
        s.in = fopen(s.file, "r");
        code = s.in ? scale_file(&s, &f) : say(SVM_FAILED, "can't open file ", s.file);
    }
    if (s.in) fclose(s.in);
    free(s.line);
    free(s.min);
    free(s.max);
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
