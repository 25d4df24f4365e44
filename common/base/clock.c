#include "common/base/clock.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

int64_t clock_mono_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

double clock_mono_s(void)
{
    return (double)clock_mono_ns() * 1e-9;
}

double clock_cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

double clock_real_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    long ms = t.tv_nsec / 1000000;
    return (double)t.tv_sec + (double)ms * 1e-3;
}

void clock_iso8601(double real_s, char *out)
{
    static const double last_s = 253402300799; /* 9999-12-31T23:59:59Z */
    unsigned long long ms = real_s >= 0 && real_s <= last_s ? (unsigned long long)llround(real_s * 1e3) : 0;
    time_t sec = (time_t)(ms / 1000);
    struct tm tm = {0};
    char day[32];
    gmtime_r(&sec, &tm);
    strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(out, CLOCK_ISO_LEN + 1, "%.19s.%03uZ", day, (unsigned)(ms % 1000));
}

void clock_today(char *out)
{
    char now[CLOCK_ISO_LEN + 1];
    clock_iso8601(clock_real_s(), now);
    snprintf(out, CLOCK_DAY_LEN + 1, "%.*s", CLOCK_DAY_LEN, now);
}

double clock_from_iso8601(const char *text)
{
    struct tm tm = {0};
    int ms = 0, end = 0;
    if (sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2d.%3dZ%n", &tm.tm_year, &tm.tm_mon, &tm.tm_mday, &tm.tm_hour,
               &tm.tm_min, &tm.tm_sec, &ms, &end) != 7 ||
        end != CLOCK_ISO_LEN || text[end])
        return 0;
    tm.tm_year -= 1900;
    tm.tm_mon--;
    return (double)timegm(&tm) + ms * 1e-3;
}

static bool is_day_form(const char *text)
{
    static const char form[] = "dddd-dd-dd";
    for (size_t i = 0; form[i]; i++)
        if (form[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != form[i])
            return false;
    return true;
}

int64_t clock_day_s(const char *text)
{
    struct tm tm = {0}, back;
    int year, month, day;
    if (!is_day_form(text) || sscanf(text, "%4d-%2d-%2d", &year, &month, &day) != 3 || year < 1970)
        return -1;
    tm.tm_year = year - 1900;
    tm.tm_mon = month - 1;
    tm.tm_mday = day;
    time_t t = timegm(&tm); /* makes March 2 of February 30 */
    return gmtime_r(&t, &back) && back.tm_mon == month - 1 && back.tm_mday == day ? t : -1;
}

bool clock_is_day(const char *text)
{
    return clock_day_s(text) >= 0 && strlen(text) == CLOCK_DAY_LEN;
}

int64_t clock_deadline_ns(double seconds_from_now)
{
    if (!(seconds_from_now > 0))
        return clock_mono_ns();
    if (seconds_from_now > 1e8)
        return 0;
    return clock_mono_ns() + (int64_t)(seconds_from_now * 1e9);
}

int clock_left_ms(int64_t deadline_ns)
{
    if (deadline_ns == 0)
        return -1;
    int64_t left = deadline_ns - clock_mono_ns();
    if (left <= 0)
        return 0;
    int64_t ms = (left + 999999) / 1000000;
    return ms > INT_MAX ? INT_MAX : (int)ms;
}
