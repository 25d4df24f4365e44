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

/* Milliseconds of ".123" at *s, which is moved behind all of its digits; false if there are none. */
static bool fraction_of(const char **s, int *ms)
{
    *ms = 0;
    if (**s != '.' && **s != ',')
        return true;
    ++*s;
    if (!isdigit((unsigned char)**s))
        return false;
    for (int weight = 100; isdigit((unsigned char)**s); weight /= 10, ++*s)
        *ms += weight * (**s - '0');
    return true;
}

/* Minutes to the east of UTC: of "Z", "+01", "+0100", "-05:30", or of nothing, which is UTC. */
static bool zone_of(const char *s, int *minutes)
{
    *minutes = 0;
    if (*s == '\0' || strcmp(s, "Z") == 0)
        return true;
    int sign = *s == '+' ? 1 : *s == '-' ? -1 : 0, hours = digits(s + (sign != 0), 2);
    if (!sign || hours < 0 || hours > 14)
        return false;
    s += 3 + (s[3] == ':');
    int rest = *s ? digits(s, 2) : 0;
    if (rest < 0 || rest > 59 || (*s && s[2]))
        return false;
    *minutes = sign * (60 * hours + rest);
    return true;
}

int64_t when_parse(const char *iso)
{
    int64_t day = clock_day_s(iso);
    if (day < 0 || strnlen(iso, 19) < 19 || (iso[10] != 'T' && iso[10] != ' ') || iso[13] != ':' ||
        iso[16] != ':')
        return WHEN_UNKNOWN;
    int hour = digits(iso + 11, 2), minute = digits(iso + 14, 2), second = digits(iso + 17, 2), ms, east;
    const char *rest = iso + 19;
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60 ||
        !fraction_of(&rest, &ms) || !zone_of(rest, &east))
        return WHEN_UNKNOWN;
    return (day + hour * 3600 + (minute - east) * 60 + second) * 1000 + ms;
}

void when_format(int64_t ms, char *out)
{
    if (ms == WHEN_UNKNOWN)
        out[0] = '\0';
    else
        clock_iso8601((double)ms / 1e3, out);
}
