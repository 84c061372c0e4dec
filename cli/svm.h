/* svm.h -- what the drop-ins for LIBSVM's commands share
 *
 * Options, messages and exit codes are LIBSVM's: one letter behind a dash, its value in the
 * next word, 1 for every failure. */
#ifndef CLI_SVM_H
#define CLI_SVM_H
#include "cli.h"
#include "fenchel/svm.h"

enum { SVM_FAILED = 1 };
/* The whole word as a number; 0: it is not one. */
int svm_number(const char *word, double *value);
int svm_integer(const char *word, int32_t *value);
/* "Unknown option: -x" (0: nothing) and the usage of c on stdout. */
int svm_usage(const command *c, char unknown);
/* wait_politely, unless what is to be read is so little that the work is done by one thread. */
void svm_wait_politely(const char *path, const char *other /* NULL: none */);
int svm_no_memory(void);       /* said as LIBSVM says it */
/* A failure in the words that the library chose. */
int svm_fail(const fen_error *err);
/* Sums over pairs of a predicted and a true value, and the lines about them. */
typedef struct svm_score {
    int64_t rows, right;
    double  squares, p, t, pp, tt, pt;
} svm_score;
void   svm_score_add(svm_score *s, double predicted, double truth);
double svm_score_correlation(const svm_score *s);      /* squared */
#endif
