/* number.c -- decimal text to double and back, whatever the locale
 *
 * Reading. A number is w 10^q with an integer w of at most 19 digits and, if there were
 *   more digits, a remainder below one unit of w.
 *   1. w < 2^53 and |q| <= 22: both factors are doubles, one rounding (Clinger 1990).
 *   2. else the leading 128 bits of w 5^q decide (Eisel-Lemire; Lemire, "Number parsing at
 *      a gigabyte per second", 2021; Mushtak and Lemire, 2023, prove that no case is left).
 *   3. a remainder: w and w+1 give the same double in nearly every case.
 *   4. else strtod gets the digits and the exponent, but no decimal point: there is then
 *      nothing in the text that a locale could read otherwise.
 * Printing. Schubfach (Giulietti 2021): the shortest decimal in the rounding interval, the
 *   nearest one if there are several, from three products with the same table of powers.
 *
 * Special cases: -0 keeps its sign both ways; overflow reads as infinity, underflow as 0.
 * Accuracy: correctly rounded (to nearest, ties to even); print and parse invert each other.
 * Cost: about 10 ns to read 17 digits, 30 ns to print them.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/powers.h"
#include "base/text.h"

typedef unsigned __int128 wide;

enum {
    DIGITS = 19,       /* that always fit into 64 bits */
    EXACT_POWER = 22,  /* 10^22 is the largest power of ten that is a double */
    HARD_DIGITS = 770, /* more than that cannot matter beyond "not zero" */
    FRACTION_BITS = 52,
    BIAS = 1023,
    INFINITE = 0x7ff /* exponent field */
};
static const int64_t EXPONENT_LIMIT = INT64_MAX / 4;

static const double exact_powers[EXACT_POWER + 1] = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
};

/* What stands in the text: sign, mantissa w (all digits if they fit), exponent. */
typedef struct decimal {
    const char *digits, *end; /* the mantissa: digits and at most one point */
    uint64_t w;
    int64_t exponent; /* of the last digit of the mantissa */
    int64_t count;    /* digits, leading zeros included */
    int negative;
} decimal;

static inline int is_digit(char c) { return (unsigned char)(c - '0') <= 9; }

/* ---- reading -------------------------------------------------------------------- */

/* Up to eight digits at once, however many there are, without a branch on their number: the
 * digits are moved to the end of the word, behind zeros, and added up in pairs, fours, all.
 * Returns how many there were. */
static inline int some_digits(const char *p, uint64_t *w)
{
    static const uint64_t shift[9] = {
        1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000
    };
    uint64_t v;
    memcpy(&v, p, 8);
    v ^= 0x3030303030303030;
    uint64_t others = (v | (v + 0x7676767676767676)) & 0x8080808080808080;
    int count = others ? __builtin_ctzll(others) / 8 : 8;
    if (count == 0) return 0;
    v <<= 64 - 8 * count;
    v = v * 2561 >> 8 & 0x00ff00ff00ff00ff;
    v = v * 6553601 >> 16 & 0x0000ffff0000ffff;
    *w = *w * shift[count] + (v * 42949672960001 >> 32);
    return count;
}

/* w wraps around beyond 19 digits; the caller looks at the count. */
static inline const char *take_digits(const char *p, const char *end, uint64_t *w)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    for (int count = 8; count == 8 && end - p >= 8; p += count) count = some_digits(p, w);
#endif
    for (; p < end && is_digit(*p); p++) *w = *w * 10 + (uint64_t)(*p - '0');
    return p;
}

/* The exponent part at p ("e-12"), if it is one; a lone "e" is not part of the number. */
static const char *take_exponent(const char *p, const char *end, int64_t *exponent)
{
    const char *q = p + 1;
    int negative = q < end && *q == '-';
    if (q < end && (*q == '-' || *q == '+')) q++;
    if (q >= end || !is_digit(*q)) return p;
    int64_t value = 0;
    for (; q < end && is_digit(*q); q++)
        if (value < EXPONENT_LIMIT / 10) value = value * 10 + (*q - '0');
    *exponent += negative ? -value : value;
    return q;
}

static inline const char *take_decimal(const char *p, const char *end, decimal *d)
{
    d->negative = p < end && *p == '-';
    p += d->negative | (p < end && *p == '+');
    d->digits = p;
    d->w = 0;
    d->exponent = 0;
    p = take_digits(p, end, &d->w);
    d->count = p - d->digits;
    if (p < end && *p == '.') {
        const char *fraction = p + 1;
        p = take_digits(fraction, end, &d->w);
        d->exponent = fraction - p;
        d->count += p - fraction;
    }
    d->end = p;
    if (d->count == 0) return NULL;
    if (p < end && (*p == 'e' || *p == 'E')) p = take_exponent(p, end, &d->exponent);
    return p;
}

