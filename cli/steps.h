/* steps.h -- the path of a penalty on coefficients, as fen_path tells it */
#ifndef STEPS_H
#define STEPS_H
#include "cli.h"

/* '!': the gap of a step is above the tolerance; ' ': it is not, or there is none to be had. */
char gap_mark(const json_t *path, const json_t *step);
/* What the mark means, where it stands somewhere; "": it does not. */
const char *gap_legend(const json_t *path);
void print_steps(const json_t *path, int advice /* on the files that could be written */);
void write_steps(const json_t *path, FILE *out);
#endif
