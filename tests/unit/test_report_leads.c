/* Leads: where a report says that the cause of a loss is to be looked for. Who is told to look in the code
 * when the node changed has lost a day. */
#include "tests/unit/leads_support.h"

static const struct side old = {"tree 1", "plan", "6.8.5", "code 1", 10};

TEST(a_change_of_the_sources_that_was_confirmed_is_looked_for_in_the_code)
{
    char *text =
        advice("confirmed.db", old, (struct side){"tree 2", "plan", "6.8.5", "code 2", 20}, CONFIRM_STANDS);
    holds(text, "**Look for the change in the code**: 1 cell regressed");
    holds(text, "both builds were measured again, alternately");
    lacks(text, "Use at least 5");
    lacks(text, "not necessarily the code");
    lacks(text, "recorded fact");
    free(text);
}

TEST(a_change_of_the_sources_alone_is_likely_the_cause_and_is_to_be_confirmed)
{
    char *text =
        advice("likely.db", old, (struct side){"tree 2", "plan", "6.8.5", "code 2", 20}, CONFIRM_NOT_ASKED);
    holds(text, "**Look for the change in the code**: 1 cell regressed, the device code differs, and no "
                "recorded fact");
    holds(text, "Not confirmed");
    free(text);
}

static void other_plan(struct comparison *c)
{
    for (size_t i = 0; i < c->count; i++)
        c->deltas[i].doubts.other_plan = true;
}

TEST(what_the_plan_changed_is_not_to_be_confirmed)
{
    char *text = advice_beside("plan.db", old, (struct side){"tree 1", "plan 2", "6.8.5", "code 2", 20},
                               CONFIRM_NOT_ASKED, other_plan);
    holds(text, "**Look at what the plan changed**: 1 cell regressed");
    lacks(text, "Look for the change in the code");
    lacks(text, "Measure both builds alternately");
    free(text);
}

static void mixed_base(struct comparison *c)
{
    c->mixed_base = true;
}

TEST(a_base_of_different_sources_is_not_to_be_confirmed)
{
    char *text = advice_beside("mixed.db", old, (struct side){"tree 2", "plan", "6.10.0", "code 2", 20},
                               CONFIRM_NOT_ASKED, mixed_base);
    holds(text, "**Compare this run with the last good one (`kernsweep compare`)**: 1 cell regressed");
    lacks(text, "Measure both builds alternately");
    free(text);
}

static void slower_node(struct comparison *c)
{
    c->shift = (struct common_shift){.known = true,
                                     .found = true,
                                     .worse = true,
                                     .from_controls = true,
                                     .ratio = 1.08,
                                     .cells = 6,
                                     .agree = 6};
}

static void slower_on_another_gpu(struct comparison *c)
{
    slower_node(c);
    c->shift.device_changed = true;
}

static void slower_shared_code(struct comparison *c)
{
    slower_node(c);
    c->shift.from_controls = false;
    c->shift.confirmed = SHIFT_CODE;
}

static void slower_for_unknown_reasons(struct comparison *c)
{
    slower_node(c);
    c->shift.from_controls = false;
    c->shift.since_base = true; /* of two runs alone */
    c->shift.p = NAN;
    for (size_t i = 0; i < c->count; i++)
        c->deltas[i].estimate.ratio = 1; /* beside that factor */
}

static void slower_node_as_confirmed(struct comparison *c)
{
    slower_for_unknown_reasons(c);
    c->shift.confirmed = SHIFT_NODE;
}

static void slower_on_another_gpu_as_confirmed(struct comparison *c)
{
    slower_node_as_confirmed(c);
    c->shift.device_changed = true;
}

static void slower_than_a_mixed_base(struct comparison *c)
{
    slower_for_unknown_reasons(c);
    c->mixed_base = true;
}

static void faster_node(struct comparison *c)
{
    slower_node(c);
    c->shift.worse = false;
    c->shift.ratio = 0.92;
}

