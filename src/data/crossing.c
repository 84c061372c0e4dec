/* crossing.c -- rows on which quantiles of one column cross
 *
 * Quantiles are fitted one by one: nothing keeps the function of tau = 0.1 below that of 0.5
 * where data are thin. Equal scores are in order. Cost: rows x outputs^2. */
#include "data/crossing.h"

static int in_order(const fenp_output *a, const fenp_output *b, double score_a, double score_b)
{
    if (a->column != b->column || a->par == b->par) return 1;
    return a->par < b->par ? score_a <= score_b : score_a >= score_b;
}

double fenp_outputs_crossing(const fenp_output *outputs, int64_t count, const double *scores,
                             const double *w, int64_t rows)
{
    double sum = 0.0;
    for (int64_t i = 0; i < rows; i++) {
        const double *score = scores + i * count;
        int ordered = 1;
        for (int64_t s = 0; s < count; s++)
            for (int64_t t = s + 1; t < count && ordered; t++)
                ordered = in_order(&outputs[s], &outputs[t], score[s], score[t]);
        if (!ordered) sum += w[i];
    }
    return sum;
}
