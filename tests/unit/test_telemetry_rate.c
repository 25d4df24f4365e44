/* rate: what is read ten times a second is read at each tick of 100 ms, however early or late it comes. */
#include "tests/unit/support.h"

#include "executor/telemetry/nvml_helper/due.h"

enum { TICKS = 1000 };

/* Returns how many of the ticks take a reading that is due every 0.1 s. off_s: how far a tick may be off. */
static int readings(double tick_s, double off_s)
{
    struct due due = {0};
    uint64_t random = 88172645463325252u;
    int n = 0;
    for (int i = 0; i < TICKS; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        n += due_take(&due, 1000 + i * tick_s + off_s * (double)(random % 1000) / 1000, 0.1);
    }
    return n;
}

TEST(slow_values_keep_their_rate)
{
    static const double off_s[] = {0, 1e-9, 0.003, 0.015, 0.03};
    for (size_t i = 0; i < COUNT(off_s); i++) {
        assert_in_range(readings(0.1, off_s[i]), 950, 1000);
        assert_in_range(readings(0.11, off_s[i]), 900, 1000);
        assert_in_range(readings(0.2, off_s[i]), 1000, 1000);
        assert_in_range(readings(0.05, off_s[i]), 475, 520);
        assert_in_range(readings(0.01, off_s[i]), 95, 105);
    }
}

/* After a pause, the readings that were missed are not made up for. */
TEST(a_pause_is_not_made_up_for)
{
    struct due due = {0};
    assert_true(due_take(&due, 1, 0.1));
    assert_true(due_take(&due, 9, 0.1));
    assert_false(due_take(&due, 9.01, 0.1));
    assert_true(due_take(&due, 9.1, 0.1));
}
