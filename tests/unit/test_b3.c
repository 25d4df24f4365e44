/* The B3.89 and B3.90 tables, from the stored fixtures: every number that the reports print, and the one
 * thing that they overlooked. */
#include "tests/unit/results_support.h"

#include "results/judge/compare.h"
#include "results/judge/scaling.h"
#include "results/judge/within.h"

/* Two decimals, as the tables print factors. */
#define assert_shown(value, text)                                                                            \
    do {                                                                                                     \
        char shown_[32];                                                                                     \
        snprintf(shown_, sizeof shown_, "%.2fx", (value));                                                   \
        assert_string_equal(shown_, text);                                                                   \
    } while (0)

static double factor(const struct run_data *r, const char *variant, const char *reference, int context)
{
    size_t v = (size_t)(run_data_variant(r, variant) - r->variants),
           b = (size_t)(run_data_variant(r, reference) - r->variants);
    return compare_pair(r, v, b, context, METRIC_PREFILL_S).factor;
}

static void scaling_of_the_core_run(void **state)
{
    (void)state;
    struct store s = open_store("core.db");
    struct err err = {0};
    struct scaling_set set;
    struct run_data r = must_load(&s, ingest_fixture(&s, "tests/fixtures/b3_89_2026-02-12"));
    assert_ok(scaling_of_run(&r, &set, &err), &err);
    assert_int_equal(set.count, 1);
    const struct scaling *k = &set.items[0];
    assert_string_equal(r.variants[k->variant].name, "baseline");
    assert_int_equal(k->count, 3);
    const double factors[] = {1.0, 5.0, 20.6}, expected[] = {1, 4, 16}, speed[] = {180, 72, 35};
    for (size_t i = 0; i < 3; i++) {
        assert_near(k->rows[i].factor, factors[i], 0.05);
        assert_near(k->rows[i].expected, expected[i], 0);
        assert_near(k->rows[i].tok_per_s, speed[i], 0.5);
    }
    assert_true(isnan(k->rows[0].step));
    assert_near(k->rows[2].step, 469.749 / 114.265, 1e-9);
    assert_near(k->rows[2].step_expected, 4, 0);
    assert_near(k->exponent, 2.18, 0.01);
    const struct cell *c = run_data_cell(&r, "baseline", 4096);
    assert_near(c->median[METRIC_WALL_S], 44.878227250, 0);
    assert_near(c->median[METRIC_DECODE_S], 2.63e-07, 0);
    assert_string_equal(c->attn_impl, "flash_v2_naive");
    assert_int_equal(c->status, STATUS_OK);
    scaling_set_release(&set);
    run_data_release(&r);
    store_close(&s);
}

static void first_variants_against_the_baseline(void **state)
{
    (void)state;
    struct store s = open_store("first.db");
    struct run_data r = must_load(&s, ingest_fixture(&s, "tests/fixtures/b3_89_2026-02-10"));
    assert_shown(factor(&r, "v1", "baseline", 4096), "0.11x");
    assert_shown(factor(&r, "v3", "baseline", 4096), "1.21x");
    const struct cell *v2 = run_data_cell(&r, "v2", 4096);
    assert_int_equal(v2->status, STATUS_TIMEOUT);
    assert_true(isnan(v2->median[METRIC_PREFILL_S]));
    assert_true(isnan(factor(&r, "v2", "baseline", 4096)));
    assert_int_equal(r.info.counts.total, 6);
    assert_int_equal(r.info.counts.failed, 1);
    run_data_release(&r);
    store_close(&s);
}

static void perf_run_of_three_variants(void **state)
{
    (void)state;
    struct store s = open_store("perf.db");
    struct run_data r = must_load(&s, ingest_fixture(&s, "tests/fixtures/b3_90_2026-02-14"));
    assert_shown(factor(&r, "baseline", "baseline", 8192), "1.00x");
    assert_shown(factor(&r, "v3", "baseline", 8192), "0.11x");
    assert_shown(factor(&r, "v4", "baseline", 8192), "0.20x");
    assert_shown(factor(&r, "v3", "baseline", 16384), "0.09x");
    assert_shown(factor(&r, "v4", "baseline", 16384), "0.16x");
    assert_shown(factor(&r, "v4", "v3", 8192), "1.75x");
    assert_shown(factor(&r, "v4", "v3", 16384), "1.78x");
    assert_string_equal(run_data_cell(&r, "v4", 8192)->attn_impl, "v4_ql_v_lds");
    run_data_release(&r);
    store_close(&s);
}

static const struct delta *row(const struct comparison *c, const char *variant, int context)
{
    for (size_t i = 0; i < c->count; i++)
        if (strcmp(c->deltas[i].variant, variant) == 0 && c->deltas[i].context == context)
            return &c->deltas[i];
    fail_msg("no row for %s at %d", variant, context);
    return NULL;
}

static void what_the_reports_overlooked(void **state)
{
    (void)state;
    struct store s = open_store("overlooked.db");
    struct err err = {0};
    struct comparison c;
    const struct compare_options o = compare_defaults();
    struct run_data before = must_load(&s, ingest_fixture(&s, "tests/fixtures/b3_89_2026-02-12")),
                    after = must_load(&s, ingest_fixture(&s, "tests/fixtures/b3_90_2026-02-14"));
    assert_ok(compare_runs(&before, &after, NULL, &o, &c, &err), &err);
    const struct delta *d = row(&c, "baseline", 8192);
    assert_int_equal(d->verdict, VERDICT_REGRESSED);
    assert_shown(d->ratio, "3.53x");
    assert_near(d->base_median, 114.265, 0);
    assert_near(d->now_median, 403.26, 0);
    d = row(&c, "baseline", 16384);
    assert_int_equal(d->verdict, VERDICT_REGRESSED);
    assert_shown(d->ratio, "2.52x");
    assert_int_equal(row(&c, "baseline", 4096)->verdict, VERDICT_MISSING);
    assert_int_equal(row(&c, "v3", 8192)->verdict, VERDICT_NEW);
    assert_true(comparison_regressed(&c));
    comparison_release(&c);
    run_data_release(&before);
    run_data_release(&after);
    store_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scaling_of_the_core_run),
        cmocka_unit_test(first_variants_against_the_baseline),
        cmocka_unit_test(perf_run_of_three_variants),
        cmocka_unit_test(what_the_reports_overlooked),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
