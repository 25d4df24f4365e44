/* What a report says: its title and units from what was measured, one line for what is alike, and nothing of
 * what is not there. */
#include "reports/report.h"
#include "reports/tables/sweep_tables.h"
#include "tests/unit/results_support.h"

/* The newest run as Markdown; to be free()d. */
static char *render(struct store *s, enum report_kind kind, enum report_lang lang)
{
    struct report_request req = report_defaults();
    struct err err = {0};
    struct buf out;
    req.store = s;
    req.run = "latest";
    req.kind = kind;
    req.langs[0] = lang;
    buf_init(&out, REPORT_BYTES_MAX);
    assert_ok(report_render(&req, &out, &err), &err);
    return buf_steal(&out);
}

static void holds(const char *text, const char *words)
{
    if (!strstr(text, words))
        fail_msg("\"%s\" is missing in:\n%s", words, text);
}

/* A row of a table, however its columns are padded: "| a | b |". */
static void holds_row(const char *text, const char *row)
{
    AUTO(buf_release) struct buf squeezed = {.max = REPORT_BYTES_MAX};
    for (const char *p = text; *p; p++)
        if (p[0] != ' ' || p[1] != ' ')
            buf_putc(&squeezed, *p);
    if (!strstr(buf_str(&squeezed), row))
        fail_msg("no row %s in:\n%s", row, text);
}

static void lacks(const char *text, const char *words)
{
    if (strstr(text, words))
        fail_msg("\"%s\" stands in:\n%s", words, text);
}

/* A benchmark without prompts, as an import gives it. */
static void store_import(struct store *s, enum metric m)
{
    struct draft d;
    draft_night(&d, 1);
    snprintf(d.info.origin, sizeof d.info.origin, "import");
    for (int i = 0; i < 2; i++) {
        struct run_test *t = draft_shot(&d, i ? "v3" : "baseline", 0, 1, 1);
        t->value[METRIC_PREFILL_S] = t->value[METRIC_WALL_S] = NAN;
        t->value[m] = i ? 2.5 : 5;
    }
    must_store(s, &d);
}

TEST(tests_without_a_result_count)
{
    AUTO(store_close) struct store s = open_store("stopped.db");
    struct draft d;
    draft_night(&d, 1);
    d.info.status = RUN_CANCELLED;
    draft_shot(&d, "v3", 4096, 1, 1);
    for (int i = 0; i < 2; i++)
        draft_add_unmeasured(&d, "v3", i ? 8192 : 4096);
    must_store(&s, &d);
    char *text = render(&s, REPORT_PREFILL, REPORT_EN);
    holds(text, "- 1 of 3 tests OK (0 failed, 0 skipped, 2 without a result) at context 4096 on `");
    free(text);
    text = render(&s, REPORT_PREFILL, REPORT_ES);
    holds(text, "- 1 de 3 pruebas OK (fallidas: 0, omitidas: 0, sin resultado: 2) en ");
    free(text);
}

TEST(a_run_without_prefill_is_titled_by_what_it_measured)
{
    AUTO(store_close) struct store s = open_store("kernel_only.db");
    store_import(&s, METRIC_KERNEL_MS);
    AUTO_FREE char *text = render(&s, REPORT_PREFILL, REPORT_EN);
    holds(text, "# demo: benchmark on `192.0.2.10`");
    holds(text, "`v3` is 2.00x faster than `baseline`.");
    holds_row(text, "| Variant | Time (ms) | vs baseline | Status |");
    holds_row(text, "| `v3` | 2.500 | 2.00x | Faster |");
    holds(text, "- 2 of 2 tests OK (0 failed, 0 skipped) on `");
    holds(text, "**Repetitions:** 1");
    for (const char *const *w = (const char *const[]){"refill", "Throughput", "Context", "n²", NULL}; *w; w++)
        lacks(text, *w);
}

