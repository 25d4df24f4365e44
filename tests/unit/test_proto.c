/* proto: every enum value has one name, which round-trips; exit codes follow from the kind of error. */
#include "tests/unit/support.h"

#include "common/base/text.h"
#include "common/contract/proto.h"

TEST(statuses_round_trip)
{
    for (int i = 0; i < STATUS_COUNT; i++) {
        enum status s = STATUS_COUNT;
        assert_non_null(status_name((enum status)i));
        assert_true(text_is_name(status_name((enum status)i)));
        assert_true(status_from_name(status_name((enum status)i), &s));
        assert_int_equal(s, i);
    }
    for (int i = 0; i < RUN_STATUS_COUNT; i++) {
        enum run_status s = RUN_STATUS_COUNT;
        assert_true(run_status_from_name(run_status_name((enum run_status)i), &s));
        assert_int_equal(s, i);
    }
    for (int i = 0; i < EVENT_COUNT; i++) {
        enum event_type e = EVENT_COUNT;
        assert_true(event_from_name(event_name((enum event_type)i), &e));
        assert_int_equal(e, i);
    }
}

TEST(unknown_names_are_refused)
{
    static const char *const names[] = {"", "ok", "OK ", "FAILED", "COMPLETED", "SUITE", "SUITE_STARTX"};
    for (size_t i = 0; i < COUNT(names); i++) {
        enum status s = STATUS_HANG;
        enum run_status r = RUN_BLOCKED;
        enum event_type e = EVENT_NODE;
        assert_false(status_from_name(names[i], &s));
        assert_false(run_status_from_name(names[i], &r));
        assert_false(event_from_name(names[i], &e));
        assert_true(s == STATUS_HANG && r == RUN_BLOCKED && e == EVENT_NODE);
    }
}

/* Names in use by existing artifacts and users: they must not change. */
TEST(names_are_the_documented_ones)
{
    static const char *const statuses[] = {"OK",        "FAIL",        "TIMEOUT",      "HANG",
                                           "OOM",       "CRASH",       "INVALID",      "SKIPPED",
                                           "CANCELLED", "INTERRUPTED", "BUILD_FAILED", "GATE_FAILED"};
    static const char *const runs[] = {"COMPLETE", "PARTIAL", "BLOCKED", "CANCELLED"};
    static const char *const events[] = {"SUITE_START", "BUILD_START",  "BUILD_END", "GATE",
                                         "TEST_START",  "HEARTBEAT",    "TEST_END",  "TEST_SKIP",
                                         "SUITE_END",   "CONFIG_PATCH", "NODE"};
    assert_int_equal(COUNT(statuses), STATUS_COUNT);
    assert_int_equal(COUNT(runs), RUN_STATUS_COUNT);
    assert_int_equal(COUNT(events), EVENT_COUNT);
    for (int i = 0; i < STATUS_COUNT; i++)
        assert_string_equal(status_name((enum status)i), statuses[i]);
    for (int i = 0; i < RUN_STATUS_COUNT; i++)
        assert_string_equal(run_status_name((enum run_status)i), runs[i]);
    for (int i = 0; i < EVENT_COUNT; i++)
        assert_string_equal(event_name((enum event_type)i), events[i]);
}

TEST(an_exit_code_follows_from_the_kind_of_error)
{
    static const struct {
        enum err_kind kind;
        int code;
    } table[] = {{ERR_NONE, 0},    {ERR_INPUT, 2},    {ERR_NODE, 3},
                 {ERR_STORAGE, 5}, {ERR_INTERNAL, 5}, {ERR_INTERRUPTED, 130}};
    for (size_t i = 0; i < COUNT(table); i++) {
        const struct err err = {.kind = table[i].kind};
        assert_int_equal(exit_code_of(&err), table[i].code);
    }
    assert_int_equal(EXIT_TEST_FAILED, 1);
    assert_int_equal(EXIT_REGRESSION, 4);
}
