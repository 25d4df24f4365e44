/* What a run's tests are to its lanes: units, and the GPUs that they are bound to. */
#include "tests/unit/support.h"

#include "executor/run/lane_plan.h"

enum { TESTS = 4 };

/* Two repetitions on each of two GPUs, of which the run has got `own` alone. */
static void plan_on(const char *own, struct lane_queue *q)
{
    struct job_test tests[TESTS] = {
        {.context = 1, .repetition = 1, .timeout_s = 9, .gpu = "GPU-a"},
        {.context = 1, .repetition = 3, .timeout_s = 9, .gpu = "GPU-b"},
        {.context = 1, .repetition = 2, .timeout_s = 9, .gpu = "GPU-a"},
        {.context = 1, .repetition = 4, .timeout_s = 9, .gpu = "GPU-b"},
    };
    struct variant variant = {.name = "v"};
    struct test_state states[TESTS] = {{.final = false}};
    struct lane lane = {.ids = json_pack("[s]", own)};
    struct suite *s = calloc(1, sizeof *s);
    struct err err = {.kind = ERR_NONE};
    assert_non_null(s);
    s->job.variant = &variant;
    s->job.variant_count = 1;
    s->job.test = tests;
    s->job.test_count = TESTS;
    s->job.settings.placement = PLACEMENT_EVERY;
    s->lanes = (struct lanes){.lane = &lane, .count = 1};
    s->test = states;
    assert_ok(lane_plan(q, s, &err), &err);
    json_decref(lane.ids);
    free(s);
}

/* The other GPU was busy, so that one lane is left: it must not run what belongs to the other. */
static void tests_of_a_gpu_that_is_not_here_run_nowhere(void **state)
{
    static const char *const own[] = {"GPU-a", "GPU-b"};
    (void)state;
    for (size_t i = 0; i < COUNT(own); i++) {
        struct lane_queue q;
        size_t test;
        plan_on(own[i], &q);
        for (size_t t = 0; t < TESTS; t++)
            assert_int_equal(lane_queue_lane(&q, t), t % 2 == i ? 0 : LANE_NONE);
        assert_true(lane_queue_stranded(&q, &test));
        assert_int_equal(test, 1 - i);
        lane_queue_release(&q);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tests_of_a_gpu_that_is_not_here_run_nowhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
