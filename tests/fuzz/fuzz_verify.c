/* fuzz_verify.c -- where verify holds on a changed model file, its predictions are unchanged
 *
 * The first byte chooses a model, every four that follow a change of its file (mutants.h). */
#define _GNU_SOURCE /* memfd_create */
#include "support/mutants.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static unsigned char file[MUTANT_ROOM];
    unsigned seed;
    double far;
    if (size < 1 + sizeof seed || size > 64) return 0;
    make_originals();
    const original *of = &originals[data[0] % FAMILIES];
    size_t length = of->size;
    memcpy(file, of->file, length);
    for (size_t at = 1; at + sizeof seed <= size; at += sizeof seed) {
        memcpy(&seed, data + at, sizeof seed);
        length = mutate_file(file, length, seed);
    }
    if (try_mutant(of, file, length, &far) == LYING) abort();
    return 0;
}
