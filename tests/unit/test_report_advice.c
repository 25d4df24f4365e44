/* Advice: each sentence names what it rests on. The runs here are built so that a sentence would be wrong if
 * it rested on less. */
#include "tests/unit/advice_support.h"

#include "results/store/baseline.h"

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

static void what_is_no_speed_is_better_or_worse(void **state)
{
    struct store s = open_store("energy.db");
    static const struct metric_definition energy = {
        .name = "energy", .unit = "J", .better = METRIC_LESS, .primary = true};
    struct draft d;
    struct err err = {0};
    (void)state;
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

/* A report of one measured run whose plan is this. */
static char *measured_by(const char *db, const char *plan, enum report_lang lang)
{
    struct draft d;
    draft_night(&d, 1);
    draft_shot(&d, "base", 256, 1, 1);
    d.plan = strdup(plan);
    return render_draft(db, &d, lang);
}

static void what_was_to_be_compared_with_nothing_lacks_no_baseline(void **state)
{
    (void)state;
    char *text = measured_by("alone.db", "{}", REPORT_EN);
    holds(text, "- **Measured.**\n");
    lacks(text, "baseline");
    free(text);
    text = measured_by("alone_es.db", "{}", REPORT_ES);
    holds(text, "- **Medido.**\n");
    free(text);
}

static void a_baseline_that_nobody_has_set_is_named_with_the_command_that_sets_it(void **state)
{
    (void)state;
    char *text = measured_by("unset.db", "{\"baseline\": \"main\"}", REPORT_EN);
    holds(text,
          "- **Measured.** The plan's baseline `main` is not set on `192.0.2.10`: `kernsweep baseline set "
          "main night-0001` makes this run the baseline.\n");
    free(text);
}

static void a_baseline_that_is_set_is_not_called_unset(void **state)
{
    struct store s = open_store("set.db");
    struct err err = {0};
    struct draft d;
    (void)state;
    draft_night(&d, 1);
    draft_shot(&d, "base", 256, 1, 1);
    d.plan = strdup("{\"baseline\": \"main\"}");
    assert_ok(baseline_set(&s, "main", must_store(&s, &d), false, &err), &err);
    char *text = render(&s, report_defaults());
    holds(text, "- **Measured.**\n");
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_variant_that_ran_at_one_context_of_three_is_not_the_fastest),
        cmocka_unit_test(a_context_that_failed_is_not_as_fast_as_the_reference),
        cmocka_unit_test(a_context_at_which_the_reference_failed_tells_no_speed),
        cmocka_unit_test(what_failed_is_in_no_count_of_contexts),
        cmocka_unit_test(the_fastest_is_faster_by_more_than_the_noise),
        cmocka_unit_test(the_fastest_is_so_among_those_that_were_measured),
        cmocka_unit_test(a_variant_that_failed_is_not_among_those_that_the_fastest_beats),
        cmocka_unit_test(errors_are_said_to_be_those_that_the_program_reported),
        cmocka_unit_test(what_is_no_speed_is_better_or_worse),
        cmocka_unit_test(a_step_that_the_repetitions_explain_is_not_blamed_on_the_kernel),
        cmocka_unit_test(shapes_of_different_batches_are_not_summed_into_advice),
        cmocka_unit_test(the_evidence_is_of_the_kernel_that_ran),
        cmocka_unit_test(scratch_is_a_spill_only_if_the_compiler_counted_one),
        cmocka_unit_test(a_spill_that_only_some_of_the_fitting_kernels_have_is_no_advice),
        cmocka_unit_test(without_a_recorded_launch_no_kernel_of_several_is_blamed),
        cmocka_unit_test(an_import_without_exit_codes_is_not_said_to_have_exited),
        cmocka_unit_test(a_run_in_which_nothing_succeeded_advises_to_mend_it_alone),
        cmocka_unit_test(what_was_to_be_compared_with_nothing_lacks_no_baseline),
        cmocka_unit_test(a_baseline_that_nobody_has_set_is_named_with_the_command_that_sets_it),
        cmocka_unit_test(a_baseline_that_is_set_is_not_called_unset),
        cmocka_unit_test(a_blocked_run_measured_nothing_and_says_why),
        cmocka_unit_test(a_blocked_run_without_a_stored_reason_claims_none),
        cmocka_unit_test(a_run_that_was_cancelled_before_its_tests_measured_nothing),
        cmocka_unit_test(a_blocked_run_is_no_regression),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
