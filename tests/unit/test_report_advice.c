/* Advice: each sentence names what it rests on. The runs here are built so that a sentence would be wrong if
 * it rested on less: who is told to look in the code when the node changed has lost a day. */
#include "reports/report.h"
#include "results/query/find_run.h"
#include "tests/unit/results_support.h"

struct side {
    const char *source, *plan, *driver; /* "" : not recorded */
    const char *code;                   /* code identity of the variant, or "" */
    double prefill_s;
};

static void set_hash(char *out, const char *of)
{
    if (*of)
        sha256_of(of, strlen(of), out);
}

static int64_t store_side(struct store *s, int night, const struct side *side)
{
    struct err err = {0};
    struct draft d;
    draft_night(&d, night);
    set_hash(d.info.source_sha256, side->source);
    set_hash(d.info.plan_sha256, side->plan);
    if (*side->driver)
        assert_ok(draft_add_fact(&d, "driver", side->driver, &err), &err);
    draft_shot(&d, "v3", 4096, 1, side->prefill_s);
    set_hash(d.variants[0].code_sha256, side->code);
    d.variants[0].code_of_device = *side->code;
    return must_store(s, &d);
}

/* The document, to be free()d. */
static char *render(struct store *s, struct report_request req)
{
    struct err err = {0};
    struct buf out;
    req.store = s;
    req.run = "latest";
    buf_init(&out, REPORT_BYTES_MAX);
    assert_ok(report_render(&req, &out, &err), &err);
    return buf_steal(&out);
}

static void holds(const char *text, const char *words)
{
    if (!strstr(text, words))
        fail_msg("\"%s\" is missing in:\n%s", words, text);
}

static void lacks(const char *text, const char *words)
{
    if (strstr(text, words))
        fail_msg("\"%s\" stands in:\n%s", words, text);
}

/* As confirm_judge() does. */
static void confirm(struct comparison *c, struct delta *d, enum confirmation how)
{
    d->confirmation = how;
    if (how != CONFIRM_NODE)
        return;
    d->verdict = VERDICT_NOISY;
    c->verdicts[VERDICT_REGRESSED]--;
    c->verdicts[VERDICT_NOISY]++;
    c->node_cells++;
}

/* What a report advises when v3 is slower than in the base, and how confirming ended. edit: what else the
 * comparison found; may be NULL. */
static char *advice_beside(const char *db, struct side before, struct side now, enum confirmation how,
                           void (*edit)(struct comparison *c))
{
    struct store s = open_store(db);
    struct report_request req = report_defaults();
    struct run_data run;
    struct against against;
    struct comparison c;
    struct err err = {0};
    int64_t base = store_side(&s, 1, &before);
    store_side(&s, 2, &now);
    assert_ok(store_load_run(&s, "latest", &run, &err), &err);
    assert_ok(against_run(&s, &run, base, &req.compare, &against, &err), &err);
    assert_ok(against_compare(&against, &run, &c, &err), &err);
    assert_int_equal(c.verdicts[VERDICT_REGRESSED], 1);
    for (size_t i = 0; i < c.count; i++)
        if (c.deltas[i].verdict == VERDICT_REGRESSED)
            confirm(&c, &c.deltas[i], how);
    if (edit)
        edit(&c);
    req.held_against = &against;
    req.comparison = &c;
    char *text = render(&s, req);
    comparison_release(&c);
    against_release(&against);
    run_data_release(&run);
    store_close(&s);
    return text;
}

static char *advice(const char *db, struct side before, struct side now, enum confirmation how)
{
    return advice_beside(db, before, now, how, NULL);
}

static const struct side old = {"tree 1", "plan", "6.8.5", "code 1", 10};

static void a_change_of_the_sources_that_was_confirmed_is_looked_for_in_the_code(void **state)
{
    (void)state;
    char *text =
        advice("confirmed.db", old, (struct side){"tree 2", "plan", "6.8.5", "code 2", 20}, CONFIRM_STANDS);
    holds(text, "**Look for the change in the code**: 1 cell regressed");
    holds(text, "both builds were measured again, alternately");
    lacks(text, "Use at least 5");
    lacks(text, "not necessarily the code");
    lacks(text, "recorded fact");
    free(text);
}

