#include "harness/plan/yaml_scalar.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool is_one_of(const char *text, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(text, *words) == 0)
            return true;
    return false;
}

static size_t digits(const char *s)
{
    return strspn(s, "0123456789");
}

static const char *after_sign(const char *s)
{
    return *s == '+' || *s == '-' ? s + 1 : s;
}

/* 10, or 16 and 8 for 0x and 0o; 0 if the text is no integer. */
static int base_of(const char *text)
{
    const char *s = after_sign(text);
    if (s[0] == '0' && s == text && s[1] == 'x')
        return s[2] && !s[2 + strspn(s + 2, "0123456789abcdefABCDEF")] ? 16 : 0;
    if (s[0] == '0' && s == text && s[1] == 'o')
        return s[2] && !s[2 + strspn(s + 2, "01234567")] ? 8 : 0;
    return *s && !s[digits(s)] ? 10 : 0;
}

static bool is_real(const char *text)
{
    const char *s = after_sign(text);
    size_t whole = digits(s), fraction = 0;
    s += whole;
    if (*s == '.') {
        fraction = digits(s + 1);
        s += 1 + fraction;
    }
    if (whole + fraction == 0)
        return false;
    if (*s == 'e' || *s == 'E') {
        s = after_sign(s + 1);
        if (digits(s) == 0)
            return false;
        s += digits(s);
    }
    return *s == '\0';
}

static json_t *integer(const char *text, int base, const char **why)
{
    errno = 0;
    long long value = strtoll(base == 10 ? text : text + 2, NULL, base);
    *why = "an integer beyond 64 bits";
    return errno ? NULL : json_integer(value);
}

static json_t *real(const char *text, const char **why)
{
    double value = strtod(text, NULL);
    *why = "a number that is too large";
    return isfinite(value) ? json_real(value) : NULL;
}

json_t *yaml_scalar_text(const char *text, size_t len, const char **why)
{
    *why = "a string with a NUL character or invalid UTF-8";
    return memchr(text, '\0', len) ? NULL : json_stringn(text, len);
}

json_t *yaml_scalar_plain(const char *text, size_t len, const char **why)
{
    static const char *const nulls[] = {"", "~", "null", "Null", "NULL", NULL},
                             *const yes[] = {"true", "True", "TRUE", NULL},
                             *const no[] = {"false", "False", "FALSE", NULL}, *const none[] = {".inf", ".Inf",
                                                                                               ".INF", ".nan",
                                                                                               ".NaN", ".NAN",
                                                                                               NULL};
    if (strlen(text) != len)
        return yaml_scalar_text(text, len, why);
    if (is_one_of(text, nulls))
        return json_null();
    if (is_one_of(text, yes))
        return json_true();
    if (is_one_of(text, no))
        return json_false();
    *why = "a number that is infinite or NaN";
    if (is_one_of(after_sign(text), none))
        return NULL;
    int base = base_of(text);
    if (base)
        return integer(text, base, why);
    return is_real(text) ? real(text, why) : yaml_scalar_text(text, len, why);
}
