/* standings: a machine or GPU that is slower than the others is flagged, and no other is. */
#include "tests/unit/results_support.h"

#include "common/base/word.h"
#include "results/judge/standings.h"
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
            t->host = hosts[i % 3];
        }
    return run_of_draft(&d);
}

static struct place_standing *must_compare(const struct run_data *run, enum metric m, size_t expected)
{
    const struct compare_options o = compare_defaults();
    size_t n;
    struct place_standing *hosts = standings_compare(run, PLACE_NODE, m, &o, &n);
    assert_int_equal(n, expected);
    return hosts;
}

TEST(a_slow_machine_stands_out)
{
    AUTO(run_data_release) struct run_data run = make_run(12, 1.08, 0.005);
    struct place_standing *h = must_compare(&run, METRIC_PREFILL_S, 3);
    assert_string_equal(h[1].place, "n2");
    assert_int_equal(h[1].speed, PLACE_SLOW);
    assert_int_equal(h[1].tests, 24);
    assert_int_equal(h[1].cells, 12);
    assert_int_equal(h[1].worse, 12);
    assert_near(h[1].ratio, 1.08, 0.01);
    assert_true(h[1].p < 0.01);
    free(h);
    /* Tokens a second are better when there are more of them. */
    h = must_compare(&run, METRIC_TOK_PER_S, 3);
    assert_int_equal(h[1].speed, PLACE_SLOW);
    assert_near(h[1].ratio, 1 / 1.08, 0.01);
    free(h);
}

TEST(equal_machines_are_alike)
{
    AUTO(run_data_release) struct run_data run = make_run(12, 1, 0.02);
    struct place_standing *h = must_compare(&run, METRIC_PREFILL_S, 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(h[i].speed, PLACE_ALIKE);
    free(h);
}

TEST(few_cells_need_a_larger_step)
{
    struct run_data run = make_run(2, 1.04, 0);
    struct place_standing *h = must_compare(&run, METRIC_PREFILL_S, 3);
    assert_int_equal(h[1].speed, PLACE_ALIKE);
    free(h);
    run_data_release(&run);
    run = make_run(2, 1.3, 0);
    h = must_compare(&run, METRIC_PREFILL_S, 3);
    assert_int_equal(h[0].speed, PLACE_ALIKE);
    assert_int_equal(h[1].speed, PLACE_SLOW);
    free(h);
    run_data_release(&run);
}

TEST(what_ran_alone_cannot_be_judged)
{
    struct draft d;
    draft_night(&d, 1);
    for (int i = 0; i < 4; i++)
        draft_shot(&d, "v", 1024 + i % 2, i, 1)->host = i % 2 ? "n2" : "n1";
    draft_shot(&d, "v", 4096, 1, 1); /* by nobody known */
    AUTO(run_data_release) struct run_data run = run_of_draft(&d);
    struct place_standing *h = must_compare(&run, METRIC_PREFILL_S, 2);
    assert_int_equal(h[0].speed, PLACE_UNKNOWN);
    assert_int_equal(h[0].cells, 0);
    assert_true(isnan(h[0].ratio));
    free(h);
}

TEST(a_slow_card_stands_out_with_an_interval)
{
    const struct compare_options o = compare_defaults();
    struct place_standing *h;
    size_t n;
    AUTO(run_data_release) struct run_data run = make_run(12, 1.045, 0.005);
    for (size_t i = 0; i < run.n_tests; i++) {
        struct run_test *t = &run.tests[i];
        t->gpu = word_printf("GPU-%s", t->host);
        snprintf(t->gpu_mode, sizeof t->gpu_mode, "SPX/NPS1");
        t->host = "one";
    }
    h = standings_compare(&run, PLACE_GPU, METRIC_PREFILL_S, &o, &n);
    assert_int_equal(n, 3);
    assert_string_equal(h[1].place, "GPU-n2");
    assert_string_equal(h[1].mode, "SPX/NPS1");
    assert_int_equal(h[1].speed, PLACE_SLOW);
    assert_int_equal(h[0].speed, PLACE_ALIKE);
    assert_true(h[1].ratio_low < 1.045 && h[1].ratio_high > 1.04 && h[1].ratio_low > 1.03);
    free(h);
    h = standings_compare(&run, PLACE_NODE, METRIC_PREFILL_S, &o, &n);
    assert_int_equal(n, 1);
    free(h);
    /* The same card in another mode is another place. */
    for (size_t i = 0; i < run.n_tests; i += 2)
        snprintf(run.tests[i].gpu_mode, RUN_MODE_MAX, "CPX/NPS4");
    h = standings_compare(&run, PLACE_GPU, METRIC_PREFILL_S, &o, &n);
    assert_int_equal(n, 6);
    free(h);
}

GROUP(scratch_make, scratch_remove);
