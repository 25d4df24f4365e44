/* turns: what cannot be measured alternately is refused before connecting to a node. */
#include "harness/session/turns.h"
#include "tests/unit/support.h"

TEST(two_builds_are_needed)
{
    struct turns_request r = {.plan = "plan.json"};
    struct err err = {0};
    assert_err(turns_use_trees(&r, "abc", "", &err), &err, ERR_NODE, "no two builds");
    assert_ok(turns_use_trees(&r, "", "", &err), &err);
    assert_ok(turns_use_trees(&r, "abc", "def", &err), &err);
    assert_string_equal(r.base.sha256, "abc");
}

TEST(a_plan_that_is_gone_is_an_input_error)
{
    const struct turns_request r = {.plan = in_scratch("gone.json")};
    const struct suspect_list none = {0};
    struct turns_made runs = {0};
    struct err err = {0};
    assert_err(turns_measure(&r, &none, NULL, &runs, &err), &err, ERR_INPUT, "gone.json");
}

TEST(rounds_have_an_end)
{
    const struct turns_request r = {.plan = "plan.json"};
    const struct suspect_list none = {0};
    struct turns_made runs = {.count = TURNS_RUNS_MAX};
    struct err err = {0};
    assert_err(turns_measure(&r, &none, NULL, &runs, &err), &err, ERR_INTERNAL, "10 rounds");
}

GROUP(scratch_make, scratch_remove);
