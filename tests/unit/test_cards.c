/* Several GPUs that differ: what is compared with what, on simulated nights in which the obvious comparison
 * is wrong. Fixed seeds; what the assertions print is what docs/statistics.md states.
 * unsanitized: simulated nights, as in unit/test_simulation
 */
#include "reports/words/reason.h"
#include "tests/unit/cards_support.h"

#include "results/judge/strata.h"
#include "results/judge/within.h"

enum { SEEDS = 40, NIGHTS = 12, REPETITIONS = 3 };

static const double slow = 1.045, regression = 1.08;

/* Where cells run --------------------------------------------------------------------------------------- */

/* A point keeps its card. */
static int at_home(size_t night, size_t cell, size_t card)
{
    (void)night;
    return cell % CARD_CONTEXTS % CARDS == card ? REPETITIONS : 0;
}

/* The points of card 0 and 1 are on card 7. */
static int moved(size_t night, size_t cell, size_t card)
{
    size_t home = cell % CARD_CONTEXTS;
    (void)night;
    return (home < 2 ? 7 : home) == card ? REPETITIONS : 0;
}

static int on_every(size_t night, size_t cell, size_t card)
{
    (void)night;
    (void)cell;
    (void)card;
    return 2;
}

static int all_on_one(size_t night, size_t cell, size_t card)
{
    (void)night;
    (void)cell;
    return card == 0 ? REPETITIONS : 0;
}

static int all_on_two(size_t night, size_t cell, size_t card)
{
    (void)night;
    (void)cell;
    return card == 1 ? REPETITIONS : 0;
}

static int mostly_fast(size_t night, size_t cell, size_t card)
{
    (void)night;
    (void)cell;
    return card == 0 ? 6 : card == 1 ? 2 : 0;
}

static int mostly_slow(size_t night, size_t cell, size_t card)
{
    (void)night;
    (void)cell;
    return card == 0 ? 2 : card == 1 ? 6 : 0;
}

static int in_turns(size_t night, size_t cell, size_t card)
{
    (void)cell;
    return card == night % 2 ? REPETITIONS : 0;
}

/* Trials ------------------------------------------------------------------------------------------------- */

struct trial {
    placement_fn *before, *now;
    double now_cell_0; /* planted into cell 0 tonight */
    double now_card_7;
    int base; /* -1: against the nights */
    bool nights;
};

struct outcome {
    int regressed;    /* cells other than cell 0, over all seeds */
    int alarms;       /* nights with one of these, or that fail otherwise, but for a finding about card 7 */
    int card_7;       /* nights with a finding about card 7, and no other card */
    int found;        /* cell 0 regressed */
    int inconclusive; /* cell 0 */
    int named;        /* cell 0 says that it moved */
    double worst;     /* |log ratio| of cell 0 without what was planted */
};

static void judge_trial(const struct trial *t, uint64_t seed, struct outcome *out)
{
    AUTO(node_close) struct node_of_cards n = {0};
    node_open(&n, seed);
    for (size_t c = 1; c < CARDS; c++)
        n.card[c] = c == 7 || c == 1 ? slow : 1 + 0.01 * stats_rng_normal(&n.rng);
    for (size_t i = 0; i < NIGHTS; i++)
        node_run(&n, t->before);
    n.planted[0] = t->now_cell_0 > 0 ? t->now_cell_0 : 1;
    n.planted_card[7] = t->now_card_7 > 0 ? t->now_card_7 : 1;
    node_run(&n, t->now);
    AUTO(comparison_release) struct comparison c = node_compare(&n, t->base, t->nights);
    int others = 0;
    for (size_t i = 1; i < CARD_CELLS; i++)
        others += verdict_is_slower(node_delta(&c, i)->verdict);
    const struct delta *first = node_delta(&c, 0);
    out->regressed += others;
    out->found += verdict_is_slower(first->verdict);
    bool card_7 = c.cards.count == 1 && strcmp(c.cards.items[0].gpu, "GPU-7") == 0;
    out->card_7 += card_7;
    out->alarms += others > 0 || c.cards.count > card_7 ||
                   (!verdict_is_slower(first->verdict) && !card_7 && comparison_regressed(&c));
    out->inconclusive += first->verdict == VERDICT_NOISY;
    out->named += first->reason == REASON_OTHER_GPU;
    out->worst = fmax(out->worst, fabs(log(first->estimate.ratio / n.planted[0])));
}

