/* registry.h -- every table of the library; a new entry is one line in its registry.c */
#ifndef FENP_REGISTRY_H
#define FENP_REGISTRY_H
#include "fenchel/extend.h"
extern const fen_loss      *const fenp_losses[];       /* all end with NULL */
extern const fen_penalty   *const fenp_penalties[];
extern const fen_kernel    *const fenp_kernels[];
extern const fen_format    *const fenp_formats[];
extern const fen_generator *const fenp_generators[];
const fen_loss      *fenp_find_loss(const char *name);   /* NULL: unknown */
const fen_penalty   *fenp_find_penalty(const char *name);
const fen_kernel    *fenp_find_kernel(const char *name);
const fen_format    *fenp_find_format(const char *name);
const fen_generator *fenp_find_generator(const char *name);
#endif
