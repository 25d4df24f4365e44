/* when: dates in artifacts and rows. Text is a day "2026-02-14" or a time "2026-02-14T03:15:09[.123]" with
 * "Z", an offset such as "+01:00", or neither, which means UTC; rows hold milliseconds since the epoch. Any
 * other text is WHEN_UNKNOWN.
 */
#pragma once

#include <stdint.h>

#define WHEN_UNKNOWN INT64_MIN

int64_t when_parse(const char *iso);
/* The day's first millisecond; date has the form 2026-02-14. */
int64_t when_midnight(const char *date);
/* out: char[CLOCK_ISO_LEN + 1]; "" for WHEN_UNKNOWN. */
void when_format(int64_t ms, char *out);