static struct outcome trials(const char *name, const struct trial *t)
{
    struct outcome o = {0};
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        judge_trial(t, 9000 + seed, &o);
    print_message(
        "%s: alarms %d, cell found %d, inconclusive %d, named %d of %d nights; ratio off by at most %.2f"
        " %%\n",
        name, o.alarms, o.found, o.inconclusive, o.named, SEEDS, 100 * o.worst);
    return o;
}

/* Moves -------------------------------------------------------------------------------------------------- */

TEST(a_move_to_a_slower_card_is_never_a_regression)
{
    const struct trial against_nights = {.before = at_home, .now = moved, .base = -1, .nights = true},
                       against_both = {.before = at_home, .now = moved, .base = NIGHTS - 1, .nights = true},
                       against_base = {.before = at_home, .now = moved, .base = NIGHTS - 1},
                       all = {.before = all_on_one, .now = all_on_two, .base = -1, .nights = true},
                       all_base = {.before = all_on_one, .now = all_on_two, .base = NIGHTS - 1};
    const struct trial *each[] = {&against_nights, &against_both, &against_base, &all, &all_base};
    for (size_t i = 0; i < COUNT(each); i++) {
        struct outcome o = trials("moved", each[i]);
        assert_int_equal(o.found, 0);
        assert_true(o.alarms <= SEEDS / 40);
        assert_int_equal(o.inconclusive, SEEDS);
        assert_int_equal(o.named, SEEDS);
    }
}

TEST(another_mode_is_another_card)
{
    AUTO(node_close) struct node_of_cards n = {0};
    node_open(&n, 5);
    for (size_t i = 0; i < NIGHTS; i++)
        node_run(&n, at_home);
    n.mode = "CPX/NPS4";
    node_run(&n, at_home);
    AUTO(comparison_release) struct comparison c = node_compare(&n, NIGHTS - 1, true);
    for (size_t i = 0; i < CARD_CELLS; i++) {
        assert_int_equal(node_delta(&c, i)->verdict, VERDICT_NOISY);
        assert_true(node_delta(&c, i)->doubts.other_device);
    }
    assert_true(c.shift.device_changed);
    assert_false(comparison_regressed(&c));
}

TEST(a_cell_that_changes_its_card_every_night_is_judged_by_that_card)
{
    struct trial t = {.before = in_turns, .now = in_turns, .base = -1, .nights = true};
    struct outcome still = trials("alternately", &t);
    assert_true(still.alarms <= SEEDS / 40);
    assert_int_equal(still.found, 0);
    assert_int_equal(still.named, 0);
    t.now_cell_0 = regression;
    assert_true(trials("alternately, 8 % slower", &t).found >= SEEDS * 95 / 100);
}

/* Several cards at once ---------------------------------------------------------------------------------- */

TEST(one_bad_card_of_eight_is_no_regression_of_the_code)
{
    for (int base = -1; base < NIGHTS; base += NIGHTS) {
        struct trial t = {
            .before = on_every, .now = on_every, .base = base, .nights = true, .now_card_7 = 1.10};
        struct outcome bad = trials("one bad card", &t);
        assert_int_equal(bad.card_7, SEEDS);
        assert_true(bad.alarms <= SEEDS / 40);
        assert_true(bad.found <= SEEDS / 40);
        t.now_cell_0 = regression;
        struct outcome both = trials("one bad card, and a cell 8 % slower on all", &t);
        assert_true(both.found >= SEEDS * 95 / 100);
        assert_true(both.alarms <= SEEDS / 40);
    }
    struct trial pair = {.before = on_every, .now = on_every, .base = NIGHTS - 1, .now_card_7 = 1.10};
    struct outcome bad = trials("one bad card, base alone", &pair);
    assert_int_equal(bad.found, 0);
    assert_true(bad.alarms <= SEEDS / 40);
    pair.now_cell_0 = regression;
    assert_true(trials("one bad card, base alone, 8 % slower", &pair).found >= SEEDS * 95 / 100);
}

