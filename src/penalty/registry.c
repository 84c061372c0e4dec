/* registry.c -- the penalties, in the order in which they are listed; a new one is one line */
#include <string.h>
#include "base/registry.h"

#define PENALTIES(X) X(rkhs) X(none) X(l1) X(elastic) X(group) X(lp)

#define DECLARE(name) extern const fen_penalty fenp_penalty_##name;
PENALTIES(DECLARE)

#define ADDRESS(name) &fenp_penalty_##name,
const fen_penalty *const fenp_penalties[] = { PENALTIES(ADDRESS) NULL };

const fen_penalty *fenp_find_penalty(const char *name)
{
    const fen_penalty *const *entry = fenp_penalties;
    while (*entry && strcmp((*entry)->name, name) != 0) entry++;
    return *entry;
}
