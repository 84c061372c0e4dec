/* reading.c -- how the training file of a model was read, in words
 *
 * DATA for a model is read alike; options of the command line come before it, and are named where
 * they are others. */
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
