#include "common/json_quick.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 32, NUMBER_MAX = 40, INTEGER_DIGITS = 18 };

struct reader {
    const char *p;
    const char *end;
    int depth;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Both the digits and the power of ten are exact, so their quotient is rounded once, as strtod() rounds. */
bool json_quick_decimal(const char **at, const char *end, double *out)
{
    static const double powers[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6, 1e7,
                                    1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14};
    const char *p = *at;
    bool negative = p < end && *p == '-';
    p += negative;
    if (end - p > 1 && p[0] == '0' && is_digit(p[1]))
        return false;
    int64_t whole = 0;
    size_t digits = 0, decimals = 0;
    for (; p < end && is_digit(*p) && digits < 16; p++, digits++)
        whole = 10 * whole + (*p - '0');
    if (digits > 0 && p < end && *p == '.')
        for (p++; p < end && is_digit(*p) && digits < 16; p++, digits++, decimals++)
            whole = 10 * whole + (*p - '0');
    if (digits == 0 || digits > 15 || p[-1] == '.' || (negative && whole == 0))
        return false;
    *out = (double)(negative ? -whole : whole) / powers[decimals];
    *at = p;
    return true;
}

static char next(struct reader *r)
{
    while (r->p < r->end && (*r->p == ' ' || *r->p == '\n' || *r->p == '\t' || *r->p == '\r'))
        r->p++;
    return r->p < r->end ? *r->p : '\0';
}

static bool take(struct reader *r, char c)
{
    if (next(r) != c)
        return false;
    r->p++;
    return true;
}

/* Behind the opening quote; the text between the quotes. */
static const char *plain_text(struct reader *r, size_t *len)
{
    const char *start = r->p;
    while (r->p < r->end && *r->p != '"') {
        if (*r->p < 0x20 || *r->p > 0x7e || *r->p == '\\')
            return NULL;
        r->p++;
    }
    if (r->p == r->end)
        return NULL;
    *len = (size_t)(r->p++ - start);
    return start;
}

/* What the grammar of JSON allows, with the parts that tell an integer from a real. */
static bool scan_number(struct reader *r, bool *real)
{
    const char *p = r->p + (*r->p == '-');
    *real = false;
    const char *digits = p;
    while (p < r->end && is_digit(*p))
        p++;
    if (p == digits || (*digits == '0' && p - digits > 1))
        return false;
    if (p < r->end && *p == '.') {
        const char *decimals = ++p;
        while (p < r->end && is_digit(*p))
            p++;
        if (p == decimals)
            return false;
        *real = true;
    }
    if (p < r->end && (*p == 'e' || *p == 'E')) {
        p++;
        p += p < r->end && (*p == '+' || *p == '-');
        const char *exponent = p;
        while (p < r->end && is_digit(*p))
            p++;
        if (p == exponent)
            return false;
        *real = true;
    }
    r->p = p;
    return true;
}

static json_t *long_real(const char *start, size_t len)
{
    char text[NUMBER_MAX + 1], *stop;
    memcpy(text, start, len);
    text[len] = '\0';
    errno = 0;
    double v = strtod(text, &stop);
    return *stop || errno || !isfinite(v) || v == 0 ? NULL : json_real(v);
}

static json_t *read_number(struct reader *r)
{
    const char *start = r->p, *again = start;
    bool real;
    double v;
    if (!scan_number(r, &real) || r->p - start > NUMBER_MAX)
        return NULL;
    if (real)
        return json_quick_decimal(&again, r->p, &v) && again == r->p
                   ? json_real(v)
                   : long_real(start, (size_t)(r->p - start));
    bool negative = *start == '-';
    int64_t whole = 0;
    if (r->p - start > INTEGER_DIGITS || (negative && start[1] == '0'))
        return NULL;
    for (const char *p = start + negative; p < r->p; p++)
        whole = 10 * whole + (*p - '0');
    return json_integer(negative ? -whole : whole);
}

static json_t *read_word(struct reader *r, const char *word, json_t *value)
{
    size_t len = strlen(word);
    if ((size_t)(r->end - r->p) < len || memcmp(r->p, word, len) != 0)
        return NULL;
    r->p += len;
    return value;
}

static json_t *read_value(struct reader *r);

static json_t *read_array(struct reader *r)
{
    json_t *array = json_array();
    if (take(r, ']'))
        return array;
    do {
        json_t *value = read_value(r);
        if (!value || json_array_append_new(array, value) != 0) {
            json_decref(array);
            return NULL;
        }
    } while (take(r, ','));
    if (take(r, ']'))
        return array;
    json_decref(array);
    return NULL;
}

static bool read_member(struct reader *r, json_t *object)
{
    size_t len = 0;
    const char *key = take(r, '"') ? plain_text(r, &len) : NULL;
    if (!key || !take(r, ':') || json_object_getn(object, key, len))
        return false;
    json_t *value = read_value(r);
    return value && json_object_setn_new_nocheck(object, key, len, value) == 0;
}

static json_t *read_object(struct reader *r)
{
    json_t *object = json_object();
    if (take(r, '}'))
        return object;
    do {
        if (!read_member(r, object)) {
            json_decref(object);
            return NULL;
        }
    } while (take(r, ','));
    if (take(r, '}'))
        return object;
    json_decref(object);
    return NULL;
}

static json_t *read_nested(struct reader *r, bool object)
{
    r->p++;
    if (++r->depth > DEPTH_MAX)
        return NULL;
    json_t *value = object ? read_object(r) : read_array(r);
    r->depth--;
    return value;
}

static json_t *read_value(struct reader *r)
{
    size_t len;
    const char *text;
    char c = next(r);
    if (c == '{' || c == '[')
        return read_nested(r, c == '{');
    if (c == '"') {
        r->p++;
        text = plain_text(r, &len);
        return text ? json_stringn_nocheck(text, len) : NULL;
    }
    if (c == 't')
        return read_word(r, "true", json_true());
    if (c == 'f')
        return read_word(r, "false", json_false());
    if (c == 'n')
        return read_word(r, "null", json_null());
    return c == '-' || is_digit(c) ? read_number(r) : NULL;
}

json_t *json_quick_parse(const char *text, size_t len)
{
    struct reader r = {text, text + len, 0};
    json_t *value = read_value(&r);
    next(&r);
    if (value && r.p == r.end)
        return value;
    json_decref(value);
    return NULL;
}
