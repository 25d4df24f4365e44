#include "results/store/when.h"

#include "common/base/clock.h"

#include <ctype.h>
#include <string.h>
#include <time.h>

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

/* The day at s in seconds, or -1; a date that timegm() would normalise (February 30) is invalid. */
static int64_t day_at(const char *s)
{
    struct tm tm = {0}, back;
    if (strnlen(s, 10) < 10 || s[4] != '-' || s[7] != '-')
        return -1;
    int year = digits(s, 4), month = digits(s + 5, 2), day = digits(s + 8, 2);
    if (year < 1970 || month < 1 || day < 1)
        return -1;
    tm.tm_year = year - 1900;
    tm.tm_mon = month - 1;
    tm.tm_mday = day;
    time_t t = timegm(&tm);
    if (!gmtime_r(&t, &back) || back.tm_mon != month - 1 || back.tm_mday != day)
        return -1;
    return t;
}

bool when_is_date(const char *date)
{
    return strlen(date) == 10 && day_at(date) >= 0;
}

int64_t when_midnight(const char *date)
{
    int64_t day = day_at(date);
    return day < 0 ? WHEN_UNKNOWN : day * 1000;
}

int64_t when_parse(const char *iso)
{
    size_t len = strnlen(iso, 40);
    int64_t day = day_at(iso);
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
