/* lost_hour: whether a time of day exists every day. Where clocks go forward, an hour of that day is left
 * out, and systemd starts nothing at a time within it.
 */
#pragma once

#include <stdbool.h>
#include <time.h>

enum { LOST_HOUR_DAY_LEN = 10 };

/* day: the first one within a year of `now`, by the local time zone, on which it does not exist. */
bool lost_hour_find(time_t now, int hour, int minute, char day[LOST_HOUR_DAY_LEN + 1]);
