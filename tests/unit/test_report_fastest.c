/* The summary's words on which variant is the fastest, and by how much. The runs here are built so that a
 * sentence would be wrong if it rested on less. */
#include "tests/unit/advice_support.h"

/* v3 is faster than the others where it ran, which is at one context of three. */
TEST(a_variant_that_ran_at_one_context_of_three_is_not_the_fastest)
{
    AUTO(store_close) struct store s = open_store("one_of_three.db");
    struct draft d;
    draft_night(&d, 1);
    for (int context = 256; context <= 1024; context *= 2) {
        draft_shot(&d, "baseline", context, 1, context / 100.0);
        draft_shot(&d, "v4", context, 1, context / 90.0);
    }
    draft_shot(&d, "v3", 256, 1, 1);
    draft_shot(&d, "slow", 256, 1, 20);
    must_store(&s, &d);
    AUTO_FREE char *text = render(&s, report_defaults());
    lacks(text, "Optimise `v3` first");
    lacks(text, "Disable `slow` by default");
    lacks(text, "`slow` is 7.81x slower than `baseline` at every context");
}

static struct run_test *draft_failure(struct draft *d, const char *variant, int context, int repetition,
                                      double seconds)
{
    struct run_test *t = draft_shot(d, variant, context, repetition, seconds);
    t->status = STATUS_FAIL;
    t->exit_code = 1;
    return t;
}

/* Five repetitions at each of `contexts` contexts from 256 on, of which one of `slow`, at the last of them,
 * fails. */
static void draft_one_failure(struct draft *d, int contexts)
{
    draft_night(d, 1);
    for (int context = 256; contexts > 0; contexts--, context *= 2)
        for (int i = 1; i <= 5; i++) {
            draft_shot(d, "base", context, i, 1);
            if (i == 3 && contexts == 1)
                draft_failure(d, "slow", context, i, 4);
            else
                draft_shot(d, "slow", context, i, 4);
        }
}

TEST(a_context_that_failed_is_not_as_fast_as_the_reference)
{
    struct draft d;
    draft_one_failure(&d, 1);
    char *text = render_draft("failed_once.db", &d, REPORT_EN);
    lacks(text, "as fast as");
    lacks(text, "- `slow` is");
    holds(text, "- `slow` at 256: **FAIL");
    free(text);
    draft_one_failure(&d, 1);
    text = render_draft("failed_once_es.db", &d, REPORT_ES);
    lacks(text, "igual de rápida");
    holds(text, "- `slow` (contexto 256): **FAIL");
    free(text);
}

TEST(a_context_at_which_the_reference_failed_tells_no_speed)
{
    struct draft d;
    draft_night(&d, 1);
    for (int i = 1; i <= 3; i++) {
        if (i == 2)
            draft_failure(&d, "base", 256, i, 1);
        else
            draft_shot(&d, "base", 256, i, 1);
        draft_shot(&d, "slow", 256, i, 4);
    }
    AUTO_FREE char *text = render_draft("failed_base.db", &d, REPORT_EN);
    lacks(text, "- `slow` is");
    holds(text, "- `base` at 256: **FAIL");
}

TEST(what_failed_is_in_no_count_of_contexts)
{
    struct draft d;
    draft_one_failure(&d, 2);
    char *text = render_draft("failed_second.db", &d, REPORT_EN);
    lacks(text, "the same at");
    holds(text, "- `slow` is 4.00x slower than `base` at 256 (0.25x its speed).");
    lacks(text, "Disable `slow` by default");
    free(text);
    draft_one_failure(&d, 3);
    text = render_draft("failed_third.db", &d, REPORT_EN);
    holds(text, "- `slow` is 4.00x slower than `base` at every context where both are OK (0.25x its speed).");
    free(text);
    draft_one_failure(&d, 3);
    text = render_draft("failed_third_es.db", &d, REPORT_ES);
    holds(text, "en todos los contextos en los que ambas están OK");
    free(text);
}

