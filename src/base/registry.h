/* registry.h -- every table of the library; a new entry is one line in its registry.c */
#ifndef FENP_REGISTRY_H
#define FENP_REGISTRY_H
#include "fenchel/extend.h"
extern const fen_loss      *const fenp_losses[];       /* all end with NULL */
extern const fen_penalty   *const fenp_penalties[];
extern const fen_kernel    *const fenp_kernels[];
extern const fen_format    *const fenp_formats[];
extern const fen_generator *const fenp_generators[];
const fen_loss      *fenp_find_loss(const char *name);   /* NULL: unknown */
const fen_penalty   *fenp_find_penalty(const char *name);
const fen_kernel    *fenp_find_kernel(const char *name);
const fen_format    *fenp_find_format(const char *name);
const fen_generator *fenp_find_generator(const char *name);

/* The loss and its parameters as text says: "pinball:0.1,0.9" gives two; none written: the
 * initial one; "eps:auto", "sqeps:auto", "huber:auto": NaN, the level of the noise decides
 * (data/noise.h). auto: square for numbers, logistic for classes. classes 0: a loss of signs is
 * refused. */
enum { FENP_PARAMETERS_MAX = 32 };
typedef struct fenp_loss_choice {
    const fen_loss *loss;
    int    count;              /* 1 at least                                            */
    double par[FENP_PARAMETERS_MAX];
} fenp_loss_choice;
fen_status fenp_parse_loss(const char *text, int classes, fenp_loss_choice *out, fen_error *err);

/* The penalty as text says: "elastic:0.5", "group:prefix:_". */
typedef struct fenp_penalty_choice {
    const fen_penalty *penalty;
    double par;                /* mix of l1 (1), elastic and groups (1); P of lp; 1 for all
                                  others                                                */
    const char *how;           /* groups: "auto", "targets", "prefix:SEP" or the name of a
                                  file, borrowed from the text; else NULL                */
} fenp_penalty_choice;
fen_status fenp_parse_penalty(const char *text, fenp_penalty_choice *out, fen_error *err);
/* The penalty of checked options is on the coefficients of a linear model or an expansion. */
int        fenp_on_coefficients(const fen_options *o);
/* P of --penalty lp:P as it was written; 0: the penalty is another. */
double     fenp_exponent_of(const fen_options *o);
/* --kernel of checked options; auto: gaussian, but linear with lp and penalties on coefficients. */
const fen_kernel *fenp_kernel_of(const fen_options *o);
/* One sentence about options that do not go together with --penalty, or FEN_OK. */
fen_status fenp_check_penalty(const fen_options *o, fen_error *err);
#endif
