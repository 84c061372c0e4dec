/* reading.c -- what users of a model should know beforehand: how its training file was read, and
 * whether the fit was finished
 *
 * DATA for a model is read alike; options of the command line come before it, and are named where
 * they are others. */
#include <math.h>
#include <string.h>
#include "report.h"

static const char *separator_name(const char *sign)
{
    return sign[0] == '\t' ? "tab" : sign[0] == ' ' ? "blanks" : sign;
}

/* "with a header, separator ;, decimal comma; missing: -999" */
void report_reading(const json_t *model)
{
    const json_t *reading = json_object_get(model, "reading");
    const json_t *text = json_object_get(reading, "text");
    const char *missing = json_text_at(reading, "missing");
    if (!reading) return;
    if (json_object_get(reading, "index_base")) {
        report("Read", "svmlight, indices from %.0f", json_at(reading, "index_base"));
        return;
    }
    report("Read", "%s header, separator %s%s; missing: empty cells%s%s",
           json_is_true(json_object_get(reading, "header")) ? "with a" : "without",
           separator_name(json_text_at(reading, "separator")),
           json_text_at(reading, "decimal")[0] == ',' ? ", decimal comma" : "",
           missing[0] ? " and " : "", missing);
    for (size_t i = 0; i < json_array_size(text); i++)
        report("", "text: %s", json_string_value(json_array_get(text, i)));
}

const char *reading_contrast(const request *r, const json_t *model, char *out, size_t size)
{
    const json_t *reading = json_object_get(model, "reading");
    const char *missing = r->options.missing, *trained = json_text_at(reading, "missing");
    const double base = json_at(reading, "index_base");
    out[0] = '\0';
    if (json_object_get(reading, "missing") && strcmp(missing, "auto") && strcmp(missing, trained))
        snprintf(out, size, "read with --missing %.100s; the training file was read with %.100s",
                 missing, trained[0] ? trained : "none");
    if (r->options.index_base >= 0 && r->options.index_base != base && base >= 0)
        snprintf(out, size, "read with --index-base %d; the training file counts from %.0f",
                 (int)r->options.index_base, base);
    return out;
}

const char *unfinished_text(const json_t *model, char *out, size_t size)
{
    const json_t *verdicts = json_object_get(model, "verdict");
    const double tolerance = json_at(model, "tolerance");
    int64_t worst = 0;
    out[0] = '\0';
    if (!json_is_false(json_object_get(model, "finished"))) return out;
    for (int64_t t = 1; t < target_count(model); t++)
        if (!(fabs(json_at_target(model, "relative_gap", t)) <=
              fabs(json_at_target(model, "relative_gap", worst))))
            worst = t;
    const json_t *verdict =
        json_is_array(verdicts) ? json_array_get(verdicts, (size_t)worst) : verdicts;
    const double gap = json_at_target(model, "relative_gap", worst);
    char number[32] = "infinite"; /* a row is outside a hard tube */
    if (!isnan(gap)) snprintf(number, sizeof number, "%.2g", gap);
    snprintf(out, size,
             "the model is unfinished (%s, relative gap %s, tolerance %g): predictions may be far "
             "from those of the optimum",
             json_string_value(verdict), number, tolerance);
    return out;
}
