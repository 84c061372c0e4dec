/* error.c -- one sentence for the person, one status for the program
 *
 * Names and cells of files stand in messages: control characters are shown, not sent. Messages
 * longer than fen_error holds are cut and end in "...". */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/error.h"

fen_status fenp_fail(fen_error *err, fen_status status, const char *format, ...)
{
    if (!err) return status;
    /* Written aside first: an argument may be err->message itself. */
    const size_t most = sizeof err->message - 1;
    char text[2 * sizeof err->message], shown[8];
    va_list arguments;
    va_start(arguments, format);
    if (vsnprintf(text, sizeof text, format, arguments) < 0) text[0] = '\0';
    va_end(arguments);
    size_t used = 0, fits = 0; /* fits: what leaves room for "..." */
    for (const char *at = text, *end = text + strlen(text); at < end;) {
        at += fen_character_show(at, end - at, shown);
        if (used + strlen(shown) > most) {
            memcpy(err->message + fits, "...", 3);
            used = fits + 3;
            break;
        }
        memcpy(err->message + used, shown, strlen(shown));
        used += strlen(shown);
        if (used + 3 <= most) fits = used;
    }
    err->message[used] = '\0';
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
