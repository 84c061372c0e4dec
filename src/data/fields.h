/* fields.h -- a small text file as lines of fields: name,value or "name, with a comma",value */
#ifndef FENP_FIELDS_H
#define FENP_FIELDS_H
#include "fenchel/fenchel.h"

typedef struct fenp_fields {
    const char *path;          /* borrowed                                              */
    char   *text, *next;       /* the file; what is left of it                          */
    int64_t line;              /* of the fields that were handed out last               */
} fenp_fields;
/* FEN_IO if it cannot be read, FEN_BAD_DATA if it is no text. */
fen_status fenp_fields_open(const char *path, fenp_fields *out, fen_error *err);
/* That there is no such file behind an option that may hold other things, too: FEN_BAD_CALL where
 * the text does not look like a file, else *err is what was said with alternatives added. */
fen_status fenp_no_file(const char *text, const char *option, const char *alternatives,
                        fen_error *err);
/* The fields of the next line that has some, without blanks and quotes around them; valid until
 * the file is closed. How many there are (the first most are in field); 0: the end. */
int        fenp_fields_next(fenp_fields *in, char **field, int most);
void       fenp_fields_close(fenp_fields *in);
#endif
