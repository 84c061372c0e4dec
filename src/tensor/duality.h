/* duality.h -- powers of a vector, entry by entry: what leads from |.|_q to |.|_p */
#ifndef FENP_DUALITY_H
#define FENP_DUALITY_H
#include <stdint.h>
/* v <- |v|^e, e >= 0; 0^0 = 1 */
void fenp_powers(double *v, int64_t count, double e);
/* v <- J_q(v) = sign(v) |v|^(q-1), q > 1 */
void fenp_dual_map(double *v, int64_t count, double q);
#endif