static void a_change_of_the_sources_alone_is_likely_the_cause_and_is_to_be_confirmed(void **state)
{
    (void)state;
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
        c->deltas[i].other_plan = true;
}

static void what_the_plan_changed_is_not_to_be_confirmed(void **state)
{
    (void)state;
    char *text = advice_beside("plan.db", old, (struct side){"tree 1", "plan 2", "6.8.5", "code 2", 20},
                               CONFIRM_NOT_ASKED, other_plan);
    holds(text, "**Look at what the plan changed**: 1 cell regressed");
    lacks(text, "Look for the change in the code");
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
}

static void slower_node_as_confirmed(struct comparison *c)
{
    slower_for_unknown_reasons(c);
    c->shift.confirmed = SHIFT_NODE;
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

static void what_all_cells_lost_is_the_first_step(void **state)
{
    (void)state;
    const struct side now = {"tree 2", "plan", "6.10.0", "code 2", 20};
    char *text = advice_beside("shift_node.db", old, now, CONFIRM_STANDS, slower_node);
    holds(text, "## Next steps\n\n- **Find out what changed on the node**: cells whose code is the same are "
                "8 % slower together. "
                "Recorded facts that differ: driver.");
    free(text);
    text = advice_beside("shift_code.db", old, now, CONFIRM_STANDS, slower_shared_code);
    holds(text, "**Look for the change in code that the variants share**: they are 8 % slower together");
    free(text);
    text = advice_beside("shift_open.db", old, now, CONFIRM_STANDS, slower_for_unknown_reasons);
    holds(text, "**Measure both builds alternately (`--confirm`)**: the cells are 8 % slower together");
    free(text);
    text = advice_beside("shift_confirmed.db", old, now, CONFIRM_STANDS, slower_node_as_confirmed);
    holds(text,
          "**Find out what changed on the node**: the cells are 8 % slower together, and the old build");
    lacks(text, "whose code is the same are");
    free(text);
    text = advice_beside("shift_mixed.db", old, now, CONFIRM_STANDS, slower_than_a_mixed_base);
    holds(text, "**Find out what the cells share that changed**: they are 8 % slower together");
    lacks(text, "**Measure both builds alternately");
    free(text);
    text = advice_beside("shift_faster.db", old, now, CONFIRM_STANDS, faster_node);
    lacks(text, "slower together");
    free(text);
}

static void where_nothing_changed_nobody_is_sent_into_the_code(void **state)
{
    (void)state;
    char *text =
        advice("nothing.db", old, (struct side){"tree 1", "plan", "6.8.5", "code 1", 20}, CONFIRM_NOT_ASKED);
    lacks(text, "Look for the change in the code");
    holds(text, "1 cell regressed, although the device code and every recorded fact are the same");
    free(text);
}

static void sources_that_changed_without_changing_the_code_are_not_the_cause(void **state)
{
    (void)state;
    char *text =
        advice("comment.db", old, (struct side){"tree 2", "plan", "6.8.5", "code 1", 20}, CONFIRM_NOT_ASKED);
    lacks(text, "Look for the change in the code");
    holds(text, "although the device code and every recorded fact are the same");
    free(text);
}

static void a_node_that_changed_is_named_with_its_facts(void **state)
{
    (void)state;
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

static void where_both_changed_neither_is_blamed(void **state)
{
    (void)state;
    char *text =
        advice("both.db", old, (struct side){"tree 2", "plan", "6.10.0", "code 2", 20}, CONFIRM_NOT_ASKED);
    lacks(text, "Look for the change in the code");
    holds(text,
          "**Measure both builds alternately (`--confirm`)**: 1 cell regressed, and both the device code and "
          "recorded facts (driver) differ");
    free(text);
}

static void without_records_the_cause_is_said_to_be_unknown(void **state)
{
    const struct side bare = {"", "", "", "", 10};
    (void)state;
    char *text = advice("bare.db", bare, (struct side){"", "", "", "", 20}, CONFIRM_NOT_ASKED);
    lacks(text, "Look for the change in the code");
    holds(text, "so the cause cannot be determined");
    free(text);
}

static void nights_alone_do_not_tell_the_cause(void **state)
{
    struct store s = open_store("nights.db");
    (void)state;
    for (int night = 1; night <= 10; night++) {
        struct side side = old;
        side.prefill_s = (night < 10 ? 10 : 20) + 0.01 * (night % 4);
        store_side(&s, night, &side);
    }
    char *text = render(&s, report_defaults());
    holds(text, "1 regressed");
    lacks(text, "Look for the change in the code");
    lacks(text, "no recorded fact");
    holds(text, "**Compare this run with the last good one (`kernsweep compare`)**: 1 cell regressed");
    free(text);
    store_close(&s);
}

/* v3 is faster than the others where it ran, which is at one context of three. */
static void a_variant_that_ran_at_one_context_of_three_is_not_the_fastest(void **state)
{
    struct store s = open_store("one_of_three.db");
    struct draft d;
    (void)state;
    draft_night(&d, 1);
    for (int context = 256; context <= 1024; context *= 2) {
        draft_shot(&d, "baseline", context, 1, context / 100.0);
        draft_shot(&d, "v4", context, 1, context / 90.0);
    }
    draft_shot(&d, "v3", 256, 1, 1);
    draft_shot(&d, "slow", 256, 1, 20);
    must_store(&s, &d);
    char *text = render(&s, report_defaults());
    lacks(text, "Optimise `v3` first");
    lacks(text, "Disable `slow` by default");
    lacks(text, "`slow` is 7.81x slower than `baseline` at every context");
    free(text);
    store_close(&s);
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

static char *render_draft(const char *db, struct draft *d, enum report_lang lang)
{
    struct store s = open_store(db);
    struct report_request req = report_defaults();
    req.langs[0] = lang;
    req.reference = "base";
    must_store(&s, d);
    char *text = render(&s, req);
    store_close(&s);
    return text;
}

static void a_context_that_failed_is_not_as_fast_as_the_reference(void **state)
{
    struct draft d;
    (void)state;
    draft_one_failure(&d, 1);
    char *text = render_draft("failed_once.db", &d, REPORT_EN);
    lacks(text, "as fast as");
    lacks(text, "- `slow` is");
    holds(text, "- `slow` at 256: **FAIL");
    free(text);
    draft_one_failure(&d, 1);
    text = render_draft("failed_once_es.db", &d, REPORT_ES);
    lacks(text, "igual de rápida");
    holds(text, "- `slow` con 256: **FAIL");
    free(text);
}

static void a_context_at_which_the_reference_failed_tells_no_speed(void **state)
{
    struct draft d;
    (void)state;
    draft_night(&d, 1);
    for (int i = 1; i <= 3; i++) {
        if (i == 2)
            draft_failure(&d, "base", 256, i, 1);
        else
            draft_shot(&d, "base", 256, i, 1);
        draft_shot(&d, "slow", 256, i, 4);
    }
    char *text = render_draft("failed_base.db", &d, REPORT_EN);
    lacks(text, "- `slow` is");
    holds(text, "- `base` at 256: **FAIL");
    free(text);
}

static void what_failed_is_in_no_count_of_contexts(void **state)
{
    struct draft d;
    (void)state;
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

static void the_fastest_is_faster_by_more_than_the_noise(void **state)
{
    struct store s = open_store("close.db");
    struct draft d;
    (void)state;
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
    store_close(&s);
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

static void the_fastest_is_so_among_those_that_were_measured(void **state)
{
    struct draft d;
    (void)state;
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
    holds(text, "es la más rápida de las 2 a 3 variantes que están OK con 256, 512, 1024.");
    free(text);
}

static void a_variant_that_failed_is_not_among_those_that_the_fastest_beats(void **state)
{
    struct draft d;
    (void)state;
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

static void a_step_that_the_repetitions_explain_is_not_blamed_on_the_kernel(void **state)
{
    struct store s = open_store("step.db");
    struct draft d;
    (void)state;
    draft_night(&d, 1);
    draft_shot(&d, "baseline", 256, 1, 0.036);
    draft_shot(&d, "baseline", 256, 2, 0.050);
    draft_shot(&d, "baseline", 512, 1, 0.190);
    draft_shot(&d, "baseline", 512, 2, 0.204);
    draft_shot(&d, "v3", 256, 1, 0.0360);
    draft_shot(&d, "v3", 256, 2, 0.0361);
    draft_shot(&d, "v3", 512, 1, 0.190);
    draft_shot(&d, "v3", 512, 2, 0.191);
    must_store(&s, &d);
    char *text = render(&s, report_defaults());
    lacks(text, "**Profile `baseline`");
    lacks(text, "The time of `baseline` grows faster");
    holds(text, "**Profile `v3` between contexts 256 and 512**");
    free(text);
    store_close(&s);
}

struct launch_of {
    const char *variant;
    int context, repetition;
    double ms, batch, threads, lds;
};

static void draft_launch(struct draft *d, struct launch_of l)
{
    const struct {
        const char *name;
        double value;
    } extras[] = {{"batch", l.batch},           {"heads", 8},           {"seq", l.context},
                  {"block_threads", l.threads}, {"query_threads", 256}, {"dynamic_lds_bytes", l.lds}};
    struct err err = {0};
    draft_shot(d, l.variant, l.context, l.repetition, l.ms / 1e3);
    for (size_t i = 0; i < COUNT(extras); i++)
        assert_ok(draft_add_extra(&d->tests[d->n_tests - 1], extras[i].name, extras[i].value, &err), &err);
}

/* One cell whose repetitions are of batch 1 and 8: their median is of nothing. */
static void shapes_of_different_batches_are_not_summed_into_advice(void **state)
{
    struct store s = open_store("batches.db");
    struct draft d;
    (void)state;
    draft_night(&d, 1);
    for (int i = 1; i <= 2; i++) {
        draft_launch(&d, (struct launch_of){"baseline", 512, i, 1, 1, 384, 0});
        draft_launch(&d, (struct launch_of){"v3", 512, i, i == 1 ? 1 : 8, i == 1 ? 1 : 8, 384, 0});
    }
    must_store(&s, &d);
    char *text = render(&s, report_defaults());
    lacks(text, "**Disable `v3`");
    lacks(text, "`v3` is 4.50x slower");
    holds(text, "`v3` at 512: its repetitions have different shapes");
    free(text);
    store_close(&s);
}

static struct run_file *add_file(struct draft *d, const char *body)
{
    d->details.files = reallocarray(d->details.files, d->details.n_files + 1, sizeof *d->details.files);
    struct run_file *f = &d->details.files[d->details.n_files++];
    *f = (struct run_file){.size = (int64_t)strlen(body), .body = strdup(body)};
    sha256_of(body, strlen(body), f->sha256);
    return f;
}

/* Any program may print rel_l2: what it compared with is not known. */
static void errors_are_said_to_be_those_that_the_program_reported(void **state)
{
    struct err err = {0};
    struct draft d;
    (void)state;
    for (enum report_lang lang = 0; lang < REPORT_LANG_COUNT; lang++) {
        char name[32];
        snprintf(name, sizeof name, "accuracy%d.db", (int)lang);
        draft_night(&d, 1);
        draft_shot(&d, "base", 256, 1, 1);
        assert_ok(draft_add_extra(&d.tests[d.n_tests - 1], "rel_l2", 1e-6, &err), &err);
        char *text = render_draft(name, &d, lang);
        holds(text, lang == REPORT_EN ? "## Correctness" : "## Corrección");
        holds(text, lang == REPORT_EN
                        ? "As the program itself reported them, against a reference of its own."
                        : "Tal como los comunicó el propio programa, frente a una referencia propia.");
        lacks(text, "fp64");
        lacks(text, "NaN");
        free(text);
    }
}

static void add_resources(struct draft *d, const char *variant, const char *body)
{
    struct run_file *f = add_file(d, body);
    snprintf(f->path, sizeof f->path, "%s/resources.json", variant);
}

#define KERNEL(name, scratch, threads, lds) KERNEL_SPILLS("\"vgpr_spills\":2,", name, scratch, threads, lds)
#define KERNEL_SPILLS(spills, name, scratch, threads, lds)                                                   \
    "{\"name\":\"" name "\",\"vgprs\":40," spills "\"scratch_bytes\":" #scratch ",\"lds_static_bytes\":0,"   \
    "\"lds_dynamic_bytes\":" #lds ",\"block_threads\":" #threads ",\"query_threads\":256}"
#define RESOURCES(kernels)                                                                                   \
    "{\"schema\":\"kernsweep.resources/1\",\"arch\":\"sm_90a\",\"kernels\":[" kernels "]}"

/* The build has a kernel that spills 1024 bytes; the one that was launched spills 8. */
static void the_evidence_is_of_the_kernel_that_ran(void **state)
{
    struct store s = open_store("launched.db");
    struct report_request req = report_defaults();
    struct draft d;
    (void)state;
    draft_night(&d, 1);
    draft_launch(&d, (struct launch_of){"v5", 512, 1, 1, 1, 384, 197716});
    add_resources(&d, "v5",
                  RESOURCES(KERNEL("attend", 8, 384, 197716) "," KERNEL("tiling", 1024, 32, 32768)));
    must_store(&s, &d);
    req.kind = REPORT_KERNEL;
    char *text = render(&s, req);
    holds(text, "**Eliminate the register spill of `v5`**: the kernel that ran uses 8 bytes of local memory");
    lacks(text, "1024");
    lacks(text, "`tiling`");
    holds(text, "Of the 2 kernels of its build, the recorded launches fit 1,");
    free(text);
    store_close(&s);
}

static void scratch_is_a_spill_only_if_the_compiler_counted_one(void **state)
{
    static const struct {
        const char *resources, *step, *evidence;
    } cases[] = {
        {RESOURCES(KERNEL_SPILLS("\"vgpr_spills\":128,", "attend", 512, 384, 0)),
         "**Eliminate the register spill", "**Register spill:** `attend` uses 512 bytes"},
        {RESOURCES(KERNEL_SPILLS("\"vgpr_spills\":1,", "attend", 8, 384, 0)),
         "**Eliminate the register spill", "**Register spill:** `attend` uses 8 bytes"},
        {RESOURCES(KERNEL_SPILLS("\"vgpr_spills\":2,", "attend", 512, 384, 0)),
         "**Keep the variables of `v5`", "Spilled registers take only a part of this memory"},
        {RESOURCES(KERNEL_SPILLS("\"vgpr_spills\":0,\"sgpr_spills\":3,", "attend", 512, 384, 0)),
         "**Keep the variables of `v5`", "what was recorded does not tell"},
        {RESOURCES(KERNEL_SPILLS("\"vgpr_spills\":0,", "attend", 512, 384, 0)),
         "**Keep the variables of `v5`", "this memory holds arrays that are indexed at run time"},
        {RESOURCES(KERNEL_SPILLS("", "attend", 512, 384, 0)), "**Keep the variables of `v5`",
         "what was recorded does not tell"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        char name[32];
        snprintf(name, sizeof name, "scratch%zu.db", i);
        struct store s = open_store(name);
        struct report_request req = report_defaults();
        struct draft d;
        draft_night(&d, 1);
        draft_launch(&d, (struct launch_of){"v5", 512, 1, 1, 1, 384, 0});
        add_resources(&d, "v5", cases[i].resources);
        must_store(&s, &d);
        req.kind = REPORT_KERNEL;
        char *text = render(&s, req);
        holds(text, cases[i].step);
        holds(text, cases[i].evidence);
        if (!strstr(cases[i].step, "spill")) {
            lacks(text, "**Eliminate the register spill");
            lacks(text, "**Register spill:**");
        }
        free(text);
        store_close(&s);
    }
}

static void a_spill_that_only_some_of_the_fitting_kernels_have_is_no_advice(void **state)
{
    struct store s = open_store("fit.db");
    struct report_request req = report_defaults();
    struct draft d;
    (void)state;
    draft_night(&d, 1);
    draft_launch(&d, (struct launch_of){"v5", 512, 1, 1, 1, 384, 197716});
    add_resources(&d, "v5", RESOURCES(KERNEL("plain", 0, 384, 197716) "," KERNEL("split", 8, 384, 197716)));
    must_store(&s, &d);
    req.kind = REPORT_KERNEL;
    char *text = render(&s, req);
    lacks(text, "**Eliminate the register spill");
    lacks(text, "**Keep the variables");
    free(text);
    store_close(&s);
}

static void without_a_recorded_launch_no_kernel_of_several_is_blamed(void **state)
{
    struct store s = open_store("unrecorded.db");
    struct report_request req = report_defaults();
    struct draft d;
    (void)state;
    draft_night(&d, 1);
    draft_shot(&d, "v5", 512, 1, 1);
    add_resources(&d, "v5", RESOURCES(KERNEL("attend", 0, 384, 0) "," KERNEL("tiling", 1024, 32, 32768)));
    must_store(&s, &d);
    req.kind = REPORT_REGRESSION;
    char *text = render(&s, req);
    lacks(text, "**Eliminate the register spill");
    lacks(text, "**Keep the variables");
    holds(text, "Which of the 2 kernels of its build ran was not recorded");
    free(text);
    store_close(&s);
}

/* Nights vary more than a run does: more repetitions would change nothing. */
static void inconclusive_nights_are_not_sent_for_more_repetitions(void **state)
{
    struct store s = open_store("varies.db");
    static const double nightly[] = {10, 13, 9, 14, 11, 8, 12, 15, 10, 13};
    (void)state;
    for (int night = 0; night < (int)COUNT(nightly); night++) {
        struct side side = old;
        side.prefill_s = nightly[night];
        store_side(&s, night + 1, &side);
    }
    char *text = render(&s, report_defaults());
    holds(text, "**Inconclusive** against the previous 9 nights: 1 inconclusive");
    lacks(text, "No regression");
    lacks(text, "Use at least 5 repetitions");
    lacks(text, "noisy");
    holds(text, "**Find out why this cell varies between nights**");
    free(text);
    store_close(&s);
}

static void an_import_without_exit_codes_is_not_said_to_have_exited(void **state)
{
    struct store s = open_store("import.db");
    struct draft d;
    (void)state;
    draft_night(&d, 1);
    snprintf(d.info.origin, sizeof d.info.origin, "import");
    draft_shot(&d, "a", 8192, 1, 1);
    draft_shot(&d, "a", 16384, 1, 2);
    draft_shot(&d, "a", 16384, 2, 2);
    draft_shot(&d, "b", 16384, 1, 2);
    draft_shot(&d, "a", 32768, 1, 4);
    must_store(&s, &d);
    char *text = render(&s, report_defaults());
    lacks(text, "exited cleanly");
    holds(text, "exit codes were not recorded");
    holds(text, "1 at 8192, 1 to 2 at 16384, 1 at 32768");
    lacks(text, "nan");
    free(text);
    store_close(&s);
}

static void a_run_in_which_nothing_succeeded_advises_to_mend_it_alone(void **state)
{
    struct store s = open_store("failed.db");
    struct draft d;
    (void)state;
    draft_night(&d, 1);
    snprintf(d.info.origin, sizeof d.info.origin, "import");
    for (int i = 1; i <= 3; i++) {
        struct run_test *t = draft_shot(&d, "false", 0, i, 1);
        t->status = STATUS_FAIL;
        t->value[METRIC_PREFILL_S] = t->value[METRIC_WALL_S] = (double)NAN;
    }
    must_store(&s, &d);
    char *text = render(&s, report_defaults());
    holds(text, "**Fix `false`**: its status is FAIL; what is known of the reason is under Validation.");
    lacks(text, "by default");
    lacks(text, "among the artifacts");
    free(text);
    store_close(&s);
}

/* A run that could not lock the node: it has a plan and no tests. */
static void draft_blocked(struct draft *d, const char *summary)
{
    struct err err = {0};
    draft_night(d, 1);
    d->info.status = RUN_BLOCKED;
    struct run_variant *v = draft_add_variant(d, "base", &err);
    assert_non_null(v);
    v->build_wall_s = 0;
    if (summary)
        snprintf(add_file(d, summary)->path, DETAILS_PATH_MAX, "summary.json");
}

static void a_blocked_run_measured_nothing_and_says_why(void **state)
{
    static const char summary[] = "{\"status\":\"BLOCKED\",\"reason\":\"this node is used by another run\"}";
    struct draft d;
    (void)state;
    draft_blocked(&d, summary);
    char *text = render_draft("blocked.db", &d, REPORT_EN);
    holds(text, "- **The run is incomplete (BLOCKED).** The reason: `this node is used by another run`.");
    holds(text, "- **There are no measurements.**");
    holds(text, "No test has a result.");
    lacks(text, "**Measured**");
    lacks(text, "0 of 0");
    lacks(text, "exited cleanly");
    lacks(text, "| Status | Tests |");
    lacks(text, "## Build verification");
    free(text);
    draft_blocked(&d, summary);
    text = render_draft("blocked_es.db", &d, REPORT_ES);
    holds(text, "El motivo: `this node is used by another run`.");
    holds(text, "**No hay mediciones.**");
    holds(text, "Ninguna prueba tiene resultado.");
    lacks(text, "**Medido**");
    free(text);
}

static void a_blocked_run_without_a_stored_reason_claims_none(void **state)
{
    struct draft d;
    (void)state;
    draft_blocked(&d, NULL);
    char *text = render_draft("blocked_bare.db", &d, REPORT_EN);
    holds(text, "- **The run is incomplete (BLOCKED).**\n");
    holds(text, "- **There are no measurements.**");
    lacks(text, "The reason");
    free(text);
}

static void a_run_that_was_cancelled_before_its_tests_measured_nothing(void **state)
{
    struct draft d;
    (void)state;
    draft_night(&d, 1);
    d.info.status = RUN_CANCELLED;
    struct run_test *t = draft_shot(&d, "base", 256, 1, 1);
    t->status = STATUS_CANCELLED;
    t->value[METRIC_PREFILL_S] = t->value[METRIC_WALL_S] = (double)NAN;
    char *text = render_draft("cancelled.db", &d, REPORT_EN);
    holds(text, "- **There are no measurements.**");
    lacks(text, "**Measured**");
    free(text);
}

/* What the base has and a blocked run lacks is missing, not slower. */
static void a_blocked_run_is_no_regression(void **state)
{
    struct store s = open_store("blocked_base.db");
    struct report_request req = report_defaults();
    struct draft d;
    (void)state;
    draft_night(&d, 1);
    draft_shot(&d, "base", 256, 1, 1);
    must_store(&s, &d);
    draft_blocked(&d, NULL);
    snprintf(d.info.run_id, sizeof d.info.run_id, "night-0002");
    snprintf(d.info.started_at, sizeof d.info.started_at, "2026-12-02T03:00:00.000Z");
    must_store(&s, &d);
    req.against = "night-0001";
    char *text = render(&s, req);
    holds(text, "- **There are no measurements.**");
    lacks(text, "**Regression**");
    free(text);
    store_close(&s);
}

static size_t place_of(const char *text, const char *words)
{
    const char *at = strstr(text, words);
    if (!at)
        fail_msg("\"%s\" is missing in:\n%s", words, text);
    return (size_t)(at - text);
}

static void verdicts_come_first_and_raw_data_last(void **state)
{
    struct store s = open_store("order.db");
    struct report_request req = report_defaults();
    (void)state;
    store_side(&s, 1, &old);
    store_side(&s, 2, &(struct side){"tree 2", "plan", "6.10.0", "code 2", 20});
    req.against = "night-0001";
    for (enum report_kind kind = 0; kind < REPORT_KIND_COUNT; kind++) {
        req.kind = kind;
        char *text = render(&s, req);
        size_t verdicts = place_of(text, "## Comparison with an earlier run"),
               steps = place_of(text, "## Next steps"), record = place_of(text, "## For the record"),
               node = place_of(text, "### Node");
        assert_true(place_of(text, "## Executive summary") < verdicts);
        assert_true(verdicts < steps && steps < record && record < node);
        assert_true(place_of(text, "## Test configuration") < record);
        lacks(text, "## Key metrics\n\n## ");
        assert_null(memmem(text, record, "SHA-256", 7));
        free(text);
    }
    store_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_change_of_the_sources_that_was_confirmed_is_looked_for_in_the_code),
        cmocka_unit_test(a_change_of_the_sources_alone_is_likely_the_cause_and_is_to_be_confirmed),
        cmocka_unit_test(what_the_plan_changed_is_not_to_be_confirmed),
        cmocka_unit_test(what_all_cells_lost_is_the_first_step),
        cmocka_unit_test(where_nothing_changed_nobody_is_sent_into_the_code),
        cmocka_unit_test(sources_that_changed_without_changing_the_code_are_not_the_cause),
        cmocka_unit_test(a_node_that_changed_is_named_with_its_facts),
        cmocka_unit_test(where_both_changed_neither_is_blamed),
        cmocka_unit_test(without_records_the_cause_is_said_to_be_unknown),
        cmocka_unit_test(nights_alone_do_not_tell_the_cause),
        cmocka_unit_test(a_variant_that_ran_at_one_context_of_three_is_not_the_fastest),
        cmocka_unit_test(a_context_that_failed_is_not_as_fast_as_the_reference),
        cmocka_unit_test(a_context_at_which_the_reference_failed_tells_no_speed),
        cmocka_unit_test(what_failed_is_in_no_count_of_contexts),
        cmocka_unit_test(the_fastest_is_faster_by_more_than_the_noise),
        cmocka_unit_test(the_fastest_is_so_among_those_that_were_measured),
        cmocka_unit_test(a_variant_that_failed_is_not_among_those_that_the_fastest_beats),
        cmocka_unit_test(errors_are_said_to_be_those_that_the_program_reported),
        cmocka_unit_test(a_step_that_the_repetitions_explain_is_not_blamed_on_the_kernel),
        cmocka_unit_test(shapes_of_different_batches_are_not_summed_into_advice),
        cmocka_unit_test(the_evidence_is_of_the_kernel_that_ran),
        cmocka_unit_test(scratch_is_a_spill_only_if_the_compiler_counted_one),
        cmocka_unit_test(a_spill_that_only_some_of_the_fitting_kernels_have_is_no_advice),
        cmocka_unit_test(without_a_recorded_launch_no_kernel_of_several_is_blamed),
        cmocka_unit_test(inconclusive_nights_are_not_sent_for_more_repetitions),
        cmocka_unit_test(an_import_without_exit_codes_is_not_said_to_have_exited),
        cmocka_unit_test(a_run_in_which_nothing_succeeded_advises_to_mend_it_alone),
        cmocka_unit_test(a_blocked_run_measured_nothing_and_says_why),
        cmocka_unit_test(a_blocked_run_without_a_stored_reason_claims_none),
        cmocka_unit_test(a_run_that_was_cancelled_before_its_tests_measured_nothing),
        cmocka_unit_test(a_blocked_run_is_no_regression),
        cmocka_unit_test(verdicts_come_first_and_raw_data_last),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
