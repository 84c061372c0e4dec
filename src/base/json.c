/* json.c -- Jansson with our number rules: 17 digits, infinities and NaN as null */
#include <math.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"

enum { FORMAT = JSON_REAL_PRECISION(17) };

json_t *fenp_json_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *fenp_json_numbers(const double *values, int64_t count)
{
    if (count == 1)
        return fenp_json_number(values[0]);
    json_t *array = json_array();
    for (int64_t i = 0; array && i < count; i++)
        if (json_array_append_new(array, fenp_json_number(values[i])) != 0) {
            json_decref(array);
            array = NULL;
        }
    return array;
}

fen_status fenp_json_text(json_t *value, char **text, fen_error *err)
{
    /* Measured, then written into memory of our own: free() releases it, whatever
     * allocator the program gave Jansson. */
    size_t length = value ? json_dumpb(value, NULL, 0, FORMAT) : 0;
    char *out = length > 0 ? fenp_new((int64_t)length + 1, 1) : NULL;
    if (out && json_dumpb(value, out, length, FORMAT) == length) {
        out[length] = '\0';
        *text = out;
        json_decref(value);
        return FEN_OK;
    }
    free(out);
    json_decref(value);
    return fenp_no_memory(err, (int64_t)length, "a JSON text");
}
