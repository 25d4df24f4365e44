/* work: what did different work, as programs print its shape, is not called faster or slower, by any command.
 */
#include "tests/unit/results_support.h"

#include "reports/tables/tables.h"
#include "results/judge/search/best_groups.h"
#include "results/judge/turns.h"
#include "results/judge/within.h"
#include "results/judge/work.h"

enum { UNKNOWN = 0, REPETITIONS = 4 };

struct shape {
    double heads[2]; /* of odd and even repetitions; UNKNOWN: not printed */
};

static const struct shape wide = {{32, 32}}, narrow = {{8, 8}}, untold = {{UNKNOWN, UNKNOWN}},
                          mixed = {{32, 8}};

static void add_variant(struct draft *d, const char *name, struct shape shape, double seconds)
{
    struct err err = {0};
    for (int i = 1; i <= REPETITIONS; i++) {
        double heads = shape.heads[i % 2];
        draft_shot(d, name, 4096, i, seconds * (1 + 0.001 * i));
        if (heads != UNKNOWN)
            assert_ok(draft_add_extra(&d->tests[d->n_tests - 1], "heads", heads, &err), &err);
    }
}

static struct run_data stored(const char *name, struct draft *d)
{
    AUTO(store_close) struct store s = open_store(name);
    return must_load(&s, must_store(&s, d));
}

/* "reference" with 32 heads, and "other", which takes half as long. */
static struct run_data two_variants(const char *name, struct shape other)
{
    struct draft d;
    draft_night(&d, 0);
    add_variant(&d, "reference", wide, 2);
    add_variant(&d, "other", other, 1);
    return stored(name, &d);
}

static void beside(const char *name, struct shape other, enum verdict verdict)
{
    const struct compare_options o = compare_defaults();
    AUTO(run_data_release) struct run_data run = two_variants(name, other);
    AUTO(comparison_release) struct comparison c = {0};
    compare_within(&run, 0, &o, &c);
    struct variant_delta d = compare_pair(&run, 1, 0, 4096, METRIC_PREFILL_S);
    bool unlike = verdict == VERDICT_NOISY;
    assert_int_equal(c.deltas[0].verdict, verdict);
    assert_int_equal(c.deltas[0].reason == REASON_OTHER_WORK, unlike);
    assert_int_equal(variants_unlike(&d, 1), unlike);
    assert_int_equal(isnan(d.factor), unlike);
}

TEST(variants_of_different_work_are_not_ranked)
{
    beside("same.db", wide, VERDICT_IMPROVED);
    beside("untold.db", untold, VERDICT_IMPROVED);
    beside("narrow.db", narrow, VERDICT_NOISY);
    beside("mixed.db", mixed, VERDICT_NOISY);
}

static void one_after_the_other(const char *name, struct shape before, struct shape now, enum verdict verdict)
{
    const struct compare_options o = compare_defaults();
    struct draft a, b;
    draft_night(&a, 0);
    draft_night(&b, 1);
    add_variant(&a, "v", before, 1);
    add_variant(&b, "v", now, 2);
    AUTO(store_close) struct store s = open_store(name);
    AUTO(run_data_release) struct run_data base = must_load(&s, must_store(&s, &a));
    AUTO(run_data_release) struct run_data head = must_load(&s, must_store(&s, &b));
    AUTO(comparison_release) struct comparison c = {0};
    compare_runs(&base, &head, NULL, &o, &c);
    assert_int_equal(c.deltas[0].verdict, verdict);
    assert_int_equal(c.deltas[0].reason == REASON_OTHER_WORK, verdict == VERDICT_NOISY);
    const struct run_data *of_base[] = {&base}, *of_head[] = {&head};
    struct delta d = delta_of("v", 4096, METRIC_PREFILL_S);
    turns_judge(&(struct turns_runs){of_base, 1}, &(struct turns_runs){of_head, 1}, &o, &d);
    assert_int_equal(d.reason == REASON_OTHER_WORK, verdict == VERDICT_NOISY);
}

TEST(more_work_is_no_regression)
{
    one_after_the_other("more.db", narrow, wide, VERDICT_NOISY);
    one_after_the_other("equal.db", wide, wide, VERDICT_REGRESSED);
    one_after_the_other("new.db", untold, wide, VERDICT_REGRESSED);
    one_after_the_other("table.db", mixed, mixed, VERDICT_REGRESSED);
}

static void best_of(const char *name, struct shape other, size_t groups, const char *shape)
{
    struct err err = {0};
    AUTO(run_data_release) struct run_data run = two_variants(name, other);
    AUTO(best_groups_release) struct best_groups found = {.count = 0};
    assert_ok(best_groups_make(&found, &run, 1, METRIC_COUNT, false, &err), &err);
    assert_int_equal(found.count, groups);
    assert_string_equal(found.item[0].shape, shape);
}

TEST(the_best_is_that_of_its_work)
{
    best_of("best1.db", wide, 1, "");
    best_of("best2.db", narrow, 2, "heads 32");
}

TEST(a_variant_that_failed_is_told_among_its_shape)
{
    struct err err = {0};
    struct draft d;
    AUTO(best_groups_release) struct best_groups found = {.count = 0};
    draft_night(&d, 0);
    add_variant(&d, "reference", wide, 2);
    add_variant(&d, "other", narrow, 1);
    draft_shot(&d, "other", 8192, 1, 1)->status = STATUS_TIMEOUT;
    AUTO(run_data_release) struct run_data run = stored("failed.db", &d);
    assert_ok(best_groups_make(&found, &run, 1, METRIC_COUNT, false, &err), &err);
    assert_int_equal(found.count, 3);
    for (size_t i = 0; i < found.count; i++)
        if (found.item[i].context == 8192)
            assert_string_equal(found.item[i].shape, "heads 8");
}

TEST(the_best_along_an_axis_is_of_all_its_points)
{
    struct err err = {0};
    struct draft d;
    AUTO(best_groups_release) struct best_groups found = {.count = 0};
    draft_night(&d, 0);
    add_variant(&d, "wide", wide, 2);
    add_variant(&d, "narrow", narrow, 1);
    for (size_t i = 0; i < d.n_variants; i++)
        snprintf(d.variants[i].axes, sizeof d.variants[i].axes, "{\"heads\": %zu}", i);
    AUTO(run_data_release) struct run_data run = stored("axis.db", &d);
    assert_ok(best_groups_make(&found, &run, 1, METRIC_COUNT, true, &err), &err);
    assert_int_equal(found.count, 1);
}

TEST(a_shape_is_in_the_name_too)
{
    struct run_variant v[] = {
        {.shape = "b4h1"},
        {.shape = "batch8_heads16_d128"},
        {.shape = "tile64"},
        {.shape = "b64_h100_d2", .axes = "{\"b\":64,\"gpu\":\"h100\",\"depth\":\"d2\"}"},
        {.shape = "batch8", .axes = "{\"batch\":8}"}};
    const struct run_data run = {.variants = v, .n_variants = 5};
    struct run_work w = work_of(&run, &(struct cell){.variant = 0});
    assert_true(w.batch == 4 && w.heads == 1 && isnan(w.head_dim));
    w = work_of(&run, &(struct cell){.variant = 1});
    assert_true(w.batch == 8 && w.heads == 16 && w.head_dim == 128);
    for (size_t i = 2; i < 4; i++) {
        w = work_of(&run, &(struct cell){.variant = i});
        assert_true(isnan(w.batch) && isnan(w.heads) && isnan(w.head_dim));
    }
    w = work_of(&run, &(struct cell){.variant = 4});
    assert_true(w.batch == 8);
}

GROUP(scratch_make, scratch_remove);