TEST(what_all_cells_lost_is_the_first_step)
{
    const struct side now = {"tree 2", "plan", "6.10.0", "code 2", 20};
    char *text = advice_beside("shift_node.db", old, now, CONFIRM_STANDS, slower_node);
    holds(text, "## Next steps\n\n- **Find out what changed on the node**: cells whose code is the same are "
                "8 % slower together. "
                "Recorded facts that differ: driver.");
    free(text);
    text = advice_beside("shift_gpu.db", old, now, CONFIRM_STANDS, slower_on_another_gpu);
    holds(text,
          "## Next steps\n\n- **Find out whether the GPU explains it**: cells whose code is the same are "
          "8 % slower together on a different GPU than before.");
    free(text);
    text = advice_beside("shift_code.db", old, now, CONFIRM_STANDS, slower_shared_code);
    holds(text, "**Look for the change in code that the variants share**: they are 8 % slower together");
    free(text);
    text = advice_beside("shift_open.db", old, now, CONFIRM_NOT_ASKED, slower_for_unknown_reasons);
    holds(text, "**Measure both builds alternately (`--confirm`)**: the cells are 8 % slower together");
    free(text);
    text = advice_beside("shift_tried.db", old, now, CONFIRM_UNDECIDED, slower_for_unknown_reasons);
    holds(text, "is unknown; measuring both builds again, alternately, did not settle it.");
    holds(text, "**Find out what the cells share that changed**: they are 8 % slower together");
    lacks(text, "the cells are 8 % slower together");
    free(text);
    text = advice_beside("shift_confirmed.db", old, now, CONFIRM_STANDS, slower_node_as_confirmed);
    holds(text,
          "**Find out what changed on the node**: the cells are 8 % slower together, and the old build");
    lacks(text, "whose code is the same are");
    free(text);
    text =
        advice_beside("shift_gpu_confirmed.db", old, now, CONFIRM_STANDS, slower_on_another_gpu_as_confirmed);
    holds(text,
          "- **Find out whether the GPU explains it**: the cells are 8 % slower together on a different GPU "
          "than before, where the old build, measured again alternately, is as slow.");
    lacks(text, "what changed on the node");
    free(text);
    text = advice_beside("shift_mixed.db", old, now, CONFIRM_NOT_ASKED, slower_than_a_mixed_base);
    holds(text, "**Find out what the cells share that changed**: they are 8 % slower together");
    lacks(text, "**Measure both builds alternately");
    free(text);
    text = advice_beside("shift_faster.db", old, now, CONFIRM_STANDS, faster_node);
    lacks(text, "slower together");
    free(text);
}

static void slower_card(struct comparison *c)
{
    c->cards.count = 1;
    c->cards.items[0] = (struct card_shift){
        .gpu = "GPU-c", .worse = true, .since_base = true, .ratio = 1.1, .p = NAN, .cells = 4, .all = 4};
    for (size_t i = 0; i < c->count; i++) {
        c->deltas[i].estimate.ratio = 1; /* beside that of its GPU */
        c->deltas[i].now.gpu = "GPU-c";
    }
}

static void slower_card_with_the_same_code(struct comparison *c)
{
    slower_card(c);
    c->cards.items[0].from_controls = true;
}

TEST(what_a_gpu_lost_is_a_step)
{
    const struct side now = {"tree 2", "plan", "6.10.0", "code 2", 20};
    char *text = advice_beside("card.db", old, now, CONFIRM_NOT_ASKED, slower_card);
    holds(text, "- **Find out what changed on the GPU `GPU-c`, or in code that only its cells run**: they "
                "are 10 % slower");
    lacks(text, "alternately on the GPU");
    free(text);
    text = advice_beside("card_same.db", old, now, CONFIRM_NOT_ASKED, slower_card_with_the_same_code);
    holds(text, "- **Find out what changed on the GPU `GPU-c`**: its cells are 10 % slower than before, and "
                "it is not the code.");
    free(text);
}

TEST(where_nothing_changed_nobody_is_sent_into_the_code)
{
    char *text =
        advice("nothing.db", old, (struct side){"tree 1", "plan", "6.8.5", "code 1", 20}, CONFIRM_NOT_ASKED);
    lacks(text, "Look for the change in the code");
    holds(text, "1 cell regressed, although the device code and every recorded fact are the same");
    free(text);
}

