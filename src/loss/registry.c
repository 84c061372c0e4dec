/* registry.c -- the losses, in the order in which they are listed; a new one is one line */
#include <string.h>
#include "base/registry.h"

/* clang-format off */
#define LOSSES(X)                                                          \
    X(square) X(absolute) X(eps) X(sqeps) X(huber) X(pinball) X(tube)      \
    X(hinge) X(sqhinge) X(logistic)
/* clang-format on */

#define DECLARE(name) extern const fen_loss fenp_loss_##name;
LOSSES(DECLARE)

#define ADDRESS(name) &fenp_loss_##name,
const fen_loss *const fenp_losses[] = { LOSSES(ADDRESS) NULL };

const fen_loss *fenp_find_loss(const char *name)
{
    const fen_loss *const *entry = fenp_losses;
    while (*entry && strcmp((*entry)->name, name) != 0) entry++;
    return *entry;
}
