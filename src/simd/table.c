/* table.c -- the kernels of one level, as the rest of the library sees them */
#include "simd/level.h"

#define QUOTED(text) #text
#define QUOTE(text) QUOTED(text)

KERNEL(exp_scaled);
KERNEL(sincos_scaled);
KERNEL(distance_two);
KERNEL(add_columns);
KERNEL(dots);
KERNEL(dot_bounded);
KERNEL(solve_down);
KERNEL(solve_up);
KERNEL(solve_lanes);
KERNEL(packed_columns);
KERNEL(smo);
KERNEL(triangle_times);
KERNEL(add_and_dot);
KERNEL(add_scaled);
KERNEL(nested_sum);
KERNEL(standardise);
KERNEL(hash_cells);

extern const fenp_simd AT_LEVEL(fenp_simd);
const fenp_simd AT_LEVEL(fenp_simd) = {
    .level = QUOTE(FENP_LEVEL),
    .exp_scaled = AT_LEVEL(fenp_exp_scaled),
    .sincos_scaled = AT_LEVEL(fenp_sincos_scaled),
    .distance_two = AT_LEVEL(fenp_distance_two),
    .add_columns = AT_LEVEL(fenp_add_columns),
    .dots = AT_LEVEL(fenp_dots),
    .dot_bounded = AT_LEVEL(fenp_dot_bounded),
    .solve_down = AT_LEVEL(fenp_solve_down),
    .solve_up = AT_LEVEL(fenp_solve_up),
    .solve_lanes = AT_LEVEL(fenp_solve_lanes),
    .packed_columns = AT_LEVEL(fenp_packed_columns),
    .smo = AT_LEVEL(fenp_smo),
    .triangle_times = AT_LEVEL(fenp_triangle_times),
    .add_and_dot = AT_LEVEL(fenp_add_and_dot),
    .add_scaled = AT_LEVEL(fenp_add_scaled),
    .nested_sum = AT_LEVEL(fenp_nested_sum),
    .standardise = AT_LEVEL(fenp_standardise),
    .hash_cells = AT_LEVEL(fenp_hash_cells),
};