static double from_bits(uint64_t fraction, int64_t exponent)
{
    uint64_t bits = (uint64_t)exponent << FRACTION_BITS | fraction;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The 128-bit product of w (top bit set) with 5^q; its upper word is exact enough for 55
 * bits unless all lower bits of it are ones, when the lower word of the power is needed. */
static wide product_with_power(uint64_t w, int64_t q)
{
    const uint64_t *power = fenp_powers[q - FENP_POWER_MIN];
    const uint64_t open = UINT64_MAX >> (FRACTION_BITS + 3);
    wide product = (wide)w * power[0];
    if (((uint64_t)(product >> 64) & open) == open) product += (wide)w * power[1] >> 64;
    return product;
}

/* floor(log2(10^q)) + 63 */
static int64_t binary_exponent(int64_t q) { return (217706 * q >> 16) + 63; }

/* w 10^q, correctly rounded, for w > 0. */
static double eisel_lemire(uint64_t w, int64_t q)
{
    if (q < FENP_POWER_MIN) return 0.0;
    if (q > DBL_MAX_10_EXP) return (double)INFINITY;
    int zeros = __builtin_clzll(w);
    wide product = product_with_power(w << zeros, q);
    uint64_t high = (uint64_t)(product >> 64), low = (uint64_t)product;
    int top = (int)(high >> 63);
    int shift = top + 64 - FRACTION_BITS - 3;
    uint64_t mantissa = high >> shift; /* 53 bits and one to round by */
    int64_t exponent = binary_exponent(q) + top - zeros + BIAS;
    if (exponent <= 0) { /* subnormal, or the smallest normal after rounding */
        if (exponent <= -63) return 0.0;
        mantissa >>= 1 - exponent;
        mantissa = (mantissa + (mantissa & 1)) >> 1;
        return from_bits(mantissa, 0);
    }
    /* an exact tie (possible for these q only) goes to the even neighbour */
    if (low <= 1 && q >= -4 && q <= 23 && (mantissa & 3) == 1 && mantissa << shift == high)
        mantissa &= ~(uint64_t)1;
    mantissa = (mantissa + (mantissa & 1)) >> 1;
    if (mantissa >= (uint64_t)2 << FRACTION_BITS) {
        mantissa = (uint64_t)1 << FRACTION_BITS;
        exponent++;
    }
    if (exponent >= INFINITE) return (double)INFINITY;
    return from_bits(mantissa & ~((uint64_t)1 << FRACTION_BITS), exponent);
}

/* All digits and the exponent as text without a point: what strtod reads alike everywhere. */
static double read_slowly(const decimal *d)
{
    char text[HARD_DIGITS + 32];
    int64_t length = 0, dropped = 0;
    int rest = 0;
    for (const char *p = d->digits; p < d->end; p++) {
        if (*p == '.' || (*p == '0' && length == 0)) continue;
        if (length < HARD_DIGITS)
            text[length++] = *p;
        else
            dropped++, rest |= *p != '0';
    }
    if (rest) text[length++] = '1', dropped--;
    int64_t exponent = d->exponent + dropped;
    if (exponent > 99999) exponent = 99999;
    if (exponent < -99999) exponent = -99999;
    text[length++] = 'e';
    text[length++] = exponent < 0 ? '-' : '+';
    uint64_t left = (uint64_t)(exponent < 0 ? -exponent : exponent);
    for (int k = 4; k >= 0; k--, left /= 10) text[length + k] = (char)('0' + left % 10);
    text[length + 5] = 0;
    return strtod(text, NULL);
}

/* More than 19 digits: leading zeros do not count, and the rest seldom matters. */
static double read_long(const decimal *d)
{
    uint64_t w = 0;
    int64_t taken = 0, left = 0;
    for (const char *p = d->digits; p < d->end; p++) {
        if (*p == '.' || (*p == '0' && taken == 0)) continue;
        if (taken < DIGITS)
            w = w * 10 + (uint64_t)(*p - '0'), taken++;
        else
            left++;
    }
    if (w == 0) return 0.0;
    int64_t q = d->exponent + left;
    double below = eisel_lemire(w, q);
    if (left == 0) return below;
    return below == eisel_lemire(w + 1, q) ? below : read_slowly(d);
}

static inline double magnitude(const decimal *d)
{
    if (d->count > DIGITS) return read_long(d);
    if (d->w == 0) return 0.0;
    if (FLT_EVAL_METHOD == 0 && d->w >> 53 == 0 && d->exponent >= -EXACT_POWER &&
        d->exponent <= EXACT_POWER)
        return d->exponent < 0 ? (double)d->w / exact_powers[-d->exponent]
                               : (double)d->w * exact_powers[d->exponent];
    return eisel_lemire(d->w, d->exponent);
}

const char *fenp_scan_double(const char *text, const char *end, double *value)
{
    decimal d;
    const char *after = take_decimal(text, end, &d);
    if (!after) return NULL;
    static const double sign[2] = { 1.0, -1.0 }; /* signs of data are hard to predict */
    *value = sign[d.negative] * magnitude(&d);
    return after;
}

int fenp_parse_double(const char *text, int64_t length, double *value)
{
    double parsed;
    if (fenp_scan_double(text, text + length, &parsed) != text + length) return 0;
    *value = parsed;
    return 1;
}

/* ---- printing ------------------------------------------------------------------- */

/* floor(a b / 2^128) for the 128-bit power a, with the last bit set if anything was cut:
 * two more bits than the decimal digits need then compare as the exact value would. */
static uint64_t scaled(const uint64_t power[2], uint64_t b)
{
    wide low = (wide)power[1] * b;
    wide sum = (wide)power[0] * b + (uint64_t)(low >> 64);
    return (uint64_t)(sum >> 64) | ((uint64_t)sum > 1);
}

/* Of the two multiples of 4 unit that enclose here, the one in [low, high], if just one is;
 * in units. */
static int only_one(uint64_t here, uint64_t unit, uint64_t low, uint64_t high, uint64_t *t)
{
    *t = here / (4 * unit);
    int below = *t > 0 && low <= 4 * unit * *t, above = 4 * unit * (*t + 1) <= high;
    *t += (uint64_t)above;
    return below != above;
}

/* The shortest w 10^*exponent that reads back as c 2^q; edge: c is a power of two, whose
 * lower neighbour is half as far away. The interval is more than 10^k and at most 10^(k+1)
 * long: one multiple of 10^(k+1) in it is the shortest, else the nearest of 10^k is. */
static uint64_t shortest(uint64_t c, int64_t q, int edge, int64_t *exponent)
{
    int64_t k = (q * 1262611 - (edge ? 524031 : 0)) >> 22;
    int64_t h = q + (-k * 1741647 >> 19) + 1;
    uint64_t power[2] = { fenp_powers[-k - FENP_POWER_MIN][0],
                          fenp_powers[-k - FENP_POWER_MIN][1] };
    power[1] += -k < -27 || -k > 55; /* rounded up where the table is cut off */
    uint64_t odd = c & 1;            /* an even c owns the ends of its interval */
    uint64_t low = scaled(power, (4 * c - 2 + (uint64_t)edge) << h) + odd;
    uint64_t here = scaled(power, 4 * c << h);
    uint64_t high = scaled(power, (4 * c + 2) << h) - odd;
    uint64_t w;
    *exponent = k + 1;
    if (here >= 40 && only_one(here, 10, low, high, &w)) return w;
    *exponent = k;
    if (only_one(here, 1, low, high, &w)) return w;
    uint64_t s = here / 4, middle = 4 * s + 2;
    return s + (here > middle || (here == middle && (s & 1)));
}

/* Digits of w without trailing zeros, which go into the exponent. */
static int write_digits(uint64_t w, char out[20], int64_t *exponent)
{
    char reversed[20];
    int count = 0;
    for (; w % 10 == 0; w /= 10) ++*exponent;
    for (; w; w /= 10) reversed[count++] = (char)('0' + w % 10);
    for (int i = 0; i < count; i++) out[i] = reversed[count - 1 - i];
    return count;
}

static int write_exponent(int64_t exponent, char *out)
{
    int length = 0;
    out[length++] = 'e';
    if (exponent < 0) out[length++] = '-', exponent = -exponent;
    if (exponent >= 100) out[length++] = (char)('0' + exponent / 100);
    if (exponent >= 10) out[length++] = (char)('0' + exponent / 10 % 10);
    out[length++] = (char)('0' + exponent % 10);
    return length;
}

/* Plain notation from 1e-5 to 1e17, else one digit before the point and an exponent. */
static int arrange(const char *digits, int count, int64_t exponent, char *out)
{
    int length = 0;
    int64_t point = count + exponent; /* digits before the point */
    if (point > 17 || point < -4) {
        out[length++] = digits[0];
        if (count > 1) out[length++] = '.';
        memcpy(out + length, digits + 1, (size_t)(count - 1));
        return length + count - 1 + write_exponent(point - 1, out + length + count - 1);
    }
    if (point <= 0) {
        out[length++] = '0';
        out[length++] = '.';
        for (; point < 0; point++) out[length++] = '0';
        memcpy(out + length, digits, (size_t)count);
        return length + count;
    }
    for (int i = 0; i < count || i < point; i++) {
        if (i == point) out[length++] = '.';
        out[length++] = i < count ? digits[i] : '0';
    }
    return length;
}

int fenp_print_double(double value, char out[32])
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint64_t fraction = bits & (((uint64_t)1 << FRACTION_BITS) - 1);
    int64_t field = (int64_t)(bits >> FRACTION_BITS & INFINITE);
    int length = 0;
    if (field == INFINITE) {
        const char *word = fraction ? "nan" : bits >> 63 ? "-inf" : "inf";
        memcpy(out, word, strlen(word) + 1);
        return (int)strlen(word);
    }
    if (bits >> 63) out[length++] = '-';
    if (bits << 1 == 0) {
        out[length++] = '0';
    } else {
        char digits[20] = { '0' };
        int64_t exponent;
        uint64_t c = field ? fraction | (uint64_t)1 << FRACTION_BITS : fraction;
        int64_t q = (field ? field : 1) - BIAS - FRACTION_BITS;
        uint64_t w = shortest(c, q, fraction == 0 && field > 1, &exponent);
        int count = write_digits(w, digits, &exponent);
        length += arrange(digits, count, exponent, out + length);
    }
    out[length] = 0;
    return length;
}