TEST(the_card_on_which_a_cell_is_bad_is_counted)
{
    AUTO(node_close) struct node_of_cards n = {0};
    node_open(&n, 17);
    for (size_t i = 0; i <= NIGHTS; i++) {
        n.own[7][3] *= i == NIGHTS ? 1.10 : 1;
        node_run(&n, on_every);
    }
    AUTO(comparison_release) struct comparison c = node_compare(&n, -1, true);
    const struct delta *d = node_delta(&c, 3);
    assert_int_equal(d->estimate.gpus, CARDS);
    assert_int_equal(d->estimate.gpus_worse, 1);
    assert_int_equal(d->estimate.gpus_better, 0);
    assert_non_null(strstr(verdict_reason(d, REPORT_EN).s, "the median of 8 GPUs, 1 of them worse"));
}

/* The base ran mostly on the fast card, and tonight mostly on the slow one: their medians differ by 4.5 %. */
TEST(a_mixture_of_cards_is_no_change)
{
    struct trial t = {.before = mostly_fast, .now = mostly_slow, .base = NIGHTS - 1};
    struct outcome still = trials("mixture, base alone", &t);
    assert_int_equal(still.found, 0);
    assert_int_equal(still.alarms, 0);
    assert_true(still.worst < 0.02);
    t.nights = true;
    struct outcome nights = trials("mixture, with nights", &t);
    assert_true(nights.alarms <= SEEDS / 40);
    t.now_cell_0 = regression;
    assert_true(trials("mixture, 8 % slower", &t).found >= SEEDS * 95 / 100);
    t.nights = false;
    assert_true(trials("mixture, base alone, 8 % slower", &t).found >= SEEDS * 90 / 100);
}

static int variant_on_its_card(size_t night, size_t cell, size_t card)
{
    (void)night;
    return cell / CARD_CONTEXTS == card ? REPETITIONS : 0;
}

/* Variants 0 to 2 are equally fast, and 3 is not; the cards of 0 and 1 differ by 4.5 %. */
TEST(the_evidence_of_several_cards_names_no_single_ones_factor)
{
    const struct compare_options o = compare_defaults();
    const double owns[] = {1.06, 1, 1};
    struct delta each[3], all = {.metric = METRIC_PREFILL_S, .reference.own = owns[0]};
    for (size_t i = 0; i < 3; i++)
        each[i] = (struct delta){.metric = METRIC_PREFILL_S,
                                 .estimate.ratio = 1,
                                 .now.median = 1,
                                 .estimate.noise_floor = 0.01,
                                 .estimate.freedom = 10,
                                 .reference.own = owns[i]};
    strata_combine(each, 3, &o, &all);
    assert_near(all.reference.own, 1, 1e-12);
    each[1].reference.own = owns[0];
    strata_combine(each, 3, &o, &all);
    assert_near(all.reference.own, owns[0], 1e-12);
}

TEST(variants_on_different_cards_differ_only_by_much)
{
    AUTO(node_close) struct node_of_cards n = {0};
    node_open(&n, 11);
    for (size_t i = 0; i < CARD_CELLS; i++)
        n.level[i] = i / CARD_CONTEXTS == 3 ? 0.2 : 0.1;
    n.card[1] = slow;
    const struct run_data *run = node_run(&n, variant_on_its_card);
    for (int c = 0; c < CARD_CONTEXTS; c++) {
        struct variant_delta near = compare_pair(run, 1, 0, 256 << c, METRIC_PREFILL_S);
        struct variant_delta far = compare_pair(run, 3, 0, 256 << c, METRIC_PREFILL_S);
        assert_true(near.apart && far.apart);
        assert_int_equal(within_verdict(&near, 0.02), VERDICT_NOISY);
        assert_int_equal(within_verdict(&far, 0.02), VERDICT_REGRESSED);
    }
    const struct run_data *together = node_run(&n, all_on_one);
    assert_false(compare_pair(together, 1, 0, 256, METRIC_PREFILL_S).apart);
}

TEST(ids_are_one_however_they_are_written)
{
    uint64_t id = gpu_identity("GPU-1A2b", "");
    assert_true(id);
    assert_int_equal(id, gpu_identity("0x1a2b", ""));
    assert_int_equal(id, gpu_identity("1A2B", ""));
    assert_int_not_equal(id, gpu_identity("1a2b", "SPX/NPS1"));
    assert_int_not_equal(id, gpu_identity("1a2c", ""));
    assert_int_equal(gpu_identity("GPU-a+GPU-b", ""), gpu_identity("0xA+b", ""));
    assert_int_equal(gpu_identity("", "SPX"), 0);
}