TEST(whole_commands_are_read_in_seconds)
{
    AUTO(store_close) struct store s = open_store("wall_only.db");
    store_import(&s, METRIC_WALL_S);
    AUTO_FREE char *text = render(&s, REPORT_PREFILL, REPORT_ES);
    holds(text, "# demo: prueba de rendimiento en `192.0.2.10`");
    holds_row(text, "| Variante | Tiempo total (s) | Frente a baseline | Estado |");
    holds_row(text, "| `v3` | 2.50 | 2.00x | Más rápida |");
    lacks(text, "refill");
}

TEST(what_ended_alike_is_one_line)
{
    AUTO(store_close) struct store s = open_store("alike.db");
    struct draft d;
    draft_night(&d, 1);
    draft_shot(&d, "baseline", 256, 1, 1);
    for (int context = 256; context <= 2048; context *= 2) {
        struct run_test *t = draft_shot(&d, "v3", context, 1, 1);
        t->status = STATUS_SKIPPED;
        t->reason = "too slow";
        t = draft_shot(&d, "v4", context, 1, 1);
        t->status = context == 2048 ? STATUS_CANCELLED : STATUS_CRASH;
    }
    must_store(&s, &d);
    AUTO_FREE char *text = render(&s, REPORT_PREFILL, REPORT_EN);
    holds(text, "**Tests failed** in 3 of 9 cells.");
    holds(text, "- `v3` at 256, 512, 1024, 2048: **SKIPPED** (`too slow`)\n");
    holds(text, "- `v4` at 256, 512, 1024: **CRASH**");
    holds_row(text, "| `v3` | 256, 512, 1024, 2048 | 4 | SKIPPED | `too slow` |");
    holds(text, "**Fix `v4` at 256, 512, 1024**");
    holds(text, "**Run the plan again**");
    lacks(text, "**Fix `v3`");
    lacks(text, "Speed-up between variants");
    lacks(text, "Optimise `baseline`"); /* nothing else was measured */
}

TEST(each_cell_has_its_own_counts)
{
    AUTO(store_close) struct store s = open_store("counts.db");
    struct draft d;
    draft_night(&d, 1);
    for (int r = 1; r <= 3; r++)
        for (int context = 1; context <= 2; context++) {
            struct run_test *t = draft_shot(&d, "v3", context, r, 1);
            t->status = r > (context == 1 ? 2 : 1) ? STATUS_FAIL : STATUS_OK;
        }
    must_store(&s, &d);
    AUTO_FREE char *text = render(&s, REPORT_PREFILL, REPORT_EN);
    holds(text, "- `v3` at 1: **FAIL (2/3 OK)**");
    holds(text, "- `v3` at 2: **FAIL (1/3 OK)**");
}

static void store_shape(struct draft *d, const char *kernel, const char *shape, double s)
{
    char name[RUN_NAME_MAX];
    snprintf(name, sizeof name, "%s_%s", kernel, shape);
    draft_shot(d, name, 512, 1, s);
    struct run_variant *v = NULL;
    for (size_t i = 0; i < d->n_variants; i++)
        v = strcmp(d->variants[i].name, name) == 0 ? &d->variants[i] : v;
    snprintf(v->kernel, sizeof v->kernel, "%s", kernel);
    snprintf(v->shape, sizeof v->shape, "%s", shape);
}

TEST(a_kernel_is_one_line_for_all_its_shapes)
{
    AUTO(store_close) struct store s = open_store("shapes.db");
    struct draft d;
    draft_night(&d, 1);
    const char *const shapes[] = {"b1h1", "b4h1", "b8h16"};
    for (size_t i = 0; i < COUNT(shapes); i++) {
        store_shape(&d, "baseline", shapes[i], 1);
        store_shape(&d, "slow", shapes[i], (double)(2 + i));
        store_shape(&d, "fast", shapes[i], 0.5);
    }
    must_store(&s, &d);
    AUTO_FREE char *text = render(&s, REPORT_KERNEL, REPORT_EN);
    holds(text,
          "- `slow` is 2.00-4.00x slower than `baseline` at every shape measured (0.25-0.50x its speed).");
    holds(text, "- `fast` is 2.00x faster than `baseline` at every shape measured.");
    holds(text,
          "- **Disable `slow` by default**: slower than `baseline` at every shape measured, at best 0.50x");
    holds_row(text, "| `fast_b8h16` | `slow_b8h16` | 512 | 8.00x |");
    holds(text,
          "**Variants:** `baseline`: b1h1 b4h1 b8h16; `slow`: b1h1 b4h1 b8h16; `fast`: b1h1 b4h1 b8h16\n");
    lacks(text, "**Disable `slow_");
    lacks(text, "- `slow_b1h1`");
    lacks(text, "Optimise `"); /* its shapes are different work */
}

