/* svm.c -- what the drop-ins for LIBSVM's commands share */
#include "svm.h"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

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
