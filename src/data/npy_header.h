/* npy_header.h -- what stands before the items of a npy file, and one item as a number */
#ifndef FENP_NPY_HEADER_H
#define FENP_NPY_HEADER_H
#include "fenchel/fenchel.h"

typedef struct fenp_npy_header {
    char    kind;              /* f i u b                                              */
    int     item_bytes;
    int     big_endian, fortran;
    int64_t rows, cols;        /* both positive                                        */
    int64_t bytes;             /* of all items; does not overflow                      */
} fenp_npy_header;

/* text: the Python dictionary, NUL-terminated; name: of the file, for the sentence. */
fen_status fenp_npy_parse(const char *text, const char *name, fenp_npy_header *out,
                          fen_error *err);
double     fenp_npy_item(const fenp_npy_header *head, const unsigned char *at);
#endif
