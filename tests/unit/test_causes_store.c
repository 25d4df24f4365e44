/* causes of stored runs: from the store to data, the table `cause`, and sentences. */
#include "tests/unit/results_support.h"

#include "reports/report.h"
#include "reports/tables/causes.h"
#include "reports/tables/terminal.h"
#include "results/judge/causes/cause_differences.h"
#include "results/query/against.h"
#include "results/query/causes_store.h"

enum { VARIANTS = 6, NIGHTS = 12 };

static void add_kernel(struct draft *d, size_t variant, const char *name, const char *code, int vgprs)
{
    struct run_details *details = &d->details;
    struct run_kernel_code *kernels =
        realloc(details->kernels, (details->n_kernels + 1) * sizeof *details->kernels);
    assert_non_null(kernels);
    details->kernels = kernels;
    struct run_kernel_code *k = &kernels[details->n_kernels++];
    *k = (struct run_kernel_code){.variant = variant, .name = strdup(name)};
    sha256_of(code, strlen(code), k->sha256);
    kernel_facts_init(&k->facts);
    k->facts.resource[KERNEL_VGPRS] = vgprs;
}

/* factor: of v0. clock: of all cells, MHz. */
static int64_t store_night(struct store *s, int night, const char *code_of_v0, double factor, double clock)
{
    struct draft d;
    struct err err = {0};
    draft_night(&d, night);
    for (size_t v = 0; v < VARIANTS; v++)
        for (int r = 1; r <= 3; r++) {
            char name[8];
            snprintf(name, sizeof name, "v%zu", v);
            double wobble = 1 + 0.0005 * ((night * 7 + r * 3 + (int)v * 5) % 11);
            struct run_test *t =
                draft_shot(&d, name, 4096, r, (double)(v + 1) * (v ? 1 : factor) * wobble * 2000 / clock);
            t->value[METRIC_SCLK_MHZ] = clock;
        }
    for (size_t v = 0; v < VARIANTS; v++) {
        const char *code = v ? d.variants[v].name : code_of_v0;
        sha256_of(code, strlen(code), d.variants[v].code_sha256);
        d.variants[v].code_of_device = true;
        add_kernel(&d, v, "attention", code, v ? 64 : (int)(96 * (factor > 1 ? 1.5 : 1)));
        add_kernel(&d, v, "reduce", "the same", 16);
    }
    assert_ok(draft_add_fact(&d, "driver", night < NIGHTS ? "6.10" : "6.12", &err), &err);
    snprintf(d.info.source_sha256, sizeof d.info.source_sha256, "%064d", factor > 1 ? 2 : 1);
    return must_store(s, &d);
}

struct judged {
    struct store store;
    struct run_data now;
    struct against against;
    struct comparison comparison;
};

static void judge(struct judged *j, const char *db, const char *code, double factor, double clock)
{
    const struct compare_options o = compare_defaults();
    struct err err = {0};
    j->store = open_store(db);
    for (int i = 0; i < NIGHTS; i++)
        store_night(&j->store, i, "v0", 1, 2000 + 20.0 * (i % 4));
    j->now = must_load(&j->store, store_night(&j->store, NIGHTS, code, factor, clock));
    assert_ok(against_nights(&j->store, &j->now, &o, &j->against, &err), &err);
    assert_ok(against_compare(&j->against, &j->now, &j->comparison, &err), &err);
}

static void release(struct judged *j)
{
    comparison_release(&j->comparison);
    against_release(&j->against);
    run_data_release(&j->now);
    store_close(&j->store);
}

TEST(code_is_named_with_its_kernel)
{
    struct judged j;
    judge(&j, "code.db", "v0 anew", 1.2, 2030);
    const struct cell_causes *c = causes_of(&j.comparison.causes, "v0", 4096);
    assert_non_null(c);
    assert_string_equal(c->before, "night-0011");
    assert_int_equal(j.comparison.causes.count, 1);
    json_t *causes = causes_encode(c), *code = json_array_get(causes, 0);
    assert_int_equal(json_array_size(causes), 1);
    assert_string_equal(json_string_value(json_object_get(code, "kind")), "code");
    assert_string_equal(json_string_value(json_object_get(code, "certainty")), "established");
    json_t *evidence = json_object_get(code, "evidence");
    assert_int_equal(json_integer_value(json_object_get(evidence, "kernels_changed")), 1);
    json_t *kernel = json_array_get(json_object_get(evidence, "kernels"), 0);
    assert_string_equal(json_string_value(json_object_get(kernel, "kernel")), "attention");
    assert_int_equal(json_integer_value(json_array_get(json_object_get(kernel, "vgprs"), 0)), 96);
    assert_int_equal(json_integer_value(json_array_get(json_object_get(kernel, "vgprs"), 1)), 144);
    json_decref(causes);

    struct buf text;
    buf_init(&text, REPORT_BYTES_MAX);
    terminal_comparison(&j.comparison, false, (struct screen){0}, &text);
    assert_non_null(strstr(buf_str(&text),
                           "Why, compared with run night-0011:\n  v0 at 4096: because of new machine code"
                           " in 1 kernel: attention (vgprs 96 -> 144)\n"));
    buf_release(&text);
    release(&j);
}

