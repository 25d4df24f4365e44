/* Advice on kernels: each sentence names what it rests on. The runs here are built so that a sentence would
 * be wrong if it rested on less. */
#include "tests/unit/advice_support.h"

TEST(a_step_that_the_repetitions_explain_is_not_blamed_on_the_kernel)
{
    AUTO(store_close) struct store s = open_store("step.db");
    struct draft d;
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
    AUTO_FREE char *text = render(&s, report_defaults());
    lacks(text, "**Profile `baseline`");
    lacks(text, "The time of `baseline` grows faster");
    holds(text, "**Profile `v3` between contexts 256 and 512**");
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
TEST(shapes_of_different_batches_are_not_summed_into_advice)
{
    AUTO(store_close) struct store s = open_store("batches.db");
    struct draft d;
    draft_night(&d, 1);
    for (int i = 1; i <= 2; i++) {
        draft_launch(&d, (struct launch_of){"baseline", 512, i, 1, 1, 384, 0});
        draft_launch(&d, (struct launch_of){"v3", 512, i, i == 1 ? 1 : 8, i == 1 ? 1 : 8, 384, 0});
    }
    must_store(&s, &d);
    AUTO_FREE char *text = render(&s, report_defaults());
    lacks(text, "**Disable `v3`");
    lacks(text, "`v3` is 4.50x slower");
    holds(text, "`v3` at 512: its repetitions have different shapes");
}

/* v3 and v4 take half and a quarter of baseline's time, for an eighth of its work. */
TEST(variants_of_different_work_are_ranked_in_no_table)
{
    AUTO(store_close) struct store s = open_store("unlike.db");
    struct draft d;
    draft_night(&d, 1);
    draft_launch(&d, (struct launch_of){"baseline", 512, 1, 4, 8, 384, 0});
    draft_launch(&d, (struct launch_of){"v3", 512, 1, 2, 1, 384, 0});
    draft_launch(&d, (struct launch_of){"v4", 512, 1, 1, 1, 384, 0});
    must_store(&s, &d);
    AUTO_FREE char *text = render(&s, report_defaults());
    holds(text, "- `v3` does different work from `baseline`");
    holds(text, "- `v4` is 2.00x faster than `v3` at 512.");
    lacks(text, "Faster  ");
    lacks(text, "4.00x");
}

/* More than a table has columns. */
TEST(whatever_a_program_printed_is_shown)
{
    struct err err = {0};
    struct draft d;
    char name[32];
    metric_forget(); /* what the tests before printed */
    draft_night(&d, 1);
    draft_shot(&d, "base", 256, 1, 1);
    for (int i = 0; i < 16; i++) {
        snprintf(name, sizeof name, "printed_%d", i);
        assert_ok(draft_add_extra(&d.tests[0], name, 1000 + i, &err), &err);
    }
    draft_shot(&d, "base", 512, 1, 1)->status = STATUS_SKIPPED;
    AUTO_FREE char *text = render_draft("printed.db", &d, REPORT_EN);
    char *values = strstr(text, "## Other values that the program printed");
    assert_non_null(values);
    char *behind = strstr(values + 1, "\n## ");
    if (behind)
        *behind = '\0';
    for (int i = 0; i < 16; i++) {
        snprintf(name, sizeof name, "| printed_%d ", i);
        holds(values, name);
        snprintf(name, sizeof name, " %d |", 1000 + i);
        holds(values, name);
    }
    lacks(values, "512");
}

TEST(the_note_on_memory_explains_only_columns_that_are_there)
{
    struct draft d;
    draft_night(&d, 1);
    draft_shot(&d, "base", 256, 1, 1)->value[METRIC_RSS_PEAK] = 1 << 22;
    AUTO_FREE char *text = render_draft("resident.db", &d, REPORT_EN);
    holds(text, "\nPeaks are medians of the repetitions.\n");
    lacks(text, "VRAM before");
    lacks(text, "Slope:");
}

/* Any program may print rel_l2: what it compared with is not known. */
TEST(errors_are_said_to_be_those_that_the_program_reported)
{
    struct err err = {0};
    struct draft d;
    for (enum report_lang lang = 0; lang < REPORT_LANG_COUNT; lang++) {
        char name[32];
        snprintf(name, sizeof name, "accuracy%d.db", (int)lang);
        draft_night(&d, 1);
        draft_shot(&d, "base", 256, 1, 1);
        assert_ok(draft_add_extra(&d.tests[d.n_tests - 1], "rel_l2", 1e-6, &err), &err);
        AUTO_FREE char *text = render_draft(name, &d, lang);
        holds(text, lang == REPORT_EN ? "## Correctness" : "## Corrección");
        holds(text, lang == REPORT_EN
                        ? "As the program itself reported them, against a reference of its own."
                        : "Tal como los comunicó el propio programa, frente a una referencia propia.");
        lacks(text, "fp64");
        lacks(text, "NaN");
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
TEST(the_evidence_is_of_the_kernel_that_ran)
{
    AUTO(store_close) struct store s = open_store("launched.db");
    struct report_request req = report_defaults();
    struct draft d;
    draft_night(&d, 1);
    draft_launch(&d, (struct launch_of){"v5", 512, 1, 1, 1, 384, 197716});
    add_resources(&d, "v5",
                  RESOURCES(KERNEL("attend", 8, 384, 197716) "," KERNEL("tiling", 1024, 32, 32768)));
    must_store(&s, &d);
    req.kind = REPORT_KERNEL;
    AUTO_FREE char *text = render(&s, req);
    holds(text, "**Eliminate the register spill of `v5`**: the kernel that ran uses 8 bytes of local memory");
    lacks(text, "1024");
    lacks(text, "`tiling`");
    holds(text, "Of the 2 kernels of its build, only 1 fits the recorded launches");
}

TEST(scratch_is_a_spill_only_if_the_compiler_counted_one)
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
    for (size_t i = 0; i < COUNT(cases); i++) {
        char name[32];
        snprintf(name, sizeof name, "scratch%zu.db", i);
        AUTO(store_close) struct store s = open_store(name);
        struct report_request req = report_defaults();
        struct draft d;
        draft_night(&d, 1);
        draft_launch(&d, (struct launch_of){"v5", 512, 1, 1, 1, 384, 0});
        add_resources(&d, "v5", cases[i].resources);
        must_store(&s, &d);
        req.kind = REPORT_KERNEL;
        AUTO_FREE char *text = render(&s, req);
        holds(text, cases[i].step);
        holds(text, cases[i].evidence);
        if (!strstr(cases[i].step, "spill")) {
            lacks(text, "**Eliminate the register spill");
            lacks(text, "**Register spill:**");
        }
    }
}

TEST(a_spill_that_only_some_of_the_fitting_kernels_have_is_no_advice)
{
    AUTO(store_close) struct store s = open_store("fit.db");
    struct report_request req = report_defaults();
    struct draft d;
    draft_night(&d, 1);
    draft_launch(&d, (struct launch_of){"v5", 512, 1, 1, 1, 384, 197716});
    add_resources(&d, "v5", RESOURCES(KERNEL("plain", 0, 384, 197716) "," KERNEL("split", 8, 384, 197716)));
    must_store(&s, &d);
    req.kind = REPORT_KERNEL;
    AUTO_FREE char *text = render(&s, req);
    lacks(text, "**Eliminate the register spill");
    lacks(text, "**Keep the variables");
}

TEST(without_a_recorded_launch_no_kernel_of_several_is_blamed)
{
    AUTO(store_close) struct store s = open_store("unrecorded.db");
    struct report_request req = report_defaults();
    struct draft d;
    draft_night(&d, 1);
    draft_shot(&d, "v5", 512, 1, 1);
    add_resources(&d, "v5", RESOURCES(KERNEL("attend", 0, 384, 0) "," KERNEL("tiling", 1024, 32, 32768)));
    must_store(&s, &d);
    req.kind = REPORT_REGRESSION;
    AUTO_FREE char *text = render(&s, req);
    lacks(text, "**Eliminate the register spill");
    lacks(text, "**Keep the variables");
    holds(text, "Which of the 2 kernels of its build ran was not recorded");
}

GROUP(scratch_make, scratch_remove);
