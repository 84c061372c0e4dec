/* groups.c -- which coefficients are penalised together, and how much */
#include <stdlib.h>
#include "data/design.h"

void fenp_groups_free(fenp_groups *groups)
{
    for (int64_t g = 0; groups->name && g < groups->count; g++) free(groups->name[g]);
    free(groups->name);
    free(groups->start);
    free(groups->member);
    free(groups->weight);
    *groups = (fenp_groups){ .count = 0 };
}
