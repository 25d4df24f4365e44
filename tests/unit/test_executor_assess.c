/* assess: every way in which a test can end, and the status that follows. */
#include "tests/unit/support.h"

#include "executor/suite/assess.h"

#include <errno.h>
#include <math.h>
#include <signal.h>

static struct timings told(double prefill_s, int64_t tokens, const char *impl)
{
    struct timings t = {.found = true, .count = 1, .prompt_tokens = tokens};
    snprintf(t.item[0].name, sizeof t.item[0].name, "prefill_s");
    t.item[0].value = prefill_s;
    snprintf(t.attn_impl, sizeof t.attn_impl, "%s", impl);
    return t;
}

static const struct expectation expected = {.context = 4096, .attn_impl = "v3", .wall_s = 10};

static void expect(const struct ending *o, const struct timings *t, enum status status, const char *words)
{
    struct assessment v = assess_test(o, t, &expected);
    assert_string_equal(status_name(v.status), status_name(status));
    if (!strstr(v.reason, words))
        fail_msg("\"%s\" does not say \"%s\"", v.reason, words);
}

TEST(a_status_follows_from_how_the_process_ended)
{
    const struct timings good = told(1, 4096, "v3");
    const struct {
        struct ending ending;
        enum status status;
        const char *words;
    } cases[] = {
        {{.exit_code = 0}, STATUS_OK, ""},
        {{.exit_code = 3}, STATUS_FAIL, "exit code 3"},
        {{.exit_code = 139}, STATUS_FAIL, "SIGSEGV"},
        {{.exit_code = 77}, STATUS_FAIL, "exit code 77"},
        {{.exit_code = 137, .oom_evidence = "memory.events"}, STATUS_OOM, "memory.events"},
        {{.exit_code = -1, .signal = SIGSEGV}, STATUS_CRASH, "signal 11 (SIGSEGV"},
        {{.exit_code = -1, .signal = SIGKILL}, STATUS_CRASH, "SIGKILL"},
        {{.exit_code = -1, .signal = SIGKILL, .oom_evidence = "oom_kill 1"}, STATUS_OOM, "oom_kill 1"},
        {{.exit_code = -1, .signal = SIGTERM, .stop = STOP_TIMEOUT, .timeout_s = 5}, STATUS_TIMEOUT, "5 s"},
        {{.exit_code = 0, .stop = STOP_TIMEOUT, .timeout_s = 5}, STATUS_TIMEOUT, "5 s"},
        {{.exit_code = -1, .signal = SIGTERM, .stop = STOP_HANG, .hang_after_s = 9}, STATUS_HANG, "9 s"},
        {{.exit_code = -1, .signal = SIGKILL, .stop = STOP_NO_OUTPUT, .no_output_timeout_s = 7},
         STATUS_HANG,
         "7 s"},
        {{.exit_code = -1, .signal = SIGTERM, .stop = STOP_CANCEL}, STATUS_CANCELLED, "cancelled"},
        {{.exec_errno = ENOENT, .program = "./gone"}, STATUS_FAIL, "cannot start ./gone: No such file"},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        expect(&cases[i].ending, &good, cases[i].status, cases[i].words);
}

TEST(what_is_no_number_is_not_replaced_by_the_wall_time)
{
    const struct ending zero = {.exit_code = 0};
    const struct expectation wall = {.attn_impl = "", .wall_s = 10};
    struct timings t = {.found = true, .prompt_tokens = -1, .unread = "prefill_s is '?': not a number"};
    struct assessment v = assess_test(&zero, &t, &wall);
    assert_int_equal(v.status, STATUS_INVALID);
    assert_string_equal(v.reason, t.unread);
    t.found = false;
    expect(&zero, &t, STATUS_INVALID, t.unread);
}

TEST(exit_0_with_invalid_output_is_invalid)
{
    const struct ending zero = {.exit_code = 0};
    struct timings t = told(1, 4096, "v3");
    expect(&zero, &t, STATUS_OK, "");
    t = told(1, -1, "v3");
    expect(&zero, &t, STATUS_OK, "");
    t = told(0, 4096, "v3");
    expect(&zero, &t, STATUS_INVALID, "prefill_s is 0");
    t = told(-1, 4096, "v3");
    expect(&zero, &t, STATUS_INVALID, "prefill_s is -1");
    t = told(NAN, 4096, "v3");
    expect(&zero, &t, STATUS_INVALID, "nan");
    t = told(INFINITY, 4096, "v3");
    expect(&zero, &t, STATUS_INVALID, "inf");
    t = told(1, 2048, "v3");
    expect(&zero, &t, STATUS_INVALID, "2048 prompt tokens where the context is 4096");
    t = told(1, 4096, "v4");
    expect(&zero, &t, STATUS_INVALID, "'v4', but the variant's is 'v3'");
    t = told(1, 4096, "");
    expect(&zero, &t, STATUS_INVALID, "attn_impl");
    t = told(1, 4096, "v3");
    snprintf(t.item[0].name, sizeof t.item[0].name, "decode_s");
    expect(&zero, &t, STATUS_INVALID, "no prefill_s");
    t = (struct timings){.prompt_tokens = -1};
    expect(&zero, &t, STATUS_INVALID, "no line has [PERF_TIMING]: nothing was printed");
    snprintf(t.last, sizeof t.last, "done");
    expect(&zero, &t, STATUS_INVALID, "no line has [PERF_TIMING]; the last line is: done");
    snprintf(t.problem, sizeof t.problem, "broken line");
    expect(&zero, &t, STATUS_INVALID, "broken line");
}

TEST(prompt_tokens_may_be_required)
{
    struct expectation e = {.context = 4096, .attn_impl = "", .prompt_tokens_required = true, .wall_s = 10};
    const struct ending zero = {.exit_code = 0};
    struct timings t = told(1, -1, "anything");
    assert_int_equal(assess_test(&zero, &t, &e).status, STATUS_INVALID);
    snprintf(t.prompt_problem, sizeof t.prompt_problem, "many");
    e.prompt_tokens_required = false;
    assert_non_null(strstr(assess_test(&zero, &t, &e).reason, "tokens is printed as 'many'"));
    e.prompt_tokens_required = true;
    t.prompt_problem[0] = '\0';
    t.prompt_tokens = 4096;
    assert_int_equal(assess_test(&zero, &t, &e).status, STATUS_OK);
}

TEST(a_time_beyond_that_of_its_process_is_invalid)
{
    const struct ending zero = {.exit_code = 0};
    struct timings t = told(10.2, 4096, "v3");
    expect(&zero, &t, STATUS_OK, "");
    t = told(1800, 4096, "v3");
    expect(&zero, &t, STATUS_INVALID, "prefill_s is 1800 s, but the process ran for only 10 s");
    t = told(1, 4096, "v3");
    t.count = 2;
    snprintf(t.item[1].name, sizeof t.item[1].name, "kernel_ms");
    t.item[1].value = 9000;
    expect(&zero, &t, STATUS_OK, "");
    t.item[1].value = 11000;
    expect(&zero, &t, STATUS_INVALID, "kernel_ms is 11 s");
    t.item[1].value = -1;
    expect(&zero, &t, STATUS_INVALID, "kernel_ms is -1: it cannot be negative");
    snprintf(t.item[1].name, sizeof t.item[1].name, "drift_s");
    expect(&zero, &t, STATUS_OK, ""); /* the program's own number may be */
    t.count = 1;
    struct expectation e = expected;
    e.wall_s = NAN;
    assert_int_equal(assess_test(&zero, &t, &e).status, STATUS_OK);
}

TEST(nothing_printed_is_fine_where_nothing_was_promised)
{
    const struct ending zero = {.exit_code = 0};
    struct timing_rule rule = {.kind = TIMING_MARK};
    struct expectation e = {.context = 4096, .attn_impl = "", .rule = &rule, .wall_s = 1};
    struct timings t = {.prompt_tokens = -1};
    assert_int_equal(assess_test(&zero, &t, &e).status, STATUS_OK);
    rule.kind = TIMING_WALL;
    assert_int_equal(assess_test(&zero, &t, &e).status, STATUS_OK);
    rule = (struct timing_rule){.kind = TIMING_REGEX, .count = 1};
    assert_int_equal(assess_test(&zero, &t, &e).status, STATUS_INVALID);
    t = told(0, -1, "");
    rule = (struct timing_rule){.kind = TIMING_MARK};
    assert_int_equal(assess_test(&zero, &t, &e).status, STATUS_INVALID);
}

TEST(the_plans_own_primary_metric_must_be_there)
{
    const struct ending zero = {.exit_code = 0};
    const struct own_metrics own = {
        .item = {{.name = "gbs", .unit = "GB/s", .better = "more", .primary = true},
                 {.name = "lap", .unit = "ms", .better = "less"}},
        .count = 2};
    const struct timing_rule rule = {.kind = TIMING_MARK, .count = 2};
    const struct expectation e = {.context = 1, .attn_impl = "", .rule = &rule, .metrics = &own, .wall_s = 1};
    struct timings t = told(0.5, -1, "");
    struct assessment a = assess_test(&zero, &t, &e);
    assert_string_equal(a.reason, "the timings have no gbs");
    snprintf(t.item[0].name, sizeof t.item[0].name, "gbs");
    t.item[0].value = 1e6; /* no time: not held against the wall time */
    assert_int_equal(assess_test(&zero, &t, &e).status, STATUS_OK);
    t.count = 2;
    snprintf(t.item[1].name, sizeof t.item[1].name, "lap");
    t.item[1].value = 2000;
    a = assess_test(&zero, &t, &e);
    assert_string_equal(a.reason, "lap is 2 s, but the process ran for only 1 s");
}

TEST(skipping_takes_both_the_code_and_the_line)
{
    struct timings t = {.prompt_tokens = -1, .skip = "no GPU"};
    expect(&(struct ending){.exit_code = WORKLOAD_EXIT_SKIP}, &t, STATUS_SKIPPED, "no GPU");
    expect(&(struct ending){.exit_code = 1}, &t, STATUS_FAIL, "exit code 1");
    expect(&(struct ending){.exit_code = WORKLOAD_EXIT_SKIP, .stop = STOP_TIMEOUT}, &t, STATUS_TIMEOUT, "");
}

TEST(a_reason_is_one_line_of_ascii)
{
    char reason[REASON_MAX], text[2 * REASON_MAX];
    reason_set(reason, "a\nb\tc\x1b[31m\xc3\xa9");
    assert_string_equal(reason, "a?b?c?[31m??");
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    reason_set(reason, "%s", text);
    assert_int_equal(strlen(reason), REASON_MAX - 1);
}

TEST(a_rate_is_no_time)
{
    assert_true(assess_seconds("lap_s", NULL) > 0);
    assert_true(assess_seconds("gb_per_s", NULL) <= 0);
    assert_true(assess_seconds("tok_per_ms", NULL) <= 0);
}
