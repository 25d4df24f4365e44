/* lost_hour: the days on which clocks go forward, in real time zones. */
#include "tests/unit/support.h"

#include "harness/nightly/lost_hour.h"

#include <stdlib.h>

static const time_t day_2026_11_27 = 1795768782, day_2027_03_13 = 1804942800;

static void holds(const char *zone, time_t now, int hour, int minute, const char *expected)
{
    char day[LOST_HOUR_DAY_LEN + 1];
    assert_int_equal(setenv("TZ", zone, 1), 0);
    tzset();
    bool found = lost_hour_find(now, hour, minute, day);
    assert_int_equal(found, *expected != '\0');
    assert_string_equal(day, expected);
}

TEST(the_hour_that_is_left_out_is_found)
{
    holds("America/New_York", day_2026_11_27, 2, 30, "2027-03-14");
    holds("America/New_York", day_2027_03_13, 2, 0, "2027-03-14");
    holds("Europe/Berlin", day_2026_11_27, 2, 30, "2027-03-28");
    holds("Europe/London", day_2026_11_27, 1, 59, "2027-03-28");
}

/* Also an hour that comes twice, in autumn: systemd takes one of them. */
TEST(every_other_time_exists_every_day)
{
    holds("America/New_York", day_2026_11_27, 3, 0, "");
    holds("America/New_York", day_2026_11_27, 1, 30, "");
    holds("Europe/Berlin", day_2026_11_27, 3, 30, "");
    holds("Europe/Berlin", day_2026_11_27, 1, 59, "");
    holds("Asia/Tokyo", day_2026_11_27, 2, 30, "");
    holds("UTC", day_2026_11_27, 2, 30, "");
}
