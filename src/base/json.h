/* json.h -- Jansson with our number rules: the shortest text that reads back as the same double,
 * infinities and NaN as null */
#ifndef FENP_JSON_H
#define FENP_JSON_H
#include <jansson.h>
#include "fenchel/fenchel.h"

json_t *fenp_json_number(double value);
/* text, in which bytes that are not UTF-8 stand as U+FFFD: a note may have been cut anywhere */
json_t *fenp_json_string(const char *text);
/* Values that a JSON text holds at the most: commas and brackets outside of strings. Each
 * takes up to 100 bytes once parsed, so ask before parsing what a stranger wrote. */
int64_t fenp_json_values(const char *text, int64_t length);
/* one number when count is 1, else an array: what several targets look like */
json_t *fenp_json_numbers(const double *values, int64_t count);
/* an array of texts; NULL: no memory */
json_t *fenp_json_strings(char *const *text, int64_t count);
/* FEN_OK and NULL in *out: text is not JSON; else *out is the caller's. */
fen_status fenp_json_parse(const char *text, int64_t length, json_t **out, fen_error *err);
/* Takes the reference; text is released with fen_text_free. NULL value: FEN_MEMORY. */
fen_status fenp_json_text(json_t *value, char **text, fen_error *err);
/* The same of head, an object that is not empty, with a list as its last member: items by threads.
 * Takes the references. */
fen_status fenp_json_text_with(json_t *head, const char *key, json_t *list, char **text,
                               fen_error *err);
/* The same of count items that are written from what they are kept in. */
typedef struct fenp_json_writer fenp_json_writer;
typedef void fenp_json_item(const void *of, int64_t item, fenp_json_writer *to);
fen_status fenp_json_text_items(json_t *head, const char *key, int64_t count, fenp_json_item *write,
                                const void *of, char **text, fen_error *err);
void fenp_write_plain(fenp_json_writer *to, const char *json);
void fenp_write_string(fenp_json_writer *to, const char *text);         /* in quotes, UTF-8 */
void fenp_write_number(fenp_json_writer *to, double value);
#endif
