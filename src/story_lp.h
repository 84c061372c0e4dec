/* story_lp.h -- what --penalty lp:P asks of a fit: q, its kernel, gamma, lambda, rows and route */
#ifndef FENP_STORY_LP_H
#define FENP_STORY_LP_H
#include "story.h"

/* Lambdas to be tried where none are given: refits are cheap, and exponents below 2 ask for finer
 * steps. */
enum { FENP_AUTO_LAMBDAS_LP = 25 };
static inline int fenp_auto_lambdas(const fenp_strategy *s)
{
    return s->solver->lp ? FENP_AUTO_LAMBDAS_LP
           : s->refits   ? FENP_AUTO_LAMBDAS_OTHER
                         : FENP_AUTO_LAMBDAS;
}

/* The kernel of settled options, gamma still 0; order > 0: that of --penalty lp. */
fenp_kernel fenp_kernel_asked(const fen_options *o, const fen_kernel *table);
/* Sets o->power to P, and to 2h / (2h - 1) where P was written as that. FEN_BAD_CALL: a tensor
 * kernel whose q is not even, or a loss that has no slope. No other penalty is looked at. */
fen_status fenp_settle_lp(fen_options *o, const fen_loss *loss, fen_error *err);
/* gamma = 1 / max_i sum_j |x_ij|^q */
fen_status fenp_lp_gamma(const fenp_kernel *kernel, const fenp_sample *sample, double *gamma,
                           fen_error *err);
/* FEN_BAD_DATA: rows whose kernel values leave the range in which sums of them can be trusted. */
fen_status fenp_lp_rows_fit(const fenp_kernel *kernel, const fenp_sample *sample,
                            const fen_options *o, fen_error *err);
/* (weighted mean of k(x, .., x))^(2/q): for lambda what the mean of k(x,x) is at q = 2. */
double     fenp_lp_diagonal(const fenp_kernel *kernel, const fenp_sample *sample);
/* The route that --route of size stands for, with so many bytes and for so many solves; where none
 * fits, that which takes least. NULL: none is possible, *err says what would do. */
const fenp_route *fenp_lp_route(const fenp_size *size, int64_t left, double solves,
                                fen_error *err);
/* What the form may take of so many bytes, or the least that it takes; size has its route. */
int64_t    fenp_lp_room(const fenp_size *size, int64_t left);
/* What to do where it does not fit; rows: so many would (0: none). */
void       fenp_lp_advise(const fenp_strategy *strategy, const fen_options *o,
                          const fenp_size *size, int64_t rows, char *out, size_t length);
/* Of the flops of a solver those that are done once for any number of solves. 0: not lp. */
double     fenp_lp_opening(const fenp_size *size);
/* Of the certificate: by all features, or by all pairs of products of q/2 rows. */
double     fenp_lp_certify_flops(const fenp_size *size);
/* The largest of all steps beside what is resident, as a rule and not in the worst case: for the
 * rows of size where they are at hand. */
int64_t    fenp_lp_peak(const fenp_strategy *strategy, const fen_options *o,
                        const fenp_size *size, int64_t resident);
/* What BLAS keeps beyond the little that it always does: factors of Newton steps are packed. */
int64_t    fenp_lp_blas_bytes(const fenp_size *size);
/* What comes when the form is closed: what models predict by, and how well. */
int64_t    fenp_lp_after_bytes(const fenp_size *size);
/* "features: 8 columns", "packed: 4.4 million distinct entries of the Gram tensor" */
void       fenp_lp_why(const fenp_size *size, char *out, size_t length);
#endif
