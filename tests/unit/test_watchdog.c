/* watchdog: an executor that no longer does its work. */
#include "harness/session/watchdog.h"

#include "tests/unit/support.h"

static char text[WATCHDOG_TEXT_MAX];

TEST(silence_is_told_once_while_a_test_runs)
{
    struct watchdog w;
    watchdog_begin(&w, 100);
    watchdog_event(&w, EVENT_TEST_START, false, 100);
    assert_int_equal(watchdog_look(&w, 300, 100 + WATCHDOG_TELL_S - 1, text), WATCHDOG_QUIET);
    assert_int_equal(watchdog_look(&w, 300, 100 + WATCHDOG_TELL_S, text), WATCHDOG_TELL);
    assert_non_null(strstr(text, "reported nothing for 15 s"));
    assert_int_equal(watchdog_look(&w, 300, 130, text), WATCHDOG_QUIET);
    assert_int_equal(watchdog_look(&w, 300, 400, text), WATCHDOG_GIVE_UP);
}

TEST(a_report_ends_the_silence)
{
    struct watchdog w;
    watchdog_begin(&w, 0);
    watchdog_event(&w, EVENT_HEARTBEAT, false, 0);
    assert_int_equal(watchdog_look(&w, 0, 60, text), WATCHDOG_TELL);
    watchdog_event(&w, EVENT_HEARTBEAT, false, 61);
    assert_int_equal(watchdog_look(&w, 0, 70, text), WATCHDOG_QUIET);
    assert_int_equal(watchdog_look(&w, 0, 90, text), WATCHDOG_TELL);
}

/* A build may be silent, and a scheduler's tests report late. */
TEST(silence_is_no_fault_where_no_report_is_due)
{
    struct watchdog w;
    watchdog_begin(&w, 0);
    assert_int_equal(watchdog_look(&w, 0, 9999, text), WATCHDOG_QUIET);
    watchdog_event(&w, EVENT_BUILD_START, false, 0);
    assert_int_equal(watchdog_look(&w, 0, 9999, text), WATCHDOG_QUIET);
    watchdog_event(&w, EVENT_HEARTBEAT, true, 0);
    assert_int_equal(watchdog_look(&w, 0, 9999, text), WATCHDOG_QUIET);
    watchdog_event(&w, EVENT_TEST_END, false, 0);
    assert_int_equal(watchdog_look(&w, 0, 9999, text), WATCHDOG_QUIET);
    assert_string_equal(text, "");
}

TEST(a_stopped_executor_is_told_at_any_time)
{
    struct watchdog w;
    watchdog_begin(&w, 0);
    watchdog_event(&w, EVENT_BUILD_START, false, 0);
    watchdog_stopped(&w, 77);
    assert_int_equal(watchdog_look(&w, 0, 20, text), WATCHDOG_TELL);
    assert_non_null(strstr(text, "kill -CONT 77"));
    watchdog_event(&w, EVENT_BUILD_END, false, 21);
    assert_int_equal(watchdog_look(&w, 0, 60, text), WATCHDOG_QUIET);
}

TEST(the_end_of_one_of_two_tests_leaves_a_report_due)
{
    struct watchdog w;
    watchdog_begin(&w, 0);
    watchdog_event(&w, EVENT_TEST_START, false, 0);
    watchdog_event(&w, EVENT_TEST_START, false, 1);
    watchdog_event(&w, EVENT_TEST_END, false, 2);
    assert_int_equal(watchdog_look(&w, 0, 2 + WATCHDOG_TELL_S, text), WATCHDOG_TELL);
    watchdog_event(&w, EVENT_TEST_END, false, 30);
    assert_int_equal(watchdog_look(&w, 0, 9999, text), WATCHDOG_QUIET);
}

/* A patience of nothing still lets a node swap or stall for a moment. */
TEST(patience_has_a_least)
{
    struct watchdog w;
    watchdog_begin(&w, 0);
    watchdog_event(&w, EVENT_TEST_START, false, 0);
    watchdog_look(&w, 0, 30, text);
    assert_int_equal(watchdog_look(&w, 0, WATCHDOG_PATIENCE_MIN_S - 1, text), WATCHDOG_QUIET);
    assert_int_equal(watchdog_look(&w, 0, WATCHDOG_PATIENCE_MIN_S, text), WATCHDOG_GIVE_UP);
}

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
