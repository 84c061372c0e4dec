/* text.h -- numbers and names as text, independent of the locale */
#ifndef FENP_TEXT_H
#define FENP_TEXT_H
#include <stdint.h>
#include <stddef.h>

/* Parses all of [text, text+length) as a decimal number: correctly rounded, any
 * exponent, no hex. Returns 1 and *value; 0 if it is not a number. "inf", "nan"
 * and their kin are not numbers here (see fenp_is_not_finite_word). Surrounding
 * blanks are the caller's business. Fast path (<= 19 digits, Eisel-Lemire), else strtod
 * on text without a decimal point. Overflow gives an infinity. */
int fenp_parse_double(const char *text, int64_t length, double *value);
/* The number at the start of [text, end): the place after it, or NULL and *value as it was. */
const char *fenp_scan_double(const char *text, const char *end, double *value);
int fenp_parse_int(const char *text, int64_t length, int64_t *value);
/* "nan", "inf", "+Infinity", "-1.#IND" ... in any case */
int fenp_is_not_finite_word(const char *text, int64_t length);
/* A number or a fraction "4/3". */
int fenp_parse_fraction(const char *text, int64_t length, double *value);
/* Shortest text that reads back as the same double; at most 32 bytes. Returns its length. */
int fenp_print_double(double value, char out[32]);
/* For people: six digits of it. */
int fenp_print_short(double value, char out[32]);
/* The entry of names (NULL-terminated) nearest to wrong in edit distance, NULL if none is near. */
const char *fenp_nearest(const char *wrong, const char *const *names);
/* The same among `count` pointers to names, each stride bytes behind the one before: members of
 * structs. Of very many only the first are looked at. */
const char *fenp_nearest_member(const char *wrong, const void *names, int64_t count,
                                size_t stride);
/* The entry that wrong means to users of other programs, or else the nearest. pairs: what it is
 * called there and in names; the last is NULL. */
const char *fenp_suggest(const char *wrong, const char *const (*pairs)[2],
                         const char *const *names);
/* "a, b, c" out of names (NULL-terminated), as far as there is room. */
void fenp_join(const char *const *names, char *out, size_t room);
/* "a", "b", "c" in quotes out of names as in fenp_nearest_member; of many, or of more than there
 * is room for, "a" to "c". */
void fenp_list_members(const void *names, int64_t count, size_t stride, char *out, size_t room);
/* Calls visit for every item of a comma list; blanks trimmed; stops when it returns nonzero. */
int fenp_each_item(const char *list, int (*visit)(void *user, const char *item, int64_t length),
                   void *user);
#endif
