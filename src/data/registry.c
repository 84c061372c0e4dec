/* registry.c -- every file format and every generator; a new one is one line here */
#include <string.h>
#include "base/registry.h"

#define FORMATS(X) /* the first one gets files that nobody recognises */ \
    X(csv)                                                               \
    X(svmlight)                                                          \
    X(npy)

#define GENERATORS(X) \
    X(friedman)       \
    X(sparse)         \
    X(sinc)           \
    X(moons)

#define DECLARE_FORMAT(name) extern const fen_format fenp_format_##name;
#define DECLARE_GENERATOR(name) extern const fen_generator fenp_generator_##name;
#define LIST_FORMAT(name) &fenp_format_##name,
#define LIST_GENERATOR(name) &fenp_generator_##name,

FORMATS(DECLARE_FORMAT)
GENERATORS(DECLARE_GENERATOR)

const fen_format *const fenp_formats[] = { FORMATS(LIST_FORMAT) NULL };
const fen_generator *const fenp_generators[] = { GENERATORS(LIST_GENERATOR) NULL };

const fen_format *fenp_find_format(const char *name)
{
    for (int i = 0; fenp_formats[i]; i++)
        if (strcmp(fenp_formats[i]->name, name) == 0) return fenp_formats[i];
    return NULL;
}

const fen_generator *fenp_find_generator(const char *name)
{
    for (int i = 0; fenp_generators[i]; i++)
        if (strcmp(fenp_generators[i]->name, name) == 0) return fenp_generators[i];
    return NULL;
}
