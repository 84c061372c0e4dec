/* prepare.c -- the preparation as an object, and what its features are called */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/text.h"
#include "data/prepare_parts.h"

fenp_prep *fenp_prep_new(int64_t inputs, int64_t targets)
{
    fenp_prep *prep = fenp_new_zeroed(1, sizeof *prep);
    if (!prep) return NULL;
    prep->input = fenp_new_zeroed(inputs, sizeof *prep->input);
    prep->target = fenp_new_zeroed(targets, sizeof *prep->target);
    prep->target_range = fenp_new(2 * targets, sizeof *prep->target_range);
    if (!prep->input || !prep->target || !prep->target_range) {
        fenp_prep_free(prep);
        return NULL;
    }
    prep->inputs = inputs;
    prep->targets = targets;
    prep->reading = (fen_reading){ .counts_from = -1, .prep = prep };
    for (int64_t i = 0; i < inputs; i++) {
        prep->input[i].scale = 1.0;
        prep->input[i].least = prep->input[i].largest = NAN;
    }
    for (int64_t t = 0; t < targets; t++)
        prep->target_range[2 * t] = INFINITY, prep->target_range[2 * t + 1] = -INFINITY;
    return prep;
}

void fenp_prep_see_targets(fenp_prep *prep, const fenp_sample *rows)
{
    for (int64_t t = 0; t < prep->targets; t++) {
        double *range = prep->target_range + 2 * t;
        for (int64_t i = 0; i < rows->n; i++) {
            range[0] = fmin(range[0], rows->y[t * rows->n + i]);
            range[1] = fmax(range[1], rows->y[t * rows->n + i]);
        }
    }
}

void fenp_input_clear(fenp_input *input)
{
    for (int64_t k = 0; k < input->level_count; k++) free(input->levels[k]);
    free(input->levels);
    free(input->name);
}

void fenp_prep_free(fenp_prep *prep)
{
    if (!prep) return;
    for (int64_t i = 0; i < prep->inputs; i++) fenp_input_clear(&prep->input[i]);
    for (int64_t t = 0; t < prep->targets; t++) free(prep->target[t]);
    for (int64_t k = 0; k < prep->class_count; k++) free(prep->classes[k]);
    free(prep->classes);
    free(prep->class_rows);
    free(prep->input);
    free(prep->target);
    free(prep->target_range);
    free(prep->weights);
    free(prep->reading.missing);
    free(prep);
}

int64_t fenp_input_features(const fenp_input *input)
{
    if (input->text) return input->constant ? 0 : input->level_count + 1;
    /* a column that is constant where it is not missing keeps its indicator */
    return !input->constant + (input->gaps != 0);
}

void fenp_prep_count(fenp_prep *prep)
{
    prep->features = 0;
    for (int64_t i = 0; i < prep->inputs; i++)
        prep->features += fenp_input_features(&prep->input[i]);
}

static int64_t find_level(const fenp_input *input, const char *text)
{
    for (int64_t k = 0; k < input->level_count; k++)
        if (strcmp(input->levels[k], text) == 0) return k;
    return -1;
}

static int64_t find_value(const fenp_input *input, double number)
{
    double value;
    for (int64_t k = 0; k < input->level_count; k++)
        if (fenp_parse_double(input->levels[k], (int64_t)strlen(input->levels[k]), &value) &&
            value == number)
            return k;
    return -1;
}

/* Where the levels are all that training had, "1.0" can only mean its "1". */
int64_t fenp_input_level(const fenp_input *input, const char *text)
{
    double number;
    const int64_t level = find_level(input, text);
    if (level >= 0 || input->level_count == FENP_LEVELS_MAX ||
        !fenp_parse_double(text, (int64_t)strlen(text), &number))
        return level;
    return find_value(input, number);
}

int64_t fenp_input_level_of_number(const fenp_input *input, double cell)
{
    char text[33];
    text[fenp_print_double(cell, text)] = '\0';
    const int64_t level = find_level(input, text);
    return level >= 0 ? level : find_value(input, cell);
}

void fenp_input_feature_name(const fenp_input *input, int64_t k, char *out, int64_t size)
{
    if (input->text)
        snprintf(out, (size_t)size, "%s = %s", input->name,
                 k < input->level_count ? input->levels[k] : "other");
    else
        snprintf(out, (size_t)size, "%s%s", input->name,
                 k == !input->constant ? " is missing" : "");
}

void fenp_prep_feature_name(const fenp_prep *prep, int64_t j, char *out, int64_t size)
{
    int64_t i = 0;
    while (i < prep->inputs && j >= fenp_input_features(&prep->input[i]))
        j -= fenp_input_features(&prep->input[i++]);
    if (size > 0) out[0] = '\0';
    if (i < prep->inputs && j >= 0) fenp_input_feature_name(&prep->input[i], j, out, size);
}
