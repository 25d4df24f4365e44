/* clock: date formatting at the limits; deadlines that neither overflow nor block. */
#include "tests/unit/support.h"

#include "common/base/clock.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

TEST(times_are_written_as_iso8601_in_utc)
{
    static const struct {
        double real_s;
        const char *text;
    } table[] = {
        {0, "1970-01-01T00:00:00.000Z"},
        {0.0014, "1970-01-01T00:00:00.001Z"},
        {0.9996, "1970-01-01T00:00:01.000Z"}, /* rounds up to the next second, not to .1000 */
        {1771038909.123, "2026-02-14T03:15:09.123Z"},
        {1709164800, "2024-02-29T00:00:00.000Z"},
        {4102444799.999, "2099-12-31T23:59:59.999Z"},
        {253402300799.0, "9999-12-31T23:59:59.000Z"},
        {253402300800.0, "1970-01-01T00:00:00.000Z"}, /* unrepresentable: the epoch */
        {-1, "1970-01-01T00:00:00.000Z"},
        {-0.25, "1970-01-01T00:00:00.000Z"},
        {1e300, "1970-01-01T00:00:00.000Z"},
        {INFINITY, "1970-01-01T00:00:00.000Z"},
        {NAN, "1970-01-01T00:00:00.000Z"},
    };
    for (size_t i = 0; i < COUNT(table); i++) {
        char out[CLOCK_ISO_LEN + 1];
        memset(out, 'x', sizeof out);
        clock_iso8601(table[i].real_s, out);
        assert_string_equal(out, table[i].text);
        assert_int_equal(strlen(out), CLOCK_ISO_LEN);
    }
}

TEST(times_are_read_back)
{
    static const char *const bad[] = {"",
                                      "2026-02-14",
                                      "2026-02-14T03:15:09Z",
                                      "2026-02-14T03:15:09.123Z ",
                                      "2026-02-14T03:15:09.12Z",
                                      "yesterday"};
    static const double times[] = {0.001, 1771038909.123, 4102444799.999};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        char text[CLOCK_ISO_LEN + 1];
        clock_iso8601(times[i], text);
        assert_true(fabs(clock_from_iso8601(text) - times[i]) < 1e-6);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_true(clock_from_iso8601(bad[i]) == 0);
}

/* In one of these zones it is another day, at any time. */
TEST(the_day_is_that_of_utc_in_every_zone)
{
    static const char *const zones[] = {"UTC", "EAST-14", "WEST+12"};
    for (size_t i = 0; i < COUNT(zones); i++) {
        char before[CLOCK_ISO_LEN + 1], after[CLOCK_ISO_LEN + 1], today[CLOCK_DAY_LEN + 1];
        setenv("TZ", zones[i], 1);
        tzset();
        clock_iso8601(clock_real_s(), before);
        clock_today(today);
        clock_iso8601(clock_real_s(), after);
        before[CLOCK_DAY_LEN] = after[CLOCK_DAY_LEN] = '\0';
        assert_true(strcmp(today, before) == 0 || strcmp(today, after) == 0);
    }
    unsetenv("TZ");
    tzset();
}

TEST(a_day_is_one_of_the_calendar)
{
    static const char *const none[] = {"",           "2026-02-1",  "2026-02-30", "2025-02-29", "2026-13-01",
                                       "2026-00-10", "2026-02-00", "2026/02/14", "1969-12-31", "+026-02-14"};
    assert_int_equal(clock_day_s("1970-01-01"), 0);
    assert_int_equal(clock_day_s("2024-02-29T01:02:03Z"), 1709164800);
    assert_true(clock_is_day("9999-12-31"));
    assert_false(clock_is_day("2024-02-29T"));
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_int_equal(clock_day_s(none[i]), -1);
}

TEST(clocks_never_go_back_and_agree)
{
    int64_t first = clock_mono_ns();
    double seconds = clock_mono_s();
    int64_t second = clock_mono_ns();
    assert_true(first > 0 && first <= second);
    assert_true(seconds >= (double)first * 1e-9 - 1e-6 && seconds <= (double)second * 1e-9 + 1e-6);
    assert_true(clock_real_s() > 1.7e9);
}

TEST(a_deadline_becomes_a_wait_in_milliseconds)
{
    assert_int_equal(clock_left_ms(0), -1); /* no deadline: poll() waits indefinitely */
    assert_int_equal(clock_left_ms(1), 0);
    assert_int_equal(clock_left_ms(clock_mono_ns() - 1), 0);
    assert_int_equal(clock_left_ms(INT64_MAX), INT_MAX);
    assert_int_equal(clock_left_ms(clock_deadline_ns(0)), 0);
    assert_int_equal(clock_left_ms(clock_deadline_ns(-5)), 0);
    assert_int_equal(clock_left_ms(clock_deadline_ns(NAN)), 0);
    assert_int_equal(clock_deadline_ns(1e9), 0);
    assert_int_equal(clock_deadline_ns(INFINITY), 0);
    int left = clock_left_ms(clock_deadline_ns(1000));
    assert_true(left > 900000 && left <= 1000000);
    left = clock_left_ms(clock_mono_ns() + 3600000000000 + 1); /* rounds up to a whole millisecond */
    assert_true(left > 3500000 && left <= 3600001);
}
