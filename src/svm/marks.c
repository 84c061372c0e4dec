/* marks.c -- one class: how likely a row is to be normal, by its decision value
 *
 *     decision values of the training rows, sorted; ends of ten bins of equal count, five of
 *     negative values and five of the others; marks are the middles of neighbouring ends
 *     P(normal) = 0.001 below the first mark, k/10 up to mark k + 1, 0.999 above the last
 *
 * Method: Que and Lin (2022), as LIBSVM since 3.30 has it: the same marks for the same decision
 *   values. Special cases: fewer than five values on a side have no marks. At the last mark itself,
 *   for which LIBSVM answers 0, the answer is that of the values above it.
 */
#include <stdlib.h>
#include "svm/parts.h"

enum { SIDE = FENP_SVM_MARKS / 2 };

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int fenp_svm_marks_find(double *decision, int64_t n, double *marks)
{
    double end[FENP_SVM_MARKS + 1];
    int64_t below = 0;
    qsort(decision, (size_t)n, sizeof *decision, by_size);
    while (below < n && decision[below] < 0.0) below++;
    const int64_t above = n - below;
    if (below < SIDE || above < SIDE) return 0;
    for (int64_t i = 0; i < SIDE; i++) {
        end[i] = decision[i * below / SIDE];
        end[SIDE + 1 + i] = decision[below - 1 + (i + 1) * above / SIDE];
    }
    end[SIDE] = 0.0;
    for (int64_t i = 0; i < FENP_SVM_MARKS; i++) marks[i] = (end[i] + end[i + 1]) / 2.0;
    return 1;
}

double fenp_svm_marks_value(const double *marks, double decision)
{
    int k = 0;
    while (k < FENP_SVM_MARKS && decision >= marks[k]) k++;
    return k == 0 ? 0.001 : k == FENP_SVM_MARKS ? 0.999 : (double)k / FENP_SVM_MARKS;
}
