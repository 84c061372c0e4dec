/* error.c -- one sentence for the person, one status for the program
 *
 * Messages longer than fen_error holds are cut and end in "...". */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/error.h"

fen_status fenp_fail(fen_error *err, fen_status status, const char *format, ...)
{
    if (!err) return status;
    /* Written aside first: an argument may be err->message itself. */
    char message[sizeof err->message];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (length < 0)
        message[0] = '\0';
    else if ((size_t)length >= sizeof message)
        memcpy(message + sizeof message - 4, "...", 4);
    memcpy(err->message, message, sizeof message);
    err->status = status;
    return status;
}

fen_status fenp_no_memory(fen_error *err, int64_t bytes, const char *what_for)
{
    static const char *const units[] = { "bytes", "kB", "MB", "GB", "TB", "PB", "EB" };
    if (bytes < 0) /* what fenp_bytes says of a size that overflows */
        return fenp_fail(err, FEN_MEMORY, "out of memory: no machine holds what %s would take",
                         what_for);
    if (bytes == 0) /* the amount is known to somebody else */
        return fenp_fail(err, FEN_MEMORY, "out of memory: none is left for %s", what_for);
    int unit = 0;
    int64_t whole = bytes, tenths = 0;
    for (; whole >= 1000; unit++) {
        tenths = whole % 1000 / 100;
        whole /= 1000;
    }
    if (unit > 0 && whole < 10) /* integers: printf's decimal point follows the locale */
        return fenp_fail(err, FEN_MEMORY, "out of memory: %lld.%lld %s for %s could not be had",
                         (long long)whole, (long long)tenths, units[unit], what_for);
    return fenp_fail(err, FEN_MEMORY, "out of memory: %lld %s for %s could not be had",
                     (long long)whole, units[unit], what_for);
}
