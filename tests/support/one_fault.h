/* one_fault.h -- run k has no memory for its k-th allocation
 *
 * Law: that gives FEN_MEMORY (FEN_IO where a file is read or written) and a sentence, or is survived
 * with the same answer; nothing stays allocated. Jansson's allocations are counted with ours. The
 * end is reached when a run has no k-th allocation. */
#ifndef ONE_FAULT_H
#define ONE_FAULT_H
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "fenchel/fenchel.h"
#include "support/failing_memory.h"

static struct {
    int on, fired;
    int64_t left;   /* allocations until the fault */
    int64_t k;
    int64_t before; /* allocations in use when it was set up */
} fault;

static int no_memory(void)
{
    if (!fault.on || --fault.left != 0) return 0;
    errno = ENOMEM;
    return fault.fired = 1;
}

static inline void fault_begin(int64_t k)
{
    fault.on = 1, fault.fired = 0, fault.left = fault.k = k;
    fault.before = memory_in_use;
}

/* What the run came to; whatever it handed out has been freed. files: it works with some. */
static inline void fault_end(fen_status status, int files, const fen_error *err)
{
    fault.on = 0;
    if (status != FEN_OK &&
        ((status != FEN_MEMORY && !(files && status == FEN_IO)) || !err->message[0]))
        fail_msg("allocation %ld fails: status %d, %s", (long)fault.k, (int)status, err->message);
    if (memory_in_use != fault.before)
        fail_msg("allocation %ld fails: %ld stay", (long)fault.k,
                 (long)(memory_in_use - fault.before));
}
#endif
