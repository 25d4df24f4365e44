/* Documents made from stored runs: that the numbers of the hand-written reports are where a reader looks for
 * them, and that the same store gives the same bytes. */
#include "reports/plot/gnuplot.h"
#include "reports/report.h"
#include "reports/tables/terminal.h"
#include "results/query/find_run.h"
#include "results/query/report_queries.h"
#include "results/store/baseline.h"
#include "results/store/runs.h"
#include "tests/unit/report_support.h"

struct seeds {
    struct store store;
    int64_t feb_10;
    int64_t feb_12;
    int64_t feb_14;
};

static struct seeds open_seeds(const char *name)
{
    struct seeds s = {.store = open_store(name)};
    s.feb_10 = ingest_fixture(&s.store, "tests/fixtures/b3_89_2026-02-10");
    s.feb_12 = ingest_fixture(&s.store, "tests/fixtures/b3_89_2026-02-12");
    s.feb_14 = ingest_fixture(&s.store, "tests/fixtures/b3_90_2026-02-14");
    return s;
}

/* That some line holds all the words, in that order. */
static void has_line(const char *text, const char *const *words)
{
    for (const char *line = text; *line;) {
        const char *end = strchrnul(line, '\n'), *at = line;
        bool all = true;
        for (size_t i = 0; all && words[i]; i++) {
            at = memmem(at, (size_t)(end - at), words[i], strlen(words[i]));
            all = at != NULL;
            at = all ? at + strlen(words[i]) : line;
        }
        if (all)
            return;
        line = *end ? end + 1 : end;
    }
    fail_msg("no line holds \"%s\" and what follows it, in:\n%s", words[0], text);
}
#define assert_line(text, ...) has_line((text), (const char *const[]){__VA_ARGS__, NULL})

TEST(the_core_run_has_the_numbers_of_its_report)
{
    struct seeds s = open_seeds("core.db");
    char *text = render(&s.store, report_defaults(), "20260212");
    assert_line(text, "wall_time_s |", "model_load_s |", "tokenize_us |", "decode_ns |");
    assert_line(text, " 4096 |", "22.77 |", "44.88 |", "21.86 |", "15.57 |", "263 |", "`flash_v2_naive` |",
                "180 |", "OK");
    assert_line(text, " 8192 |", "114.27 |", "136.13 |", "72 |");
    assert_line(text, " 16384 |", "469.75 |", "491.37 |", "35 |");
    assert_line(text, "`baseline` |", "4096 |", "1.0x |", "1.0x |");
    assert_line(text, "`baseline` |", "8192 |", "5.0x |", "4.0x |", "above n²");
    assert_line(text, "`baseline` |", "16384 |", "20.6x |", "16.0x |", "4.1x |");
    assert_line(text, "\"wall_time_sec\": 44.87822725");
    assert_line(text, "\"model_load_s\": 21.865");
    free(text);
    store_close(&s.store);
}

TEST(the_variants_of_february_10_stand_as_in_the_report)
{
    struct seeds s = open_seeds("feb10.db");
    char *text = render(&s.store, report_defaults(), "20260210");
    assert_line(text, "4096 |", "`v1`", "`lds_tiling_v1`", "206.74 |", "0.11x |", "Slower");
    assert_line(text, "4096 |", "`v3`", "1.21x |", "Faster");
    assert_line(text, "4096 |", "`v2`", "**TIMEOUT**");
    assert_line(text, "**Tests failed** in 1 of");
    assert_line(text, "`v2` at 4096: **TIMEOUT**");
    free(text);
    store_close(&s.store);
}

TEST(the_perf_run_has_its_factors_and_what_its_report_overlooked)
{
    struct seeds s = open_seeds("feb14.db");
    struct report_request req = report_defaults();
    req.kind = REPORT_REGRESSION;
    req.against = "20260212";
    char *text = render(&s.store, req, "20260214");
    assert_line(text, "8192 |", "`v3`", "`v3_q_lds`", "3540.68 |", "0.11x |", "Slower");
    assert_line(text, "8192 |", "`v4`", "`v4_ql_v_lds`", "2026.69 |", "0.20x |", "Slower");
    assert_line(text, "16384 |", "`v3`", "13366.90 |", "0.09x |");
    assert_line(text, "16384 |", "`v4`", "7508.25 |", "0.16x |");
    assert_line(text, "`v4`", "`v3`", "8192 |", "1.75x |");
    assert_line(text, "`v4`", "`v3`", "16384 |", "1.78x |");
    assert_line(text, "**Regression** against");
    assert_line(text,
                "`baseline` at 8192: **regressed**, takes 3.53 times as long (114.27 s before, 403.26 s now");
    assert_line(text, "`baseline` at 16384: **regressed**, takes 2.52 times as long");
    assert_line(text, "`baseline` at 4096: **missing**");
    assert_line(text, "**Disable `v3` by default**", "at best 0.11x");
    free(text);
    store_close(&s.store);
}