TEST(a_clock_is_named_with_its_share)
{
    struct judged j;
    judge(&j, "clock.db", "v0", 1, 1850);
    const struct cell_causes *c = causes_of(&j.comparison.causes, "", 0);
    assert_non_null(c);
    const struct cause *clock = causes_kind(c, CAUSE_CLOCK);
    assert_non_null(clock);
    assert_int_equal(clock->certainty, CAUSE_ESTABLISHED);
    assert_near(clock->share, 1, 0.1);
    assert_near(clock->sensitivity, 1, 0.2);
    assert_near(clock->before, 2030, 31);
    assert_near(clock->now, 1850, 1e-6);
    assert_int_equal(clock->nights, NIGHTS);
    assert_non_null(causes_kind(c, CAUSE_NODE));
    struct buf text;
    buf_init(&text, WHY_TEXT_MAX);
    cause_sentence(c, REPORT_EN, &text);
    assert_non_null(strstr(buf_str(&text), "because of a lower shader clock (20"));
    assert_non_null(strstr(buf_str(&text), "coincides with a different environment: driver 6.10 -> 6.12"));
    buf_clear(&text);
    cause_sentence(c, REPORT_ES, &text);
    assert_non_null(strstr(buf_str(&text), "debido a una frecuencia de shader más baja (de 20"));
    buf_release(&text);
    release(&j);
}

TEST(no_change_has_no_cause)
{
    struct judged j;
    judge(&j, "calm.db", "v0 anew", 1, 2030); /* other code and another driver, as fast as before */
    assert_int_equal(j.comparison.causes.count, 0);
    struct buf text;
    buf_init(&text, REPORT_BYTES_MAX);
    terminal_comparison(&j.comparison, false, (struct screen){0}, &text);
    assert_null(strstr(buf_str(&text), "Why"));
    buf_release(&text);
    release(&j);
}