TEST(sources_that_changed_without_changing_the_code_are_not_the_cause)
{
    char *text =
        advice("comment.db", old, (struct side){"tree 2", "plan", "6.8.5", "code 1", 20}, CONFIRM_NOT_ASKED);
    lacks(text, "Look for the change in the code");
    holds(text, "although the device code and every recorded fact are the same");
    free(text);
}

TEST(a_node_that_changed_is_named_with_its_facts)
{
    char *text =
        advice("node.db", old, (struct side){"tree 1", "plan", "6.10.0", "code 1", 20}, CONFIRM_NOT_ASKED);
    lacks(text, "Look for the change in the code");
    holds(text, "**Run the base again on the node in its current state**: 1 cell regressed, the device code "
                "is the same, "
                "and these recorded facts differ: driver.");
    free(text);
    text = advice("node_confirmed.db", old, (struct side){"tree 2", "plan", "6.10.0", "code 2", 20},
                  CONFIRM_NODE);
    holds(text, "**The node is slower, not the code**, against `night-0001`");
    holds(text, "  - `v3` at 4096: **inconclusive**");
    lacks(text, "Use at least 5");
    lacks(text, "Look for the change in the code");
    holds(text, "**Find out what changed on the node**: 1 cell regressed, but measured again, alternately, "
                "the base's build");
    holds(text, "driver");
    free(text);
}

TEST(where_both_changed_neither_is_blamed)
{
    char *text =
        advice("both.db", old, (struct side){"tree 2", "plan", "6.10.0", "code 2", 20}, CONFIRM_NOT_ASKED);
    lacks(text, "Look for the change in the code");
    holds(text,
          "**Measure both builds alternately (`--confirm`)**: 1 cell regressed, and both the device code and "
          "recorded facts (driver) differ");
    free(text);
}

TEST(without_records_the_cause_is_said_to_be_unknown)
{
    const struct side bare = {"", "", "", "", 10};
    AUTO_FREE char *text = advice("bare.db", bare, (struct side){"", "", "", "", 20}, CONFIRM_NOT_ASKED);
    lacks(text, "Look for the change in the code");
    holds(text, "so the cause cannot be determined");
}

/* There are no two builds to measure alternately. */
TEST(a_run_without_sources_is_not_sent_to_be_confirmed)
{
    const struct side before = {"", "plan", "6.8.5", "", 10}, coded = {"", "plan", "6.8.5", "code 1", 10};
    const struct side sourced = {"tree 1", "plan", "6.8.5", "", 10};
    char *text =
        advice("sourceless.db", before, (struct side){"", "plan", "6.8.5", "", 20}, CONFIRM_NOT_ASKED);
    lacks(text, "--confirm");
    holds(text, "**Find out what changed in the program or on the node**: 1 cell regressed");
    lacks(text, "Recorded facts that differ");
    free(text);
    text = advice("sourceless_both.db", coded, (struct side){"", "plan", "6.10.0", "code 2", 20},
                  CONFIRM_NOT_ASKED);
    lacks(text, "--confirm");
    holds(text, "Recorded facts that differ: driver.");
    free(text);
    text = advice("sourceless_code.db", coded, (struct side){"", "plan", "6.8.5", "code 2", 20},
                  CONFIRM_NOT_ASKED);
    lacks(text, "--confirm");
    holds(text, "**Look for the change in the code**: 1 cell regressed, the device code differs");
    free(text);
    text =
        advice("sourceless_now.db", sourced, (struct side){"", "plan", "6.8.5", "", 20}, CONFIRM_NOT_ASKED);
    lacks(text, "--confirm");
    free(text);
}