/* B3.90 is compared with B3.89: what differs may be what the plans ask for. */
TEST(a_base_of_another_ticket_is_said_to_be_one)
{
    struct seeds s = open_seeds("tickets.db");
    struct report_request req = report_defaults();
    req.against = "20260212";
    assert_true(report_langs_from_names("es,en", &req));
    char *text = render(&s.store, req, "20260214");
    assert_line(text, "  - The runs are of different tickets: the base of b3_89, the other of b3_90.");
    assert_line(text, "  - Las ejecuciones son de tickets distintos: la base de b3_89, la otra de b3_90.");
    assert_non_null(strstr(strstr(text, "## Comparación con"), "tickets distintos"));
    free(text);
    req.against = "20260210"; /* B3.89, too */
    text = render(&s.store, req, "20260212");
    assert_null(strstr(text, "different tickets"));
    free(text);
    store_close(&s.store);
}

TEST(both_languages_show_the_same_numbers)
{
    struct seeds s = open_seeds("langs.db");
    struct report_request req = report_defaults();
    req.against = "20260212";
    assert_true(report_langs_from_names("es,en", &req));
    char *text = render(&s.store, req, "20260214");
    assert_line(text, "## Resumen ejecutivo");
    assert_line(text, "## Executive summary");
    assert_line(text, "## Comparación consolidada");
    assert_line(text, "`baseline` (contexto 8192): **regresión**, tarda 3.53 veces",
                "(114.27 s antes, 403.26 s ahora");
    assert_line(text, "`baseline` at 8192: **regressed**, takes 3.53 times",
                "(114.27 s before, 403.26 s now");
    assert_null(strstr(text, "## Consolidated comparison"));
    free(text);
    store_close(&s.store);
}

TEST(the_same_store_gives_the_same_bytes)
{
    struct seeds s = open_seeds("same.db");
    struct report_request req = report_defaults();
    req.against = "20260212";
    for (enum report_format f = 0; f < REPORT_FORMAT_COUNT; f++) {
        req.format = f;
        char *once = render(&s.store, req, "20260214"), *twice = render(&s.store, req, "20260214");
        assert_string_equal(once, twice);
        free(once);
        free(twice);
    }
    store_close(&s.store);
}

TEST(a_stored_baseline_may_be_named)
{
    struct seeds s = open_seeds("named.db");
    struct err err = {0};
    struct report_request req = report_defaults();
    assert_ok(baseline_set(&s.store, "core", s.feb_12, false, &err), &err);
    req.baseline = "core";
    char *text = render(&s.store, req, "20260210");
    assert_line(text, "Base: the stored baseline `core`");
    free(text);
    text = render(&s.store, req, "20260212");
    assert_line(text, "This run is the baseline itself");
    free(text);
    store_close(&s.store);
}

