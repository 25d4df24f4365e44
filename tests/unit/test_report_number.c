#include "reports/words/number.h"

#include "tests/unit/support.h"
#include <math.h>

#define same(got, want) assert_string_equal((got).s, want)

TEST(seconds_keep_two_decimals_or_four_digits)
{
    same(num_seconds(13366.9), "13366.90");
    same(num_seconds(22.7681), "22.77");
    same(num_seconds(1), "1.00");
    same(num_seconds(0.05123), "0.0512");
    same(num_seconds(1.5575e-05), "0.0000156");
    same(num_milliseconds(2.63e-4), "0.000263");
    same(num_seconds(0), "0.00");
    same(num_six_digits(469.749), "469.749");
    same(num_milliseconds(0.05968), "0.0597");
    same(num_milliseconds(0.084), "0.0840");
    same(num_milliseconds(0.00124359), "0.00124");
    same(num_milliseconds(0.55326), "0.5533");
    same(num_milliseconds(2.5959), "2.596");
    same(num_milliseconds(346.666), "346.67");
}

TEST(what_was_not_measured_is_a_dash)
{
    double nan = (double)NAN;
    same(num_seconds(nan), "-");
    same(num_rate(nan), "-");
    same(num_factor(nan), "-");
    same(num_factor_error(nan, 0.1), "-");
    same(num_bytes(nan), "-");
    same(num_percent(nan), "-");
    same(num_change(INFINITY), "-");
    same(num_duration(-1), "-");
    same(num_money(nan, "USD"), "-");
}

TEST(factors_are_those_of_the_hand_written_reports)
{
    same(num_factor(1), "1.00x");
    same(num_factor(403.26 / 3540.68), "0.11x");
    same(num_factor(1181.64 / 13366.90), "0.09x");
    same(num_factor(0.0150), "0.015x");
    same(num_factor(9.994), "9.99x");
    same(num_factor(33.58), "33.6x");
    same(num_factor(801.92), "802x");
    same(num_times(13366.90 / 1181.64), "11.3");
    same(num_factor_error(1.2134, 0.0123), "1.21x ± 0.01");
    same(num_factor_error(0.667, 7e-17), "0.67x ± 0");
    same(num_factor(9.3e-5), "0.000093x");
    same(num_factor(0.02), "0.020x");
    same(num_factor_error(0.0678, 6e-5), "0.07x ± 0.00006");
    same(num_factor_error(1e-20, 1e-22), "1e-20x ± 1e-22");
    same(num_growth(469.749 / 22.7681), "20.6x");
    same(num_rate(4096 / 22.7681), "180");
    same(num_rate(16384 / 469.749), "35");
    same(num_rate(7.24), "7.2");
}

TEST(a_bound_is_rounded_to_the_safe_side)
{
    same(num_factor_below(22.7681 / 180), "< 0.13x");
    same(num_factor_below(0.12), "< 0.12x");
}

TEST(bytes_durations_and_percents_have_units)
{
    same(num_bytes(512), "512 B");
    same(num_bytes(36864), "36.0 KiB");
    same(num_bytes(192.0 * 1024 * 1024 * 1024), "192.0 GiB");
    same(num_duration(9.94), "9.9 s");
    same(num_duration(750), "12 min 30 s");
    same(num_duration(7500), "2 h 05 min");
    same(num_percent(0.05), "5 %");
    same(num_percent(0.025), "2.5 %");
    same(num_percent(0.000198), "0.02 %");
    same(num_percent(1.23e-16), "< 0.001 %");
    same(num_percent(-1e-9), "> -0.001 %");
    same(num_percent(0), "0 %");
    same(num_percent(0.00912), "0.91 %");
    same(num_percent(0.0848), "8.5 %");
    same(num_percent(0.6285), "62.9 %");
    same(num_percent(1.334), "133 %");
    same(num_change(0.0731), "+7.3 %");
    same(num_change(-0.004), "-0.4 %");
    same(num_change(-0.0005001), "-0.1 %");
    same(num_change(-0.00049), "0.0 %");
    same(num_change(0.00049), "0.0 %");
    same(num_change(-0.0), "0.0 %");
    same(num_change_fine(-0.00049), "-0.05 %");
    same(num_change_fine(-0.000049), "0.00 %");
    same(num_p(0.00794), "0.0079");
    same(num_p(1e-9), "< 0.0001");
    same(num_money(3.6, "USD"), "3.60 USD");
    same(num_money(0.004, "USD"), "< 0.01 USD");
    same(num_money(0, "USD"), "0.00 USD");
}

/* All digits of such a number would neither fit nor mean anything. */
TEST(huge_numbers_are_whole)
{
    same(num_seconds(1e39), "1e+39");
    same(num_seconds(123456789012345), "123456789012345.00");
    same(num_milliseconds(1.2345e300), "1.234e+300");
    same(num_rate(-1e39), "-1e+39");
    same(num_plain(1e39), "1e+39");
    same(num_fixed(1e39, 3), "1e+39");
    same(num_fixed(-0.04, 1), "0.0");
    same(num_factor(1e39), "1e+39x");
    same(num_factor_error(1e39, 1e38), "1e+39x ± 1e+38");
    same(num_factor_below(1e39), "< 1e+39x");
    same(num_growth(1e39), "1e+39x");
    same(num_percent(1e39), "1e+41 %");
    same(num_change(-1e39), "-1e+41 %");
    same(num_change(1e39), "+1e+41 %");
    same(num_bytes(1e60), "9.095e+47 TiB");
    same(num_money(1e39, "USD"), "1e+39 USD");
}
