#include "harness/nightly/lost_hour.h"

enum { DAYS = 366 };

/* mktime() brings a time that does not exist to one that does. */
static bool exists(struct tm day, int hour, int minute)
{
    day.tm_hour = hour;
    day.tm_min = minute;
    day.tm_sec = 0;
    day.tm_isdst = -1;
    mktime(&day);
    return day.tm_hour == hour && day.tm_min == minute;
}

bool lost_hour_find(time_t now, int hour, int minute, char day[LOST_HOUR_DAY_LEN + 1])
{
    struct tm today;
    *day = '\0';
    if (!localtime_r(&now, &today))
        return false;
    for (int i = 0; i <= DAYS; i++) {
        struct tm tm = today;
        tm.tm_mday += i;
        tm.tm_hour = 12; /* clocks change at night */
        tm.tm_isdst = -1;
        if (mktime(&tm) != (time_t)-1 && !exists(tm, hour, minute))
            return strftime(day, LOST_HOUR_DAY_LEN + 1, "%Y-%m-%d", &tm) > 0;
    }
    return false;
}
