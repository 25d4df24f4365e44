/* number: the format of numbers in reports, the same in every language: decimal point, no grouping, a space
 * before units.
 *
 * Each function returns its text by value, so that it can be used in an argument list: num_seconds(x).s. A
 * value that was not measured (NaN) is a dash, never 0. Knows nothing about what the numbers mean.
 */
#pragma once

#include <stdint.h>

enum { NUM_TEXT_MAX = 40 };
#define NUM_NONE "-"

struct num {
    char s[NUM_TEXT_MAX];
};

struct num num_seconds(double s);    /* 13366.90  22.77  0.0512  0.0000156 */
struct num num_six_digits(double v); /* significant digits, for copying: 469.749 */
struct num num_duration(double s);   /* 45 s  12 min 30 s  2 h 05 min */
struct num num_rate(double per_s);
/* Takes any size, with at least four digits: 0.0004213, 252000. */
struct num num_plain(double v);                    /* 180  72  7.2  0.41 */
struct num num_milliseconds(double ms);            /* 0.0597  0.5533  2.596  173.48 */
struct num num_times(double f);                    /* 1.92  11.3  802  0.015  0.000093 */
struct num num_factor(double f);                   /* the same as 1.92x */
struct num num_factor_error(double f, double err); /* 0.11x ± 0.01 */
struct num num_factor_below(double bound);         /* < 0.13x: rounded up, so that it stays true */
struct num num_growth(double f);                   /* 20.6x */
struct num num_percent(double fraction);           /* 5 %  2.5 % */
struct num num_change(double fraction);            /* +7.3 %  -0.4 %  0.0 %: what is shown as 0 has no sign */
struct num num_change_fine(double fraction);       /* +7.31 %  -0.04 % */
struct num num_bytes(double bytes);                /* 512 B  36.0 KiB  23.4 GiB */
struct num num_fixed(double v, int decimals);
struct num num_int(int64_t v);
struct num num_date(int64_t ms);                      /* 2026-11-27, in UTC */
struct num num_p(double p);                           /* 0.0079  < 0.0001 */
struct num num_money(double v, const char *currency); /* 3.60 USD */
