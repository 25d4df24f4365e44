#include "results/store/when.h"

#include "common/base/clock.h"

#include <ctype.h>
#include <string.h>

/* The number of exactly n digits, or -1. */
static int digits(const char *s, int n)
{
    int v = 0;
    for (int i = 0; i < n; i++) {
        if (!isdigit((unsigned char)s[i]))
            return -1;
        v = 10 * v + (s[i] - '0');
    }
    return v;
}

int64_t when_midnight(const char *date)
{
    int64_t day = clock_day_s(date);
    return day < 0 ? WHEN_UNKNOWN : day * 1000;
}

int64_t when_parse(const char *iso)
{
    size_t len = strnlen(iso, 40);
    int64_t day = clock_day_s(iso);
    if (day < 0 || len < 20 || iso[10] != 'T' || iso[13] != ':' || iso[16] != ':' || iso[len - 1] != 'Z')
        return WHEN_UNKNOWN;
    int hour = digits(iso + 11, 2), minute = digits(iso + 14, 2), second = digits(iso + 17, 2), ms = 0;
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60)
        return WHEN_UNKNOWN;
    if (len > 20) {
        if (iso[19] != '.' || len < 22)
            return WHEN_UNKNOWN;
        for (size_t i = 20, weight = 100; i < len - 1; i++, weight /= 10) {
            if (!isdigit((unsigned char)iso[i]))
                return WHEN_UNKNOWN;
            ms += (int)weight * (iso[i] - '0');
        }
    }
    return (day + hour * 3600 + minute * 60 + second) * 1000 + ms;
}

void when_format(int64_t ms, char *out)
{
    if (ms == WHEN_UNKNOWN)
        out[0] = '\0';
    else
        clock_iso8601((double)ms / 1e3, out);
}
