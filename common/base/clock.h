/* clock: durations are measured with the monotonic clock, dates with the real-time clock. Names end in the
 * unit.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
    CLOCK_ISO_LEN = 24, /* 2026-02-14T03:15:09.123Z */
    CLOCK_DAY_LEN = 10  /* 2026-02-14 */
};

int64_t clock_mono_ns(void);
double clock_mono_s(void);
/* Returns the CPU time of this process. */
double clock_cpu_s(void);
/* Returns the seconds since the epoch, to the millisecond. */
double clock_real_s(void);
/* out: char[CLOCK_ISO_LEN + 1], UTC; times outside the years 1970 to 9999 give the epoch. */
void clock_iso8601(double real_s, char *out);

/* Gives the present day, in UTC as all dates are: no other zone is looked at anywhere. out:
 * char[CLOCK_DAY_LEN + 1]. */
void clock_today(char *out);

/* Does the reverse of clock_iso8601(); 0 for what is no such time. */
double clock_from_iso8601(const char *text);

/* Returns the seconds since the epoch at the start of the day at the beginning of text, in UTC: "2026-02-14",
 * from 1970 on; -1 where there is none, and for a day that no calendar has, such as February 30. */
int64_t clock_day_s(const char *text);
/* Whether text is such a day, and nothing else. */
bool clock_is_day(const char *text);

/* Returns a deadline on the monotonic clock; 0 means none. */
int64_t clock_deadline_ns(double seconds_from_now);
/* Returns the milliseconds left for poll(): 0 when past, -1 when there is no deadline. */
int clock_left_ms(int64_t deadline_ns);