/* layers: of a model around the kernel; 0 for the kernel alone. */
static void store_serial(struct store *s, int night, int layers)
{
    struct draft d;
    struct err err = {0};
    draft_night(&d, night);
    for (int heads = 1; heads <= 16; heads *= 16) {
        const struct {
            const char *name;
            double value;
        } extras[] = {{"batch", 1},        {"heads", heads}, {"seq", 512},          {"head_dim", 64},
                      {"grid_blocks", 16}, {"units", 132},   {"block_threads", 64}, {"query_threads", 64}};
        struct run_test *t = draft_shot(&d, heads == 1 ? "serial_h1" : "serial_h16", 512, 1, heads / 1e3);
        snprintf(t->attn_impl, sizeof t->attn_impl, "serial");
        for (size_t i = 0; i < COUNT(extras); i++)
            assert_ok(draft_add_extra(&d.tests[d.n_tests - 1], extras[i].name, extras[i].value, &err), &err);
        if (layers)
            assert_ok(draft_add_extra(&d.tests[d.n_tests - 1], "layers", layers, &err), &err);
    }
    must_store(s, &d);
}

TEST(a_run_of_kernels_alone_has_their_sections_and_its_finding_first)
{
    AUTO(store_close) struct store s = open_store("serial.db");
    store_serial(&s, 1, 0);
    char *text = render(&s, REPORT_PREFILL, REPORT_EN);
    holds(text, "# demo: kernel benchmark on `192.0.2.10`");
    holds(text, "- `serial` serialises batch and heads: 16.0x the work takes 16.0x the time");
    holds(text, "## Scaling with batch size and heads");
    holds(text, "- **Extend the grid of `serial` over batch and heads**");
    holds(text, "tests OK (0 failed, 0 skipped) at context 512 on `");
    lacks(text, "Prefill (s)");
    free(text);
    text = render(&s, REPORT_PREFILL, REPORT_ES);
    holds(text,
          "- `serial` serializa el lote y las cabezas: al crecer el trabajo 16.0x, el tiempo crece 16.0x");
    free(text);
}

TEST(a_model_around_the_kernels_processes_a_prompt)
{
    AUTO(store_close) struct store s = open_store("model.db");
    store_serial(&s, 1, 32);
    AUTO_FREE char *text = render(&s, REPORT_PREFILL, REPORT_EN);
    holds(text, "# demo: prefill benchmark on `192.0.2.10`");
    holds(text, "Prefill (s)");
    holds(text, "Throughput (tok/s)");
}

TEST(kernels_are_compared_in_milliseconds_too)
{
    AUTO(store_close) struct store s = open_store("kernel_nights.db");
    struct report_request req = report_defaults();
    struct err err = {0};
    AUTO(buf_release) struct buf out = {.max = REPORT_BYTES_MAX};
    store_serial(&s, 1, 0);
    store_serial(&s, 2, 0);
    req.store = &s;
    req.run = "night-0002";
    req.against = "night-0001";
    req.kind = REPORT_REGRESSION;
    assert_ok(report_render(&req, &out, &err), &err);
    holds_row(buf_str(&out), "| Base (ms) | Now (ms) |");
    holds_row(buf_str(&out), "| `serial_h1` | 1.000 | 1.000 | 1.00x |");
    lacks(buf_str(&out), "(s) |");
}

