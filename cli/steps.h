/* steps.h -- the path of a penalty on coefficients, as fen_path tells it */
#ifndef STEPS_H
#define STEPS_H
#include "cli.h"

void print_steps(const json_t *path);
void write_steps(const json_t *path, FILE *out);
#endif
