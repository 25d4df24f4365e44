/* confirm: rejects runs that cannot be alternated before connecting to a node. */
#include "harness/session/confirm.h"
#include "tests/unit/support.h"

static void two_builds_are_needed(void **state)
{
    const struct confirm_request request = {.plan = "plan.json", .base_source = "abc", .now_source = ""};
    const struct suspect_list none = {0};
    struct turns_made runs = {0};
    struct err err = {0};
    (void)state;
    assert_int_equal(confirm_measure(&request, &none, NULL, &runs, &err), -1);
    assert_int_equal(err.kind, ERR_NODE);
    assert_non_null(strstr(err.msg, "no two builds"));
}

static void a_plan_that_is_gone_is_an_input_error(void **state)
{
    const struct confirm_request request = {
        .plan = in_scratch("gone.json"), .base_source = "abc", .now_source = "def"};
    const struct suspect_list none = {0};
    struct turns_made runs = {0};
    struct err err = {0};
    (void)state;
    assert_err(confirm_measure(&request, &none, NULL, &runs, &err), &err, ERR_INPUT, "gone.json");
}

static void rounds_have_an_end(void **state)
{
    const struct confirm_request request = {.plan = "plan.json", .base_source = "abc", .now_source = "def"};
    const struct suspect_list none = {0};
    struct turns_made runs = {.count = TURNS_RUNS_MAX};
    struct err err = {0};
    (void)state;
    assert_err(confirm_measure(&request, &none, NULL, &runs, &err), &err, ERR_INTERNAL, "10 rounds");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_builds_are_needed),
        cmocka_unit_test(rounds_have_an_end),
        cmocka_unit_test(a_plan_that_is_gone_is_an_input_error),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