TEST(what_all_cells_lost_is_not_sent_to_be_confirmed_with_the_sources_of_one_run)
{
    const struct side sourced = {"tree 1", "plan", "6.8.5", "code 1", 10},
                      bare = {"", "plan", "6.8.5", "", 10};
    const struct side now = {"", "plan", "6.10.0", "", 20},
                      built = {"tree 2", "plan", "6.10.0", "code 2", 20};
    char *text = advice_beside("shift_base.db", sourced, now, CONFIRM_NOT_ASKED, slower_for_unknown_reasons);
    holds(text, "**Find out what the cells share that changed**: they are 8 % slower together");
    lacks(text, "--confirm");
    free(text);
    text = advice_beside("shift_now.db", bare, built, CONFIRM_NOT_ASKED, slower_for_unknown_reasons);
    holds(text, "**Find out what the cells share that changed**: they are 8 % slower together");
    lacks(text, "--confirm");
    free(text);
    text = advice_beside("card_base.db", sourced, now, CONFIRM_NOT_ASKED, slower_card);
    holds(text, "- **Find out what changed on the GPU `GPU-c`, or in code that only its cells run**");
    lacks(text, "--confirm");
    free(text);
}

TEST(nights_alone_do_not_tell_the_cause)
{
    AUTO(store_close) struct store s = open_store("nights.db");
    for (int night = 1; night <= 10; night++) {
        struct side side = old;
        side.prefill_s = (night < 10 ? 10 : 20) + 0.01 * (night % 4);
        store_side(&s, night, &side);
    }
    AUTO_FREE char *text = render(&s, report_defaults());
    holds(text, "1 regressed");
    lacks(text, "Look for the change in the code");
    lacks(text, "no recorded fact");
    holds(text, "**Compare this run with the last good one (`kernsweep compare`)**: 1 cell regressed");
}

/* Six cells of two variants: nights 1 to 3, of which the base is one, took 10 s, the next ones 8 s, and the
 * last one is 8 % slower than these, but still faster than the base. */
TEST(slower_than_the_nights_is_not_slower_than_an_older_base)
{
    AUTO(store_close) struct store s = open_store("older_shift.db");
    struct report_request req = report_defaults();
    for (int night = 1; night <= 14; night++) {
        struct draft d;
        draft_night(&d, night);
        for (int cell = 0; cell < 6; cell++)
            for (int r = 1; r <= 3; r++)
                draft_shot(&d, cell < 3 ? "v" : "w", 1024 + cell, r,
                           (night < 4    ? 10
                            : night < 14 ? 8
                                         : 8.64) *
                               (1 + 0.001 * r + 0.001 * ((night + cell) % 3)));
        must_store(&s, &d);
    }
    req.against = "night-0002";
    char *text = render(&s, req);
    holds(text, "**All cells together are slower than on the newest nights**, against `night-0002` of "
                "2025-01-03: 6 improved");
    holds(text, "The comparison is with the newest nights.");
    free(text);
    req.against = "night-0013";
    text = render(&s, req);
    lacks(text, "**All cells together are slower** than");
    free(text);
    req.against = NULL;
    text = render(&s, req);
    holds(text, "**All cells together are slower** than the previous 13 nights");
    lacks(text, "The comparison is with");
    free(text);
}

/* The base is older than an improvement, of which tonight has lost a part, with the code of the night before.
 */
TEST(a_loss_since_the_newest_nights_is_not_looked_for_in_the_code_since_the_base)
{
    AUTO(store_close) struct store s = open_store("older_base.db");
    struct report_request req = report_defaults();
    for (int night = 1; night <= 18; night++) {
        struct side side = {"tree 2", "plan", night < 17 ? "6.8.5" : "6.10.0", "code 2", 8};
        if (night < 4)
            side = old;
        side.prefill_s += (night >= 17 ? 1 : 0) + 0.01 * (night % 4);
        store_side(&s, night, &side);
    }
    req.against = "night-0002";
    AUTO_FREE char *text = render(&s, req);
    holds(text, "1 regressed");
    holds(text, "not the code: same machine code in all kernels");
    holds(text, "**Compare this run with the last good one (`kernsweep compare`)**: 1 cell regressed");
    lacks(text, "the device code and recorded facts (driver) differ");
    lacks(text, "--confirm");
}

TEST(cells_that_are_all_new_are_not_without_regression)
{
    AUTO(store_close) struct store s = open_store("new.db");
    struct report_request req = report_defaults();
    struct draft d;
    store_side(&s, 1, &old);
    draft_night(&d, 2);
    draft_shot(&d, "v4", 4096, 1, 10);
    must_store(&s, &d);
    req.against = "night-0001";
    AUTO_FREE char *text = render(&s, req);
    holds(text, "**No cell to compare** with `night-0001` of 2025-01-02: 1 new");
    lacks(text, "No regression");
}

