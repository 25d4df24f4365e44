/* hosts: a machine that is slower than the others is flagged, and no other machine is. */
#include "tests/unit/results_support.h"

#include "results/judge/hosts.h"
#include "results/stats/stats.h"

/* `cells` contexts of three machines, two repetitions each; `slow` is so much slower. */
static struct run_data make_run(int cells, double slow, double noise)
{
    static const char *const hosts[] = {"n1", "n2", "n3"};
    struct draft d;
    struct stats_rng rng;
    stats_rng_seed(&rng, 3);
    draft_night(&d, 1);
    for (int c = 0; c < cells; c++)
        for (int i = 0; i < 6; i++) {
            double level = (1 + c) * (i % 3 == 1 ? slow : 1) * (1 + noise * stats_rng_normal(&rng));
            struct run_test *t = draft_shot(&d, "v", 1024 + c, i + 1, level);
            snprintf(t->host, sizeof t->host, "%s", hosts[i % 3]);
        }
    return run_of_draft(&d);
}

static struct host_standing *must_compare(const struct run_data *run, enum metric m, size_t expected)
{
    const struct compare_options o = compare_defaults();
    struct err err = {0};
    struct host_standing *hosts;
    size_t n;
    assert_ok(hosts_compare(run, m, &o, &hosts, &n, &err), &err);
    assert_int_equal(n, expected);
    return hosts;
}

static void a_slow_machine_stands_out(void **state)
{
    (void)state;
    struct run_data run = make_run(12, 1.08, 0.005);
    struct host_standing *h = must_compare(&run, METRIC_PREFILL_S, 3);
    assert_string_equal(h[1].host, "n2");
    assert_int_equal(h[1].speed, HOST_SLOW);
    assert_int_equal(h[1].tests, 24);
    assert_int_equal(h[1].cells, 12);
    assert_int_equal(h[1].worse, 12);
    assert_near(h[1].ratio, 1.08, 0.01);
    assert_true(h[1].p < 0.01);
    free(h);
    /* Tokens a second are better when there are more of them. */
    h = must_compare(&run, METRIC_TOK_PER_S, 3);
    assert_int_equal(h[1].speed, HOST_SLOW);
    assert_near(h[1].ratio, 1 / 1.08, 0.01);
    free(h);
    run_data_release(&run);
}

static void equal_machines_are_alike(void **state)
{
    (void)state;
    struct run_data run = make_run(12, 1, 0.02);
    struct host_standing *h = must_compare(&run, METRIC_PREFILL_S, 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(h[i].speed, HOST_ALIKE);
    free(h);
    run_data_release(&run);
}

static void few_cells_need_a_larger_step(void **state)
{
    (void)state;
    struct run_data run = make_run(2, 1.04, 0);
    struct host_standing *h = must_compare(&run, METRIC_PREFILL_S, 3);
    assert_int_equal(h[1].speed, HOST_ALIKE);
    free(h);
    run_data_release(&run);
    run = make_run(2, 1.3, 0);
    h = must_compare(&run, METRIC_PREFILL_S, 3);
    assert_int_equal(h[0].speed, HOST_ALIKE);
    assert_int_equal(h[1].speed, HOST_SLOW);
    free(h);
    run_data_release(&run);
}

static void what_ran_alone_cannot_be_judged(void **state)
{
    (void)state;
    struct draft d;
    draft_night(&d, 1);
    for (int i = 0; i < 4; i++)
        snprintf(draft_shot(&d, "v", 1024 + i % 2, i, 1)->host, RUN_NAME_MAX, "%s", i % 2 ? "n2" : "n1");
    draft_shot(&d, "v", 4096, 1, 1); /* by nobody known */
    struct run_data run = run_of_draft(&d);
    struct host_standing *h = must_compare(&run, METRIC_PREFILL_S, 2);
    assert_int_equal(h[0].speed, HOST_UNKNOWN);
    assert_int_equal(h[0].cells, 0);
    assert_true(isnan(h[0].ratio));
    free(h);
    run_data_release(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slow_machine_stands_out),
        cmocka_unit_test(equal_machines_are_alike),
        cmocka_unit_test(few_cells_need_a_larger_step),
        cmocka_unit_test(what_ran_alone_cannot_be_judged),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
