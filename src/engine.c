/* engine.c -- which solver, and whether it fits
 *
 * Square loss: the first direct solver of the registry that accepts the problem; for powers
 * other than 2 the eigendecomposition of a small kernel matrix, of a larger one a Krylov
 * space, with the eigendecomposition (or, where that does not fit, Cholesky) to the rescue.
 * Penalty lp: lp-newton for every loss. Other losses: the first iterative solver that accepts the
 * loss and fits into memory (Newton's method in the weights of smooth linear models, blocks of the
 * dual where the conjugate is in pieces, Newton's method for the logistic loss); they solve one
 * output at a time at power 2 (solver/descend.h). Blocks before Newton: a huber loss whose corner
 * is tiny beside the residuals, 1.35 beside prices, is all corners, and Newton's steps are as
 * small. */

#include "base/arena.h"
#include "base/error.h"
#include "loss/traits.h"
#include "solver/descend.h"
#include "story_lp.h"

enum { LEAST_ROOM = 1 << 20 };
enum { EIGEN_ROWS = 800 }; /* up to which one eigendecomposition takes a tenth of a second */

/* ---- memory ------------------------------------------------------------------------------ */

int64_t fenp_memory_limit(const fen_options *o)
{
    if (o->memory_limit_bytes > 0) return o->memory_limit_bytes;
    const int64_t available = fenp_memory_available(), resident = fenp_memory_resident();
    return available > INT64_MAX - resident ? INT64_MAX : available + resident;
}

int64_t fenp_resident_with(int64_t work, const fenp_size *size)
{
    const int64_t blas = ((int64_t)3 << 20) + fenp_lp_blas_bytes(size);
    return fenp_memory_resident() + work + size->n * (size->targets + 2) * 8 + blas;
}

/* ---- the choice -------------------------------------------------------------------------- */

/* The kernel matrix is small, or a Krylov space of it answers any power. */
static const fenp_solver *solver_for_power(const fen_options *o, const fenp_size *size,
                                           const fenp_solver **rescue)
{
    const fenp_solver *spectral = fenp_find_solver("spectral");
    const int64_t bytes = spectral->bytes(size);
    if (size->n <= EIGEN_ROWS) return spectral;
    *rescue = bytes >= 0 && fenp_resident_with(bytes, size) <= fenp_memory_limit(o)
                  ? spectral
                  : fenp_find_solver("cholesky");
    return fenp_find_solver("lanczos");
}

/* Kernel values may take what is left when the certificate has its part. */
fenp_size fenp_solver_size(const fenp_solver *solver, const fen_options *o, const fenp_size *size)
{
    fenp_size one = *size;
    if (!solver->iterative) return one;
    const int64_t left = fenp_memory_limit(o) - fenp_resident_with(fenp_certify_bytes(size), size);
    one = fenp_descend_size(size);
    one.room = solver->lp ? fenp_lp_room(size, left) : left > LEAST_ROOM ? left : LEAST_ROOM;
    return one;
}

int64_t fenp_solving_bytes(const fenp_solver *solver, const fenp_size *size)
{
    const int64_t bytes = solver->bytes(size);
    return bytes < 0 || !solver->iterative ? bytes : bytes + 6 * fenp_arena_bytes(size->n);
}

static int takes(const fenp_solver *solver, const fen_options *o, const fen_kernel *kernel,
                 const fen_loss *loss, const fenp_size *size)
{
    const fenp_size asked = fenp_solver_size(solver, o, size);
    if (solver->lp != fenp_is_lp(&size->kernel)) return 0;
    return solver->accepts(loss, kernel, &asked) && (!solver->iterative || size->power >= 1.0);
}

/* The first that fits into memory; where none does the one that takes least. */
static const fenp_solver *solver_for_loss(const fen_options *o, const fen_kernel *kernel,
                                          const fen_loss *loss, const fenp_size *size)
{
    const fenp_solver *least = NULL;
    int64_t least_bytes = INT64_MAX;
    for (int i = 0; fenp_solvers[i]; i++) {
        const fenp_solver *solver = fenp_solvers[i];
        if (!solver->iterative || !takes(solver, o, kernel, loss, size)) continue;
        const fenp_size asked = fenp_solver_size(solver, o, size);
        const int64_t bytes = fenp_solving_bytes(solver, &asked);
        if (bytes >= 0 && fenp_resident_with(bytes, size) <= fenp_memory_limit(o)) return solver;
        if (!least || (bytes >= 0 && bytes < least_bytes))
            least = solver, least_bytes = bytes < 0 ? INT64_MAX : bytes;
    }
    return least;
}

static const fenp_solver *solver_for_square(const fen_options *o, const fen_kernel *kernel,
                                            const fen_loss *loss, const fenp_size *size,
                                            const fenp_solver **rescue)
{
    for (int i = 0; fenp_solvers[i]; i++)
        if (!fenp_solvers[i]->iterative && takes(fenp_solvers[i], o, kernel, loss, size))
            return size->power == 2.0 || fenp_solvers[i]->in_weights
                       ? fenp_solvers[i]
                       : solver_for_power(o, size, rescue);
    return NULL;
}

const fenp_solver *fenp_pick_solver(const fen_options *o, const fen_kernel *kernel,
                                    const fen_loss *loss, const fenp_size *size,
                                    const fenp_solver **rescue, fen_error *err)
{
    const fenp_solver *named = fenp_find_solver(o->engine), *found = NULL;
    if (named) {
        if (takes(named, o, kernel, loss, size)) return named;
        fenp_fail(err, FEN_BAD_CALL, "--engine %s does not apply here (%s); leave --engine out",
                  named->name, named->help);
        return NULL;
    }
    found = fenp_is_square(loss) && !fenp_is_lp(&size->kernel)
                ? solver_for_square(o, kernel, loss, size, rescue)
                : solver_for_loss(o, kernel, loss, size);
    if (!found)
        fenp_fail(err, FEN_BAD_CALL, "no engine fits --loss %s with --kernel %s", loss->name,
                  kernel->name);
    return found;
}
