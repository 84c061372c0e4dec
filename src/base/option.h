/* option.h -- a row of the option table, and the types of what follows an option */
#ifndef FENP_OPTION_H
#define FENP_OPTION_H
#include <float.h>
#include <stddef.h>
#include "fenchel/fenchel.h"

#define FENP_POSITIVE DBL_TRUE_MIN      /* as a lower end: greater than 0 */
#define FENP_NO_LIMIT DBL_MAX

typedef struct fenp_option fenp_option;
typedef struct fenp_option_type {
    fen_status (*set)(const fenp_option *r, void *field, const char *text, fen_error *err);
    fen_status (*check)(const fenp_option *r, const void *field, fen_error *err);
} fenp_option_type;

struct fenp_option {
    fen_option  shown;
    const fenp_option_type *type;
    size_t      offset;          /* in fen_options                                      */
    double      low, high;
    const char *words;           /* choices: those accepted; values: the name of the rule; */
    double      stands_for;      /*   numbers: one word that stands for this value      */
    const char *list;            /* choices: names of this fen_list are accepted too    */
    int         even_steps;      /* values: grids have equal steps; 0: equal ratios     */
};

extern const fenp_option_type fenp_text_type, fenp_choice_type, fenp_loss_type, fenp_penalty_type,
    fenp_int32_type, fenp_int64_type, fenp_seed_type, fenp_real_type, fenp_values_type,
    fenp_bytes_type,
    fenp_on_type,                /* a switch                                            */
    fenp_off_type;               /* a switch named by what it clears: --no-bias         */

/* Writes the default of every option into *o and touches nothing else: a field that
 * no row of the table describes keeps what it held (the test poisons them). */
void fenp_options_fill(fen_options *o);
#endif