TEST(what_does_not_exist_is_an_input_error)
{
    struct seeds s = open_seeds("refused.db");
    static const char *const cases[][3] = {{"nowhere", NULL, NULL},
                                           {"20260214", "nowhere", NULL},
                                           {"20260214", NULL, "nowhere"},
                                           {"20260214", "20260212", "core"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err err = {0};
        AUTO(buf_release) struct buf out = {.max = REPORT_BYTES_MAX};
        struct report_request req = report_defaults();
        req.store = &s.store;
        req.run = cases[i][0];
        req.against = cases[i][1];
        req.baseline = cases[i][2];
        assert_int_equal(report_render(&req, &out, &err), -1);
        assert_int_equal(err.kind, ERR_INPUT);
        assert_null(strchr(err.msg, '\n'));
    }
    store_close(&s.store);
}

TEST(languages_are_named_once_each)
{
    struct report_request req = report_defaults();
    assert_true(report_langs_from_names("es", &req));
    assert_int_equal(req.n_langs, 1);
    assert_int_equal(req.langs[0], REPORT_ES);
    assert_false(report_langs_from_names("en,en", &req));
    assert_false(report_langs_from_names("en,fr", &req));
    assert_false(report_langs_from_names("", &req));
    assert_false(report_langs_from_names("en,", &req));
}

/* Night n of a plan whose baseline slows down by a quarter from night 20 on. */
static void store_quiet_night(struct store *s, int night)
{
    struct err err = {0};
    struct draft d;
    draft_night(&d, night);
    assert_ok(draft_add_fact(&d, "driver", night < 20 ? "6.8.5" : "6.10.0", &err), &err);
    for (int i = 1; i <= 3; i++) {
        draft_shot(&d, "baseline", 256, i, (night < 20 ? 10 : 12.5) + 0.01 * ((night * 7 + i * 3) % 11));
        draft_shot(&d, "v3", 256, i, 8 + 0.01 * ((night * 5 + i) % 7));
    }
    must_store(s, &d);
}

TEST(nights_judge_a_run_and_tell_when_it_changed)
{
    AUTO(store_close) struct store s = open_store("nights.db");
    struct report_request req = report_defaults();
    req.kind = REPORT_NIGHTLY;
    for (int night = 1; night <= 20; night++)
        store_quiet_night(&s, night);
    char *text = render(&s, req, "latest");
    assert_line(text, "**No regression, but 1 cell suspected**, against the previous 19 nights");
    assert_line(text, "`baseline` at 256: takes", "10.05 s expected",
                "another night like it makes it a finding");
    free(text);
    req.langs[0] = REPORT_ES;
    text = render(&s, req, "latest");
    assert_line(text, "**Sin regresión, pero con sospechas: 1 celda**, frente a las 19 noches anteriores");
    assert_line(text, "**Sospechas** (1 celda): peor esta noche, pero sin decidir");
    assert_line(text, "`baseline` (contexto 256): tarda", "se esperaba 10.05 s",
                "otra noche así la confirma");
    free(text);
    req.langs[0] = REPORT_EN;
    store_quiet_night(&s, 21);
    text = render(&s, req, "latest");
    assert_line(text, "**Regression** against the previous 20 nights: 1 regressed, 1 unchanged");
    assert_line(text, "`baseline` at 256: **regressed**, takes", "open since 2025-01-21");
    free(text);
    for (int night = 22; night <= 24; night++)
        store_quiet_night(&s, night);
    text = render(&s, req, "latest");
    assert_line(text, "## History");
    assert_line(text, "`baseline` |", "256 |", "`night-0020` |", "2025-01-21 |", "+24");
    free(text);
    req.against = "night-0019";
    text = render(&s, req, "latest");
    assert_line(text, "`driver` |", "`6.8.5` |", "`6.10.0` |");
    assert_line(text, "**Run the base again on the node in its current state**");
    free(text);
}

TEST(pictures_stand_beside_the_document)
{
    struct seeds s = open_seeds("plots.db");
    struct report_request req = report_defaults();
    struct err err = {0};
    struct buf svg;
    buf_init(&svg, 1 << 20);
    req.asset_dir = in_scratch("plots");
    req.asset_href = "plots";
    char *text = render(&s.store, req, "20260214");
    if (strstr(text, "gnuplot is not installed")) {
        free(text);
        store_close(&s.store);
        skip();
    }
    assert_line(text, "](plots/prefill.svg)");
    assert_line(text, "](plots/speedup.svg)");
    assert_ok(fs_read_file(in_scratch("plots/prefill.svg"), svg.max, &svg, &err), &err);
    assert_non_null(strstr(buf_str(&svg), "role=\"img\""));
    assert_non_null(strstr(buf_str(&svg), "prefers-color-scheme:dark"));
    assert_non_null(strstr(buf_str(&svg), ">v4</text>"));
    /* The guide is ink, by the name that gnuplot gives it, and ink is light on dark paper. */
    assert_non_null(strstr(buf_str(&svg), "<path stroke='rgb(  0,   0,   0)'"));
    const char *dark = strstr(buf_str(&svg), "prefers-color-scheme:dark");
    assert_non_null(strstr(dark, "[stroke=\"rgb(  0,   0,   0)\"]{stroke:#e6edf3}"));
    assert_null(strstr(buf_str(&svg), "gnuplot_plot_1</title>"));
    buf_release(&svg);
    free(text);
    store_close(&s.store);
}

TEST(without_gnuplot_the_report_says_so_once_and_goes_on)
{
    struct seeds s = open_seeds("noplots.db");
    struct report_request req = report_defaults();
    char *path = strdup(getenv("PATH"));
    setenv("PATH", in_scratch("nothing-here"), 1);
    req.asset_dir = in_scratch("none");
    char *text = render(&s.store, req, "20260214");
    setenv("PATH", path, 1);
    free(path);
    assert_line(text, "No plots: gnuplot is not installed");
    assert_null(strstr(strstr(text, "No plots") + 1, "No plots"));
    assert_null(strstr(text, ".svg"));
    assert_line(text, "## Consolidated comparison");
    free(text);
    store_close(&s.store);
}

TEST(a_gnuplot_that_hangs_fails_or_floods_is_given_up)
{
    static const struct {
        const char *body;
        const char *reason;
    } cases[] = {{"#!/bin/sh\nexec sleep 100\n", "did not finish within"},
                 {"#!/bin/sh\necho broken >&2\nexit 3\n", "gnuplot failed with exit code 3: broken"},
                 {"#!/bin/sh\nexec yes\n", "gnuplot: more than"}};
    AUTO_FREE char *path = strdup(getenv("PATH"));
    char with_ours[FS_PATH_MAX + 8192];
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct err err = {0};
        struct buf script, out;
        assert_int_equal(chmod(put("fake/gnuplot", cases[i].body), 0700), 0);
        snprintf(with_ours, sizeof with_ours, "%s:%s", in_scratch("fake"), path);
        setenv("PATH", with_ours, 1);
        buf_init(&script, 1 << 20);
        buf_init(&out, 1 << 16);
        buf_puts(&script, "plot x\n");
        int rc = gnuplot_run(&script, 1.0, &out, &err);
        assert_err(rc, &err, ERR_STORAGE, cases[i].reason);
        buf_release(&script);
        buf_release(&out);
    }
    setenv("PATH", path, 1);
}

