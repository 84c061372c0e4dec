/* show.c -- texts from files, fit for a terminal
 *
 * A column name may hold what a terminal obeys: escape sequences begin with U+001B or, shorter,
 * with one of U+0080 .. U+009F; others turn the direction of writing, so that a line reads as what
 * it is not. These become \u001b, as in JSON, where they keep their meaning; a byte that is no
 * part of a UTF-8 character becomes \xff. Everything else is shown as it is. */
#include <stdio.h>
#include <string.h>
#include "fenchel/fenchel.h"

/* Bytes of the character at text and its code; 0: it is not UTF-8 (cut short, overlong, a
 * surrogate, beyond U+10FFFF). */
static int decode(const unsigned char *text, int64_t length, uint32_t *code)
{
    static const uint32_t least[5] = { 0, 0, 0x80, 0x800, 0x10000 };
    const int size = text[0] < 0x80             ? 1
                     : (text[0] & 0xe0) == 0xc0 ? 2
                     : (text[0] & 0xf0) == 0xe0 ? 3
                     : (text[0] & 0xf8) == 0xf0 ? 4
                                                : 0;
    if (size == 0 || size > length) return 0;
    *code = size == 1 ? text[0] : text[0] & (0x7fu >> size);
    for (int i = 1; i < size; i++) {
        if ((text[i] & 0xc0) != 0x80) return 0;
        *code = *code << 6 | (text[i] & 0x3fu);
    }
    const int surrogate = *code >= 0xd800 && *code < 0xe000;
    return *code < least[size] || *code > 0x10ffff || surrogate ? 0 : size;
}

static int is_obeyed(uint32_t code)
{
    static const uint32_t ranges[][2] = {
        { 0x00, 0x1f },     { 0x7f, 0x9f },     { 0x61c, 0x61c },
        { 0x200e, 0x200f }, { 0x2028, 0x202e }, { 0x2066, 0x2069 },
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (code >= ranges[i][0] && code <= ranges[i][1]) return 1;
    return 0;
}

int fen_character_show(const char *text, int64_t length, char shown[8])
{
    const unsigned char *bytes = (const unsigned char *)text;
    uint32_t code;
    const int size = decode(bytes, length, &code);
    if (size == 0)
        snprintf(shown, 8, "\\x%02x", bytes[0]);
    else if (is_obeyed(code))
        snprintf(shown, 8, "\\u%04x", (unsigned)code & 0xffff);
    else {
        memcpy(shown, text, (size_t)size);
        shown[size] = '\0';
    }
    return size > 0 ? size : 1;
}
