/* What a run's tests are to its lanes: units, and the GPUs that they are bound to. */
#include "tests/unit/support.h"

#include "executor/run/run_lanes.h"

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
    assert_non_null(s);
    s->job.variant = &variant;
    s->job.variant_count = 1;
    s->job.test = tests;
    s->job.test_count = TESTS;
    s->job.settings.placement = PLACEMENT_EVERY;
    s->lanes = (struct lanes){.lane = &lane, .count = 1};
    s->test = states;
    lane_plan(q, s);
    json_decref(lane.ids);
    free(s);
}

/* The other GPU was busy, so that one lane is left: it must not run what belongs to the other. */
TEST(tests_of_a_gpu_that_is_not_here_run_nowhere)
{
    static const char *const own[] = {"GPU-a", "GPU-b"};
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

/* A test wants two GPUs: the store sorts the ids of a home, the lane has them by index. */
TEST(a_home_of_several_gpus_is_found_in_any_order)
{
    struct job_test tests[] = {{.context = 1, .timeout_s = 9, .home = "GPU-a+GPU-d"},
                               {.context = 2, .timeout_s = 9, .home = "GPU-b+GPU-c"}};
    struct variant variant = {.name = "v"};
    struct test_state states[COUNT(tests)] = {{.final = false}};
    struct lane lanes[] = {{.ids = json_pack("[s, s]", "GPU-c", "GPU-b")},
                           {.ids = json_pack("[s, s]", "GPU-d", "GPU-a"), .index = 1}};
    struct suite *s = calloc(1, sizeof *s);
    struct lane_queue q;
    assert_non_null(s);
    s->job.variant = &variant;
    s->job.variant_count = 1;
    s->job.test = tests;
    s->job.test_count = COUNT(tests);
    s->job.settings.placement = PLACEMENT_POINT;
    s->lanes = (struct lanes){.lane = lanes, .count = COUNT(lanes)};
    s->test = states;
    lane_plan(&q, s);
    assert_int_equal(lane_queue_lane(&q, 0), 1);
    assert_int_equal(lane_queue_lane(&q, 1), 0);
    lane_queue_release(&q);
    json_decref(lanes[0].ids);
    json_decref(lanes[1].ids);
    free(s);
}