/* A launch of a kernel benchmark, as attn_bench prints it. */
static void draft_launch(struct draft *d, const char *variant, const char *impl, int batch, int heads,
                         double ms, int blocks)
{
    const struct {
        const char *name;
        double value;
    } extras[] = {{"batch", batch},        {"heads", heads},         {"seq", 512},
                  {"grid_blocks", blocks}, {"units", 132},           {"rel_l2", 4e-7},
                  {"max_abs", 0.0019531},  {"rows_checked", 64},     {"copy_gb_per_s", 3030},
                  {"fma_tflops", 60},      {"roofline_share", 0.25}, {"block_threads", 32},
                  {"query_threads", 32},   {"matrix_tflops", 840}};
    struct err err = {0};
    struct run_test *t = draft_shot(d, variant, 512, 1, ms / 1e3);
    snprintf(t->attn_impl, sizeof t->attn_impl, "%s", impl);
    for (size_t i = 0; i < COUNT(extras); i++)
        assert_ok(draft_add_extra(&d->tests[d->n_tests - 1], extras[i].name, extras[i].value, &err), &err);
}

TEST(a_share_over_one_says_that_the_ceiling_was_measured_low)
{
    const char *over = "A dash: the test exceeded the measured ceiling";
    const struct {
        enum report_kind kind;
        const char *extra;
        double share;
        bool said;
    } cases[] = {{REPORT_KERNEL, "copy_gb_per_s", 0.98, false},
                 {REPORT_KERNEL, "copy_gb_per_s", 1.04, true},
                 {REPORT_PREFILL, "attention_s", 0.98, false},
                 {REPORT_PREFILL, "attention_s", 1.04, true}};
    AUTO(store_close) struct store s = open_store("share.db");
    struct report_request req = report_defaults();
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct err err = {0};
        struct draft d;
        req.kind = cases[i].kind;
        draft_night(&d, (int)i);
        draft_shot(&d, "v", 512, 1, 1);
        assert_ok(draft_add_extra(&d.tests[0], cases[i].extra, 0.5, &err), &err);
        assert_ok(draft_add_extra(&d.tests[0], "roofline_share", cases[i].share, &err), &err);
        must_store(&s, &d);
        AUTO_FREE char *text = render(&s, req, "latest");
        assert_int_equal(strstr(text, over) != NULL, cases[i].said);
        assert_null(strstr(text, "104 %"));
    }
}

