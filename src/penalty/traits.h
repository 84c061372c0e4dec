/* traits.h -- what can be asked of any penalty by its table alone */
#ifndef FENP_PENALTY_TRAITS_H
#define FENP_PENALTY_TRAITS_H
#include <string.h>
#include "fenchel/extend.h"

static inline int fenp_is_none(const fen_penalty *penalty)
{
    return strcmp(penalty->name, "none") == 0;
}
#endif