/* Of six cells with five repetitions per side, no p survives the adjustment; of one with eight, it does. */
TEST(what_is_limited_over_all_cells_is_said_of_adjusted_ones_alone)
{
    static const char limited[] = "the false discovery rate over all of them is limited";
    struct report_request req = report_defaults();
    struct err err = {0};
    for (int cells = 1; cells <= 6; cells += 5) {
        AUTO(store_close) struct store s = open_store(cells == 1 ? "adjusted.db" : "unadjusted.db");
        AUTO(buf_release) struct buf out = {.max = REPORT_BYTES_MAX};
        for (int night = 1; night <= 2; night++) {
            struct draft d;
            draft_night(&d, night);
            for (int cell = 0; cell < cells; cell++)
                for (int shot = 0; shot < 5; shot++)
                    draft_shot(&d, "base", 256 << cell, shot + 1, night + 0.01 * shot);
            must_store(&s, &d);
        }
        req.store = &s;
        req.run = "night-0002";
        req.against = "night-0001";
        assert_ok(report_render(&req, &out, &err), &err);
        if (cells == 1)
            holds(buf_str(&out), limited);
        else {
            lacks(buf_str(&out), limited);
            holds(buf_str(&out), "Cells judged each by itself, at 5 %: 6. So few values could not pass");
        }
    }
}

TEST(a_later_variant_is_set_against_the_one_before_it)
{
    AUTO(store_close) struct store s = open_store("later.db");
    struct draft d;
    draft_night(&d, 1);
    for (int context = 256; context <= 512; context *= 2) {
        draft_shot(&d, "baseline", context, 1, 1);
        draft_shot(&d, "v3", context, 1, 8);
        draft_shot(&d, "v4", context, 1, 5);
    }
    must_store(&s, &d);
    AUTO_FREE char *text = render(&s, REPORT_PREFILL, REPORT_EN);
    holds(text, "- `v4` is 1.60x faster than `v3` at every context measured.");
}

TEST(many_contexts_are_named_as_a_range)
{
    AUTO(store_close) struct store s = open_store("many.db");
    struct draft d;
    draft_night(&d, 1);
    for (int i = 1; i <= 40; i++)
        draft_shot(&d, "baseline", i * 128, 1, i);
    must_store(&s, &d);
    AUTO_FREE char *text = render(&s, REPORT_PREFILL, REPORT_EN);
    holds(text, "at contexts 128 to 5120 (40 in total) on");
    holds(text, "**Context lengths:** 128 to 5120 (40 in total) tokens");
}

TEST(a_picture_says_when_it_does_not_show_all)
{
    AUTO(store_close) struct store s = open_store("crowd.db");
    struct report_request req = report_defaults();
    struct draft d;
    struct err err = {0};
    AUTO(buf_release) struct buf out = {.max = REPORT_BYTES_MAX};
    draft_night(&d, 1);
    for (int i = 0; i < 20; i++) {
        char name[16];
        snprintf(name, sizeof name, "v%d", i);
        draft_shot(&d, name, 256, 1, 1 + i);
        draft_shot(&d, name, 512, 1, 4 + i);
    }
    must_store(&s, &d);
    req.store = &s;
    req.run = "latest";
    req.asset_dir = in_scratch("crowd.plots");
    assert_ok(report_render(&req, &out, &err), &err);
    if (!strstr(buf_str(&out), "gnuplot is not installed"))
        holds(buf_str(&out), "one group of bars per context (the first 8 of 20 variants)](");
    lacks(buf_str(&out), "gnuplot failed");
}

TEST(the_range_of_a_node_is_in_the_language_of_its_table)
{
    struct sweep_side side = {
        .node = "b", .has_run = true, .cells = 2, .ratio = 1, .low = 0.98, .high = 1.02};
    const struct sweep_model m = {.sides = &side, .n_sides = 1};
    AUTO(table_release) struct table t = {0};
    AUTO(buf_release) struct buf all = {.max = 4096};
    table_sweep_nodes(&t, &m, REPORT_ES);
    for (size_t i = 0; i < t.n_cells; i++)
        buf_printf(&all, "|%s", t.cells[i].text);
    holds(buf_str(&all), "|0.98x a 1.02x");
}

GROUP(scratch_make, scratch_remove);