TEST(a_kernel_that_serialises_is_flagged_and_one_that_fills_the_device_is_not)
{
    AUTO(store_close) struct store s = open_store("kernel.db");
    struct report_request req = report_defaults();
    struct draft d;
    draft_night(&d, 1);
    draft_launch(&d, "serial_b1h8", "serial_bh", 1, 8, 6.8, 16);
    draft_launch(&d, "serial_b4h16", "serial_bh", 4, 16, 54.4, 16);
    draft_launch(&d, "serial_b8h16", "serial_bh", 8, 16, 117.2, 16);
    draft_launch(&d, "base_b1h8", "flash_v2_naive", 1, 8, 0.5, 128);
    draft_launch(&d, "base_b8h16", "flash_v2_naive", 8, 16, 7.9, 2048);
    must_store(&s, &d);
    req.kind = REPORT_KERNEL;
    AUTO_FREE char *text = render(&s, req, "latest");
    assert_line(text, "`serial_bh`", "512 |", "1 |", "8 |", "6.800 |", "1.0x |", "1.0x |", "1.0x |");
    assert_line(text, "`serial_bh`", "8 |", "16 |", "117.20 |", "16.0x |", "1.0x |", "17.2x |",
                "**serialised**");
    assert_line(text, "`flash_v2_naive`", "8 |", "16 |", "7.900 |", "16.0x |", "16.0x |", "15.8x |",
                "2048 |");
    assert_line(text, "`serial_bh` at S=512 launches 16 blocks of 32 threads", "on 132 units",
                "16.0x the work", "17.2x the time");
    assert_line(text, "`base_b1h8`", "1.95e-03 |", "4.00e-07 |", "64 |");
    assert_line(text, "`base_b1h8`", "3030 |", "60.0 |", "840 |", "25 % |");
    int flagged = 0;
    for (const char *at = text; (at = strstr(at, "**serialised**")); at++)
        flagged++;
    assert_int_equal(flagged, 2); /* both larger launches of serial_bh, none of the other */
}

TEST(the_terminal_does_not_call_a_kernels_time_prefill)
{
    AUTO(store_close) struct store s = open_store("kernel_terminal.db");
    const struct compare_options options = compare_defaults();
    AUTO(comparison_release) struct comparison c = {0};
    struct err err = {0};
    struct draft d;
    AUTO(buf_release) struct buf out = {.max = REPORT_BYTES_MAX};
    bool kernels = false;
    draft_night(&d, 1);
    draft_launch(&d, "serial", "serial_bh", 1, 8, 6.8, 16);
    draft_launch(&d, "base", "flash_v2_naive", 1, 8, 0.5, 128);
    AUTO(run_data_release) struct run_data run = must_load(&s, must_store(&s, &d));
    assert_ok(report_kernels_alone(&s, &run, &kernels, &err), &err);
    assert_true(kernels);
    terminal_run(&run, 0, kernels, (struct screen){0}, &out);
    assert_non_null(strstr(buf_str(&out), "Time (ms)"));
    assert_line(buf_str(&out), "serial_bh", "6.800");
    compare_runs(&run, &run, NULL, &options, &c);
    terminal_comparison(&c, kernels, (struct screen){0}, &out);
    assert_null(strcasestr(buf_str(&out), "prefill"));
}

TEST(a_run_with_prompts_did_not_launch_kernels_alone)
{
    AUTO(store_close) struct store s = open_store("prompts.db");
    struct err err = {0};
    struct draft d;
    bool kernels = true;
    draft_night(&d, 1);
    draft_launch(&d, "kernel", "serial_bh", 1, 8, 6.8, 16);
    draft_shot(&d, "model", 512, 1, 0.5);
    AUTO(run_data_release) struct run_data run = must_load(&s, must_store(&s, &d));
    assert_ok(report_kernels_alone(&s, &run, &kernels, &err), &err);
    assert_false(kernels);
}

/* Confirming changes verdicts after the comparison: what the report says must be what was judged. */
TEST(a_comparison_that_was_made_already_is_taken_as_it_is)
{
    AUTO(store_close) struct store s = open_store("given_comparison.db");
    struct report_request req = report_defaults();
    AUTO(run_data_release) struct run_data now = {0};
    AUTO(against_release) struct against against = {0};
    AUTO(comparison_release) struct comparison c = {0};
    struct err err = {0};
    int64_t base = 0;
    for (int night = 19; night <= 20; night++)
        store_quiet_night(&s, night);
    assert_ok(store_load_run(&s, "latest", &now, &err), &err);
    assert_ok(store_find_run(&s, "night-0019", &base, &err), &err);
    assert_ok(against_run(&s, &now, base, &req.compare, &against, &err), &err);
    assert_ok(against_compare(&against, &now, &c, &err), &err);
    for (size_t i = 0; i < c.count; i++)
        if (c.deltas[i].verdict == VERDICT_REGRESSED) {
            c.deltas[i].verdict = VERDICT_FIXED; /* as no comparison would find */
            c.verdicts[VERDICT_REGRESSED]--;
            c.verdicts[VERDICT_FIXED]++;
        }
    req.held_against = &against;
    req.comparison = &c;
    AUTO_FREE char *text = render(&s, req, "latest");
    assert_line(text, "**No regression** against `night-0019`");
    assert_line(text, "`baseline` at 256: **fixed**");
}

GROUP(scratch_make, scratch_remove);