TEST(causes_are_kept_and_replaced)
{
    struct judged j;
    struct err err = {0};
    judge(&j, "kept.db", "v0 anew", 1.2, 2030);
    for (int i = 0; i < 2; i++)
        assert_ok(causes_save(&j.store, j.now.info.key, 0, &j.comparison, &err), &err);
    assert_int_equal(query_int(&j.store, "SELECT count(*) FROM cause"), 1);
    assert_int_equal(query_int(&j.store,
                               "SELECT count(*) FROM cause WHERE variant = 'v0' AND context_len = 4096"
                               " AND kind = 'code' AND certainty = 'established' AND share IS NULL"
                               " AND json_extract(evidence, '$.kernels[0].vgprs[1]') = 144"
                               " AND json_extract(evidence, '$.before') = 'night-0011'"),
                     1);
    assert_int_equal(
        sqlite3_exec(j.store.db, "DELETE FROM run WHERE run_id = 'night-0012'", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(query_int(&j.store, "SELECT count(*) FROM cause"), 0);
    release(&j);
}

TEST(a_report_has_them_in_both_languages)
{
    struct judged j;
    struct err err = {0};
    struct buf out;
    judge(&j, "report.db", "v0 anew", 1.2, 2030);
    struct report_request req = report_defaults();
    req.store = &j.store;
    req.run = "latest";
    req.kind = REPORT_NIGHTLY;
    for (enum report_lang lang = 0; lang < REPORT_LANG_COUNT; lang++) {
        req.langs[0] = lang;
        buf_init(&out, REPORT_BYTES_MAX);
        assert_ok(report_render(&req, &out, &err), &err);
        const char *text = strstr(buf_str(&out), lang == REPORT_EN ? "## Causes" : "## Causas");
        assert_non_null(text);
        assert_non_null(strstr(text, "v0"));
        assert_non_null(strstr(text, "96 -"));
        buf_release(&out);
    }
    release(&j);
}

static void sentence_of(const struct cause *c, enum report_lang lang, char out[WHY_TEXT_MAX])
{
    struct cause copy = *c;
    const struct cell_causes cell = {
        .variant = "v", .context = 64, .code = CAUSE_CODE_DIFFERS, .items = &copy, .count = 1};
    AUTO(buf_release) struct buf text = {.max = WHY_TEXT_MAX};
    cause_sentence(&cell, lang, &text);
    snprintf(out, WHY_TEXT_MAX, "%s", buf_str(&text));
}

TEST(sentences_are_bounded_and_say_what_is_not_known)
{
    char text[WHY_TEXT_MAX];
    struct cause code = {.kind = CAUSE_CODE, .by = CAUSE_BY_DEVICE, .n_kernels = 14};
    for (size_t i = 0; i < CAUSE_KERNELS_MAX; i++) {
        snprintf(code.kernels[i].name, sizeof code.kernels[i].name, "k%zu", i);
        code.kernels[i].in_now = true;
        code.kernels[i].in_before = i > 0;
        kernel_facts_init(&code.kernels[i].before);
        kernel_facts_init(&code.kernels[i].now);
    }
    sentence_of(&code, REPORT_EN, text);
    assert_string_equal(text, "coincides with new machine code in 14 kernels: k0 (new), k1 and 12 more");
    const struct cause clock = {
        .kind = CAUSE_CLOCK, .before = 2100, .now = 1950, .bounded = true, .share_high = 0.62, .share = NAN};
    sentence_of(&clock, REPORT_EN, text);
    assert_string_equal(
        text, "coincides with a lower shader clock (2100 to 1950 MHz), which explains at most 62 % of the"
              " change (sensitivity not measured: 1 at most)");
    struct cause driver = {.kind = CAUSE_ENVIRONMENT, .certainty = CAUSE_ESTABLISHED};
    char was[201], is[201];
    memset(was, 'x', 200);
    was[200] = '\0';
    memcpy(is, was, sizeof is);
    was[150] = '1';
    is[150] = '2';
    cause_add_change(&driver.changes, "gpu", was, is);
    assert_non_null(strchr(driver.changes.items[0].before, '1'));
    assert_non_null(strchr(driver.changes.items[0].now, '2'));
    assert_true(strncmp(driver.changes.items[0].now, "…", strlen("…")) == 0);
    struct cause method = {.kind = CAUSE_METHOD, .certainty = CAUSE_ESTABLISHED};
    for (int i = 0; i < 6; i++)
        cause_add_change(&method.changes, "order", "", "grouped");
    sentence_of(&method, REPORT_ES, text);
    assert_string_equal(
        text, "debido a otra forma de medir: order sin definir -> grouped, order sin definir -> grouped y 4"
              " más");
}

static void sentence_of_build(const char *before, const char *now, char text[WHY_TEXT_MAX])
{
    struct run_data runs[2] = {0};
    struct cause_differences found;
    struct cause toolchain = {.kind = CAUSE_TOOLCHAIN};
    json_t *plans[2];
    for (int i = 0; i < 2; i++)
        plans[i] = json_pack("{s:[{s:s, s:[[s, s, s, s, s]]}]}", "variants", "name", "v0", "build", "cc",
                             "-O1", "-o", "{build}/fk", i ? now : before);
    const struct cause_run was = {.run = &runs[0], .plan = plans[0]},
                           is = {.run = &runs[1], .plan = plans[1]};
    cause_differences(&was, &is, "v0", 0, &found);
    assert_int_equal(found.toolchain.count, 1);
    toolchain.changes = found.toolchain;
    sentence_of(&toolchain, REPORT_EN, text);
    json_decref(plans[0]);
    json_decref(plans[1]);
}

static const char *after_build(const char *text)
{
    const char *at = strstr(text, "build ");
    assert_non_null(at);
    return at + strlen("build ");
}

#define LONG "{src}/a/rather/long/path/of/a/source/file/that/takes/more/than/is/kept/of/a/value/fk.c -lm"

/* The beginning of a long command is the same in both: only what differs tells anything. */
TEST(of_long_values_what_differs_is_shown)
{
    char text[WHY_TEXT_MAX];
    sentence_of_build(LONG, LONG " -DCOST=1.3", text);
    assert_string_equal(after_build(text), "…-lm\"]] -> …-lm -DCOST=1.3\"]]");
    sentence_of_build(LONG " -Dé=1", LONG " -Dè=1 " LONG, text);
    assert_string_equal(after_build(text), "…-Dé=1\"]] -> …-Dè=1 {src}/a/rather/long/path/of/a/sour…");
    sentence_of_build("a.c", "b.c", text); /* short enough to be shown as they are */
    assert_string_equal(after_build(text), "[[\"cc\",\"-O1\",\"-o\",\"{build}/fk\",\"a.c\"]] -> "
                                           "[[\"cc\",\"-O1\",\"-o\",\"{build}/fk\",\"b.c\"]]");
}

GROUP(scratch_make, scratch_remove);
