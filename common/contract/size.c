#include "common/contract/size.h"

#include <string.h>

enum { DIGITS_MAX = 15 };

static const int64_t memory_least = 1LL << 20;
static const int64_t memory_most = 64LL << 40;

bool size_parse(const char *text, int64_t *bytes)
{
    static const char units[] = "KMGT";
    size_t digits = strspn(text, "0123456789");
    int64_t value = 0;
    if (digits == 0 || digits > DIGITS_MAX)
        return false;
    for (size_t i = 0; i < digits; i++)
        value = value * 10 + (text[i] - '0');
    const char *unit = text[digits] ? strchr(units, text[digits]) : NULL;
    if (text[digits] && (!unit || text[digits + 1]))
        return false;
    int64_t scale = unit ? (int64_t)1 << (10 * (unit - units + 1)) : 1;
    if (value > INT64_MAX / scale)
        return false;
    *bytes = value * scale;
    return true;
}

bool size_is_memory(const char *text)
{
    int64_t bytes;
    return size_parse(text, &bytes) && bytes >= memory_least && bytes <= memory_most;
}
