/* What a report says first of a run that measured nothing, or had nothing to be compared with. */
#include "tests/unit/advice_support.h"

#include "results/store/baseline.h"

TEST(an_import_without_exit_codes_is_not_said_to_have_exited)
{
    AUTO(store_close) struct store s = open_store("import.db");
    struct draft d;
    draft_night(&d, 1);
    snprintf(d.info.origin, sizeof d.info.origin, "import");
    draft_shot(&d, "a", 8192, 1, 1);
    draft_shot(&d, "a", 16384, 1, 2);
    draft_shot(&d, "a", 16384, 2, 2);
    draft_shot(&d, "b", 16384, 1, 2);
    draft_shot(&d, "a", 32768, 1, 4);
    must_store(&s, &d);
    AUTO_FREE char *text = render(&s, report_defaults());
    lacks(text, "exited cleanly");
    holds(text, "exit codes were not recorded");
    holds(text, "1 at 8192, 1 to 2 at 16384, 1 at 32768");
    lacks(text, "nan");
}

TEST(a_run_in_which_nothing_succeeded_advises_to_mend_it_alone)
{
    AUTO(store_close) struct store s = open_store("failed.db");
    struct draft d;
    draft_night(&d, 1);
    snprintf(d.info.origin, sizeof d.info.origin, "import");
    for (int i = 1; i <= 3; i++) {
        struct run_test *t = draft_shot(&d, "false", 0, i, 1);
        t->status = STATUS_FAIL;
        t->value[METRIC_PREFILL_S] = t->value[METRIC_WALL_S] = (double)NAN;
    }
    must_store(&s, &d);
    AUTO_FREE char *text = render(&s, report_defaults());
    holds(text, "**Fix `false`**: its status is FAIL; what is known of the reason is under Validation.");
    lacks(text, "by default");
    lacks(text, "among the artifacts");
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

TEST(what_was_to_be_compared_with_nothing_lacks_no_baseline)
{
    char *text = measured_by("alone.db", "{}", REPORT_EN);
    holds(text, "- **First run: nothing to compare with.**\n");
    lacks(text, "baseline");
    free(text);
    text = measured_by("alone_es.db", "{}", REPORT_ES);
    holds(text, "- **Primera ejecución: no hay nada con que compararla.**\n");
    free(text);
}

TEST(a_baseline_that_nobody_has_set_is_named_with_the_command_that_sets_it)
{
    AUTO_FREE char *text = measured_by("unset.db", "{\"baseline\": \"main\"}", REPORT_EN);
    holds(text, "- **First run: nothing to compare with.** The plan's baseline `main` is not set on "
                "`192.0.2.10`: `kernsweep baseline set "
                "main night-0001` makes this run the baseline.\n");
}

TEST(a_baseline_that_is_set_is_not_called_unset)
{
    AUTO(store_close) struct store s = open_store("set.db");
    struct err err = {0};
    struct draft d;
    draft_night(&d, 1);
    draft_shot(&d, "base", 256, 1, 1);
    d.plan = strdup("{\"baseline\": \"main\"}");
    assert_ok(baseline_set(&s, "main", must_store(&s, &d), false, &err), &err);
    AUTO_FREE char *text = render(&s, report_defaults());
    holds(text, "- **This run is the baseline: nothing to compare it with.**\n");
}

TEST(a_report_uses_the_baseline_and_the_languages_of_the_plan)
{
    AUTO(store_close) struct store s = open_store("of_plan.db");
    struct err err = {0};
    struct report_request req = report_defaults();
    for (int i = 1; i <= 2; i++) {
        struct draft d;
        draft_night(&d, i);
        draft_shot(&d, "base", 256, 1, i);
        d.plan = strdup("{\"baseline\": \"main\", \"languages\": [\"es\", \"en\"]}");
        int64_t key = must_store(&s, &d);
        if (i == 1)
            assert_ok(baseline_set(&s, "main", key, false, &err), &err);
    }
    req.run = "night-0002";
    req.n_langs = 0;
    AUTO_FREE char *text = render(&s, req);
    holds(text, "**Regresión** frente a `main`");
    holds(text, "**Regression** against `main`");
    holds(text, "## Próximos pasos");
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

TEST(a_blocked_run_measured_nothing_and_says_why)
{
    static const char summary[] = "{\"status\":\"BLOCKED\",\"reason\":\"this node is used by another run\"}";
    struct draft d;
    draft_blocked(&d, summary);
    char *text = render_draft("blocked.db", &d, REPORT_EN);
    holds(text, "- **The run is incomplete (BLOCKED).** The reason: `this node is used by another run`.");
    holds(text, "- **There are no measurements.**");
    holds(text, "No test has a result.");
    lacks(text, "nothing to compare");
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
    lacks(text, "nada con que");
    free(text);
}

TEST(a_blocked_run_without_a_stored_reason_claims_none)
{
    struct draft d;
    draft_blocked(&d, NULL);
    AUTO_FREE char *text = render_draft("blocked_bare.db", &d, REPORT_EN);
    holds(text, "- **The run is incomplete (BLOCKED).**\n");
    holds(text, "- **There are no measurements.**");
    lacks(text, "The reason");
}

TEST(a_run_that_was_cancelled_before_its_tests_measured_nothing)
{
    struct draft d;
    draft_night(&d, 1);
    d.info.status = RUN_CANCELLED;
    struct run_test *t = draft_shot(&d, "base", 256, 1, 1);
    t->status = STATUS_CANCELLED;
    t->value[METRIC_PREFILL_S] = t->value[METRIC_WALL_S] = (double)NAN;
    AUTO_FREE char *text = render_draft("cancelled.db", &d, REPORT_EN);
    holds(text, "- **There are no measurements.**");
    lacks(text, "nothing to compare");
    holds(text, "- 0 of 1 tests OK (0 failed, 1 skipped) at context 256");
    holds(text, "- **Run the plan again**: it ended with 1 of its 1 tests without a result.");
    lacks(text, "Run `base`");
}

/* What was fetched of a run that goes on, and of one that was cancelled. */
static char *cut_short(const char *db, enum run_status status, const char *ended)
{
    struct draft d;
    struct run_unmeasured left[] = {{.variant = "base", .context = 512}, {.variant = "base", .context = 512}};
    draft_night(&d, 1);
    d.info.status = status;
    snprintf(d.info.ended_at, sizeof d.info.ended_at, "%s", ended);
    draft_shot(&d, "base", 256, 1, 1)->exit_code = 0;
    if (status == RUN_CANCELLED)
        draft_shot(&d, "base", 256, 2, (double)NAN)->status = STATUS_CANCELLED;
    d.unmeasured = reallocarray(NULL, COUNT(left), sizeof *left);
    memcpy(d.unmeasured, left, sizeof left);
    d.n_unmeasured = COUNT(left);
    return render_draft(db, &d, REPORT_EN);
}

TEST(the_next_step_of_a_run_without_all_its_results_is_to_get_them)
{
    AUTO_FREE char *cancelled = cut_short("cut.db", RUN_CANCELLED, "2025-01-02T00:01:00.000Z"),
                   *open = cut_short("open.db", RUN_PARTIAL, ""),
                   *closed = cut_short("closed.db", RUN_PARTIAL, "2025-01-02T00:01:00.000Z");
    holds(cancelled, "- 1 of 4 tests OK (0 failed, 1 skipped, 2 without a result)");
    holds(cancelled, "- **Run the plan again**: it ended with 3 of its 4 tests without a result.\n");
    holds(open, "- **Follow the run to its end (`kernsweep attach night-0001`)**: it was stored before, with "
                "2 of its "
                "3 tests without a result.\n");
    holds(closed, "- **Run the plan again**: it ended with 2 of its 3 tests without a result.\n");
    lacks(closed, "All tests exited");
    holds(closed, "Each of these tests exited cleanly and printed valid timings.");
}

/* The bundles of B3.89 list no tests of such a variant; the executor's own list them as skipped. */
TEST(a_variant_that_a_build_or_a_gate_stopped_is_named_with_what_to_do)
{
    for (int listed = 0; listed < 2; listed++) {
        struct draft d;
        struct err err = {0};
        char name[32];
        snprintf(name, sizeof name, "stopped%d.db", listed);
        draft_night(&d, 1);
        draft_shot(&d, "base", 256, 1, 1);
        for (int i = 0; i < 2; i++) {
            struct run_variant *v = draft_add_variant(&d, i ? "v4" : "v3", &err);
            v->status = i ? STATUS_GATE_FAILED : STATUS_BUILD_FAILED;
            snprintf(v->reason, sizeof v->reason, "%s", i ? "gate no_spill: 528 bytes" : "exit code 1");
            if (listed)
                draft_shot(&d, v->name, 256, 1, (double)NAN)->status = STATUS_SKIPPED;
        }
        struct run_gate gate = {.variant = 2, .name = "no_spill", .reason = "528 bytes"};
        d.details.gates = reallocarray(NULL, 1, sizeof gate);
        d.details.gates[d.details.n_gates++] = gate;
        AUTO_FREE char *text = render_draft(name, &d, REPORT_EN);
        holds(text, "- **Fix `v3`**: its status is BUILD_FAILED; the reason is under Validation");
        holds(text, "- **Fix `v4` before timing it**: it failed its gate `no_spill` (`528 bytes`).\n");
        holds(text, listed ? "- `v4` failed its gate `no_spill` (`528 bytes`). Not timed at 256."
                           : "- `v4`: **GATE_FAILED** (`gate no_spill: 528 bytes`)\n- 1 of 1 tests OK");
        lacks(text, "its times are looked at");
    }
}

/* What the base has and a blocked run lacks is missing, not slower. */
TEST(a_blocked_run_is_no_regression)
{
    AUTO(store_close) struct store s = open_store("blocked_base.db");
    struct report_request req = report_defaults();
    struct draft d;
    draft_night(&d, 1);
    draft_shot(&d, "base", 256, 1, 1);
    must_store(&s, &d);
    draft_blocked(&d, NULL);
    snprintf(d.info.run_id, sizeof d.info.run_id, "night-0002");
    snprintf(d.info.started_at, sizeof d.info.started_at, "2026-12-02T03:00:00.000Z");
    must_store(&s, &d);
    req.run = "night-0002";
    req.against = "night-0001";
    AUTO_FREE char *text = render(&s, req);
    holds(text, "- **There are no measurements.**");
    lacks(text, "**Regression**");
}

static char *with_facts(const char *db, const char *mode, const char *const (*facts)[2], size_t n)
{
    struct draft d;
    struct err err = {0};
    draft_night(&d, 1);
    draft_shot(&d, "base", 256, 1, 1);
    snprintf(d.info.mode, sizeof d.info.mode, "%s", mode);
    for (size_t i = 0; i < n; i++)
        assert_ok(draft_add_fact(&d, facts[i][0], facts[i][1], &err), &err);
    return render_draft(db, &d, REPORT_EN);
}

TEST(variables_that_serialise_a_perf_run_are_told)
{
    static const char *const blocking[][2] = {{"login.HIP_LAUNCH_BLOCKING", "1"},
                                              {"login.OMP_NUM_THREADS", "4"}},
                             *const off[][2] = {{"login.HIP_LAUNCH_BLOCKING", "1"},
                                                {"env.HIP_LAUNCH_BLOCKING", "0"}},
                             *const planned[][2] = {{"env.AMD_SERIALIZE_KERNEL", "3"}};
    AUTO_FREE char *login = with_facts("login.db", "perf", blocking, 2),
                   *plan = with_facts("planned.db", "perf", planned, 1),
                   *replaced = with_facts("replaced.db", "perf", off, 2),
                   *debug = with_facts("debug.db", "debug", blocking, 2);
    holds(login, "- The node's login sets `HIP_LAUNCH_BLOCKING=1`: it serialises");
    lacks(login, "sets `OMP_NUM_THREADS");
    holds(plan, "- The plan sets `AMD_SERIALIZE_KERNEL=3`: it serialises");
    lacks(replaced, "it serialises");
    lacks(debug, "it serialises");
}

/* The report of a night of other sources than the one before it, which have one value each. */
static char *after(const char *db, int compiled, bool warmed)
{
    struct draft d;
    AUTO(store_close) struct store s = open_store(db);
    struct report_request req = report_defaults();
    for (int i = 1; i <= 2; i++) {
        draft_night(&d, i);
        snprintf(d.info.source_sha256, sizeof d.info.source_sha256, "%064d", i);
        if (i == 2 && warmed)
            draft_shot(&d, "v", 512, 1, 28.4)->warmup = true;
        draft_shot(&d, "v", 512, 1 + warmed, 17 + 11.4 * i)->compiled = i == 2 ? compiled : RUN_UNKNOWN;
        must_store(&s, &d);
    }
    req.against = "night-0001";
    req.run = "night-0002";
    return render(&s, req);
}

TEST(a_single_value_of_new_sources_may_have_a_first_compile_in_it)
{
    const char *said = "one value, of new sources: a first compile may be in it";
    AUTO_FREE char *unknown = after("first-unknown.db", RUN_UNKNOWN, false),
                   *none = after("first-none.db", 0, false), *filled = after("first-filled.db", 3, false),
                   *warmed = after("first-warmed.db", RUN_UNKNOWN, true);
    holds(unknown, "too few for statistics; threshold 5 %");
    holds(unknown, said);
    lacks(none, "first compile");
    holds(filled, "1 of 1 values now may have a first compile in them");
    lacks(warmed, said);
}

GROUP(scratch_make, scratch_remove);

/* Each night had a new build, whose caches its single test filled; tonight's build is that of last night. */
TEST(a_level_of_nights_that_compiled_is_told)
{
    struct draft d;
    AUTO(store_close) struct store s = open_store("first-nights.db");
    struct report_request req = report_defaults();
    for (int i = 1; i <= 12; i++) {
        draft_night(&d, i);
        draft_shot(&d, "v", 512, 1, i < 12 ? 28.4 + 0.01 * (i % 3) : 17)->compiled = i < 12 ? 3 : 0;
        must_store(&s, &d);
    }
    req.run = "latest";
    req.kind = REPORT_NIGHTLY;
    AUTO_FREE char *text = render(&s, req);
    holds(text, "11 of 11 values of the nights before may have a first compile in them");
}

/* On a phone, where the columns before it do not fit. */
TEST(the_verdict_of_a_comparison_can_be_kept_in_view)
{
    AUTO(store_close) struct store s = open_store("phone.db");
    struct err err = {0};
    struct report_request req = report_defaults();
    for (int i = 1; i <= 2; i++) {
        struct draft d;
        draft_night(&d, i);
        draft_shot(&d, "base", 256, 1, i);
        d.plan = strdup("{\"baseline\": \"main\"}");
        int64_t key = must_store(&s, &d);
        if (i == 1)
            assert_ok(baseline_set(&s, "main", key, false, &err), &err);
    }
    req.run = "night-0002";
    req.format = REPORT_HTML;
    AUTO_FREE char *text = render(&s, req);
    static const char div[] = "<div class=\"scroll verdicts\"";
    const char *table = strstr(text, div);
    assert_non_null(table);
    assert_null(strstr(table + strlen(div), div));
}

TEST(what_was_not_built_has_no_verified_build)
{
    struct draft d;
    draft_night(&d, 1);
    draft_shot(&d, "base", 256, 1, 1);
    draft_shot(&d, "other", 256, 1, 1);
    d.variants[0].build_wall_s = d.variants[1].build_wall_s = 0;
    AUTO_FREE char *none = render_draft("not_built.db", &d, REPORT_EN);
    lacks(none, "## Build verification");
    draft_night(&d, 1);
    draft_shot(&d, "base", 256, 1, 1);
    draft_shot(&d, "other", 256, 1, 1);
    d.variants[0].build_wall_s = 2;
    d.variants[1].build_wall_s = 0;
    AUTO_FREE char *one = render_draft("one_built.db", &d, REPORT_EN);
    const char *section = strstr(one, "## Build verification");
    assert_non_null(section);
    const char *end = strstr(section + 2, "## ");
    assert_non_null(end);
    assert_non_null(strstr(section, "`base`"));
    assert_true(!strstr(section, "`other`") || strstr(section, "`other`") > end);
}

static char *timed_out(const char *db, double cpu_s)
{
    struct draft d;
    draft_night(&d, 1);
    struct run_test *t = draft_shot(&d, "base", 256, 1, 1);
    t->status = STATUS_TIMEOUT;
    t->timeout_s = 180;
    t->used.cpu_user_s = cpu_s;
    t->used.cpu_system_s = 0;
    t->value[METRIC_PREFILL_S] = (double)NAN;
    return render_draft(db, &d, REPORT_EN);
}

TEST(a_time_out_without_cpu_time_is_not_called_slow)
{
    AUTO_FREE char *idle = timed_out("idle.db", 0.02), *busy = timed_out("busy.db", 170),
                   *unknown = timed_out("unknown.db", (double)NAN);
    holds(idle, "**Find out what `base` at 256 waits for**");
    lacks(idle, "Raise the time-out");
    holds(busy, "**Raise the time-out of `base` at 256");
    holds(
        unknown,
        "**Find out why `base` at 256 ran out of time**: its status is TIMEOUT and its CPU time is unknown.");
    lacks(unknown, "Raise the time-out");
}
