/* svm.c -- what the drop-ins for LIBSVM's commands share */
#include "svm.h"
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>

int svm_number(const char *word, double *value)
{
    char *end;
    *value = strtod(word, &end); /* the tool never leaves the C locale */
    return end != word && *end == '\0';
}

int svm_integer(const char *word, int32_t *value)
{
    char *end;
    errno = 0;
    const long long number = strtoll(word, &end, 10);
    *value = (int32_t)number;
    return end != word && *end == '\0' && !errno && number >= INT_MIN && number <= INT_MAX;
}

int svm_usage(const command *c, char unknown)
{
    if (unknown) fprintf(stderr, "Unknown option: -%c\n", unknown);
    printf("Usage: %s %s\n%s", c->name, c->operands, c->options);
    return SVM_FAILED;
}

/* Bytes of a file; those of a pipe are not known: many. */
static double bytes_of(const char *path)
{
    struct stat file;
    if (!path || stat(path, &file) != 0) return 0.0;
    return S_ISREG(file.st_mode) ? (double)file.st_size : INFINITY;
}

void svm_wait_politely(const char *path, const char *other)
{
    enum { LITTLE = 1 << 17 }; /* a thousand rows of a dozen features */
    if (bytes_of(path) + bytes_of(other) > LITTLE) wait_politely();
}

int svm_no_memory(void)
{
    fputs("can't allocate enough memory\n", stderr);
    return SVM_FAILED;
}

int svm_fail(const fen_error *err)
{
    if (err->status == FEN_STOPPED) return EXIT_INTERRUPTED;
    fprintf(stderr, "%s\n", err->message);
    return SVM_FAILED;
}

void svm_score_add(svm_score *s, double predicted, double truth)
{
    s->rows++;
    s->right += predicted == truth;
    s->squares += (predicted - truth) * (predicted - truth);
    s->p += predicted;
    s->t += truth;
    s->pp += predicted * predicted;
    s->tt += truth * truth;
    s->pt += predicted * truth;
}

double svm_score_correlation(const svm_score *s)
{
    const double n = (double)s->rows, both = n * s->pt - s->p * s->t;
    return both * both / ((n * s->pp - s->p * s->p) * (n * s->tt - s->t * s->t));
}