TEST(the_fastest_is_faster_by_more_than_the_noise)
{
    AUTO(store_close) struct store s = open_store("close.db");
    struct draft d;
    draft_night(&d, 1);
    for (int context = 256; context <= 512; context *= 2)
        for (int i = 1; i <= 2; i++) {
            draft_shot(&d, "baseline", context, i, 10 + 0.5 * i);
            draft_shot(&d, "v3", context, i, 9.95 + 0.5 * i);
        }
    must_store(&s, &d);
    char *text = render(&s, report_defaults());
    lacks(text, "**Optimise");
    free(text);
    draft_night(&d, 2);
    for (int context = 256; context <= 512; context *= 2) {
        draft_shot(&d, "baseline", context, 1, 10);
        draft_shot(&d, "v3", context, 1, 5);
        draft_shot(&d, "v1", context, 1, 50);
    }
    must_store(&s, &d);
    text = render(&s, report_defaults());
    holds(text,
          "**Optimise `v3` first**: it is the fastest of 3 variants at every context measured (256, 512).");
    holds(text, "**Disable `v1` by default**: slower than `baseline` at every context measured, at best "
                "0.20x its speed "
                "(1 repetition each).");
    free(text);
}

/* "v3" is twice as fast as "base" at three contexts; the caller adds a third variant. */
static void draft_fastest(struct draft *d)
{
    draft_night(d, 1);
    for (int context = 256; context <= 1024; context *= 2) {
        draft_shot(d, "base", context, 1, 10);
        draft_shot(d, "v3", context, 1, 5);
    }
}

TEST(the_fastest_is_so_among_those_that_were_measured)
{
    struct draft d;
    draft_fastest(&d);
    draft_shot(&d, "v1", 256, 1, 20);
    draft_shot(&d, "v3", 2048, 1, 5); /* alone: the fastest of one */
    char *text = render_draft("fewer.db", &d, REPORT_EN);
    lacks(text, "every context measured (");
    holds(text,
          "**Optimise `v3` first**: it is the fastest of the 2 to 3 variants that are OK at 256, 512, 1024.");
    free(text);
    draft_fastest(&d);
    draft_shot(&d, "v1", 256, 1, 20);
    text = render_draft("fewer_es.db", &d, REPORT_ES);
    holds(text, "es la más rápida de las 2 a 3 variantes que están OK (contextos 256, 512, 1024).");
    free(text);
}

TEST(a_variant_that_failed_is_not_among_those_that_the_fastest_beats)
{
    struct draft d;
    draft_fastest(&d);
    for (int context = 256; context <= 1024; context *= 2) {
        draft_shot(&d, "v1", context, 1, 20);
        draft_failure(&d, "v1", context, 2, 20);
    }
    char *text = render_draft("failing.db", &d, REPORT_EN);
    holds(text,
          "**Optimise `v3` first**: it is the fastest of the 2 variants that are OK at 256, 512, 1024.");
    free(text);
    draft_night(&d, 1);
    draft_failure(&d, "base", 256, 1, 10);
    draft_shot(&d, "base", 256, 2, 10);
    draft_shot(&d, "v3", 256, 1, 5);
    text = render_draft("failing_alone.db", &d, REPORT_EN);
    lacks(text, "**Optimise");
    free(text);
}

TEST(what_is_no_speed_is_better_or_worse)
{
    struct store s = open_store("energy.db");
    static const struct metric_definition energy = {
        .name = "energy", .unit = "J", .better = METRIC_LESS, .primary = true};
    struct draft d;
    struct err err = {0};
    draft_night(&d, 0);
    d.metrics[0] = energy;
    d.n_metrics = 1;
    for (int i = 0; i < 6; i++) {
        draft_shot(&d, i % 2 ? "v2" : "baseline", 1024, 1 + i / 2, 1);
        assert_ok(draft_add_extra(&d.tests[i], "energy", (i % 2 ? 20 : 10) + 0.001 * i, &err), &err);
    }
    must_store(&s, &d);
    char *text = render(&s, report_defaults());
    holds(text, "`v2` is 2.00x worse than `baseline` in energy at 1024.");
    holds(text, "| Worse ");
    lacks(text, "slower");
    lacks(text, "Optimise");
    lacks(text, "Disable");
    free(text);
    store_close(&s);
    metric_forget();
}

GROUP(scratch_make, scratch_remove);
