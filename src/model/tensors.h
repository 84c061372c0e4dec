/* tensors.h -- a safetensors file that nobody vouches for
 *
 *     8 bytes        length of the header, little-endian
 *     the header     JSON: "__metadata__" holds strings only, every other key is an
 *                    array: {"dtype": "F64", "shape": [..], "data_offsets": [from, to]}
 *     the arrays     little-endian doubles, one after the other without gaps
 *
 * The header's length is held against the file's size before it is read, and every
 * array against the data section before anyone can allocate for it. */
#ifndef FENP_TENSORS_H
#define FENP_TENSORS_H
#include <jansson.h>
#include "fenchel/fenchel.h"

#define FENP_METADATA "__metadata__"
enum { FENP_TENSORS_MAX = 24 };

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "the arrays are little-endian and move straight between file and memory");

typedef struct fenp_tensor {
    const char *name;              /* of the header                                    */
    int         rank;              /* 1 or 2; the second extent of a vector is 1       */
    int64_t     shape[2];
    int64_t     from, to;          /* bytes in the data section                        */
} fenp_tensor;

typedef struct fenp_tensors {
    const char *path;              /* borrowed                                         */
    int         file;
    int64_t     data_from, data_size;
    json_t     *header;
    fenp_tensor tensor[FENP_TENSORS_MAX];
    int         count;
} fenp_tensors;

/* The header; leaves *in closable whatever it returns. */
fen_status fenp_tensors_open(const char *path, fenp_tensors *in, fen_error *err);
/* The list of the arrays, which must fill the rest of the file. */
fen_status fenp_tensors_list(fenp_tensors *in, fen_error *err);
void       fenp_tensors_close(fenp_tensors *in);
const fenp_tensor *fenp_tensor_find(const fenp_tensors *in, const char *name);   /* or NULL */
const char        *fenp_metadata(const fenp_tensors *in, const char *key);       /* or NULL */
fen_status fenp_tensor_read(const fenp_tensors *in, const fenp_tensor *tensor, double *out,
                            fen_error *err);
/* "model.fen: is not a fenchel model (why)", "model.fen: damaged: what why" */
fen_status fenp_alien(const fenp_tensors *in, const char *why, fen_error *err);
fen_status fenp_damaged(const fenp_tensors *in, const char *what, const char *why,
                        fen_error *err);
#endif
