/* restarts: what gets on may be started again, what only dies may not. */
#include "tests/unit/support.h"

#include "harness/session/restarts.h"

TEST(what_finishes_nothing_is_given_up)
{
    struct restarts r = {0};
    for (int i = 0; i < RESTARTS_IDLE_MAX; i++)
        assert_true(restarts_allow(&r, 1000.0 * i));
    assert_false(restarts_allow(&r, 1e6));
    restarts_progress(&r);
    assert_true(restarts_allow(&r, 1e6));
}

TEST(what_gets_on_may_die_now_and_then)
{
    struct restarts r = {0};
    const double pause_s = 1.0 + (double)RESTARTS_WINDOW_S / RESTARTS_WINDOW_MAX;
    for (int i = 0; i < 1000; i++) {
        assert_true(restarts_allow(&r, pause_s * i));
        restarts_progress(&r);
    }
}

TEST(what_dies_all_the_time_is_given_up_although_it_gets_on)
{
    struct restarts r = {0};
    for (int i = 0; i < RESTARTS_WINDOW_MAX; i++) {
        assert_true(restarts_allow(&r, i));
        restarts_progress(&r);
    }
    assert_false(restarts_allow(&r, RESTARTS_WINDOW_S - 1));
    assert_true(restarts_allow(&r, RESTARTS_WINDOW_S + 1));
    assert_false(restarts_allow(&r, RESTARTS_WINDOW_S));
}