/* Nights vary more than a run does: more repetitions would change nothing. */
TEST(inconclusive_nights_are_not_sent_for_more_repetitions)
{
    AUTO(store_close) struct store s = open_store("varies.db");
    static const double nightly[] = {10, 13, 9, 14, 11, 8, 12, 15, 10, 13};
    for (int night = 0; night < (int)COUNT(nightly); night++) {
        struct side side = old;
        side.prefill_s = nightly[night];
        store_side(&s, night + 1, &side);
    }
    AUTO_FREE char *text = render(&s, report_defaults());
    holds(text, "**Inconclusive** against the previous 9 nights: 1 inconclusive");
    lacks(text, "No regression");
    lacks(text, "Use at least 5 repetitions");
    lacks(text, "noisy");
    holds(text, "**Find out why this cell varies between nights**");
}

static void moved(struct comparison *c)
{
    c->deltas[0].verdict = VERDICT_NOISY;
    c->deltas[0].doubts.other_device = true;
    c->verdicts[VERDICT_REGRESSED]--;
    c->verdicts[VERDICT_NOISY]++;
}

static void stayed(struct comparison *c)
{
    moved(c);
    c->deltas[0].doubts.other_device = false;
    c->deltas[0].reason = REASON_STAYED;
}

static void stayed_by_nights(struct comparison *c)
{
    stayed(c);
    c->deltas[0].estimate.method = METHOD_NIGHTS;
}

static void disputed_by_nights(struct comparison *c)
{
    stayed_by_nights(c);
    c->deltas[0].reason = REASON_INSUFFICIENT;
    c->deltas[0].reason = REASON_DISAGREE;
}

TEST(advice_follows_from_why_a_cell_is_inconclusive)
{
    const struct side now = {"tree 2", "plan", "6.8.5", "code 2", 20};
    char *text = advice_beside("moved.db", old, now, CONFIRM_NOT_ASKED, moved);
    holds(text,
          "**Measure again on the earlier GPU (`\"gpus\"` in the plan)**, if the node still has it: 1 cell");
    lacks(text, "Use at least 5");
    free(text);
    text = advice_beside("stayed.db", old, now, CONFIRM_NOT_ASKED, stayed);
    lacks(text, "Use at least 5");
    free(text);
    text = advice_beside("stayed_nights.db", old, now, CONFIRM_NOT_ASKED, stayed_by_nights);
    lacks(text, "between nights");
    lacks(text, "Use at least 5");
    free(text);
    text = advice_beside("disputed.db", old, now, CONFIRM_NOT_ASKED, disputed_by_nights);
    lacks(text, "between nights");
    holds(text, "Use at least 5");
    free(text);
}

static size_t place_of(const char *text, const char *words)
{
    const char *at = strstr(text, words);
    if (!at)
        fail_msg("\"%s\" is missing in:\n%s", words, text);
    return (size_t)(at - text);
}

TEST(verdicts_come_first_and_raw_data_last)
{
    AUTO(store_close) struct store s = open_store("order.db");
    struct report_request req = report_defaults();
    store_side(&s, 1, &old);
    store_side(&s, 2, &(struct side){"tree 2", "plan", "6.10.0", "code 2", 20});
    req.against = "night-0001";
    for (enum report_kind kind = 0; kind < REPORT_KIND_COUNT; kind++) {
        req.kind = kind;
        AUTO_FREE char *text = render(&s, req);
        size_t verdicts = place_of(text, "## Comparison with an earlier run"),
               steps = place_of(text, "## Next steps"), record = place_of(text, "## For the record"),
               node = place_of(text, "### Node");
        assert_true(place_of(text, "## Executive summary") < verdicts);
        assert_true(verdicts < steps && steps < record && record < node);
        assert_true(place_of(text, "## Test configuration") < record);
        lacks(text, "## Key metrics\n\n## ");
        assert_null(memmem(text, record, "SHA-256", 7));
    }
}

GROUP(scratch_make, scratch_remove);
