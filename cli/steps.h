/* steps.h -- the path of a penalty on coefficients, as fen_path tells it */
#ifndef STEPS_H
#define STEPS_H
#include "cli.h"

void print_steps(const json_t *path, int advice /* on the files that could be written */);
void write_steps(const json_t *path, FILE *out);
#endif
