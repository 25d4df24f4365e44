/* What a report concludes of the recorded resources of kernels, on the numbers of the seeds' kernels compiled
 * for gfx942. */
#include "common/base/alloc.h"
#include "common/contract/occupancy.h"
#include "reports/report.h"
#include "tests/unit/results_support.h"

static struct occupancy on(const char *arch, struct kernel_use k)
{
    const struct gpu_limits *g = gpu_limits_of(arch);
    assert_non_null(g);
    return occupancy_of(&k, g);
}

TEST(registers_limit_by_the_unified_file)
{
    struct occupancy o = on("gfx942", (struct kernel_use){.vgprs = 128, .threads = 256, .lds = NAN});
    assert_near(o.waves, 16, 0);
    assert_int_equal(o.limit, LIMIT_REGISTERS);
    o = on("gfx942", (struct kernel_use){.vgprs = 128, .agprs = 128, .threads = 256, .lds = NAN});
    assert_near(o.waves, 8, 0);
    o = on("gfx942", (struct kernel_use){.vgprs = 65, .threads = 64, .lds = NAN});
    assert_near(o.by_registers, 28, 0);
    o = on("gfx942", (struct kernel_use){.vgprs = 64, .threads = 64, .lds = NAN});
    assert_near(o.waves, 32, 0);
    assert_int_equal(o.limit, LIMIT_SLOTS);
}

TEST(lds_limits_by_whole_blocks)
{
    struct occupancy o =
        on("gfx942:sramecc+:xnack-", (struct kernel_use){.vgprs = 62, .threads = 32, .lds = 34816});
    assert_near(o.waves, 1, 0);
    assert_near(o.blocks, 1, 0);
    assert_near(o.lanes_used, 0.5, 0);
    assert_near(o.by_registers, 32, 0);
    assert_int_equal(o.limit, LIMIT_LDS);
    o = on("gfx90a", (struct kernel_use){.vgprs = 62, .threads = 256, .lds = 16384});
    assert_near(o.waves, 16, 0);
    assert_near(o.blocks, 4, 0);
}

/* 32 registers let 64 warps in, but an SM holds no more than 32 blocks. */
TEST(block_slots_limit_where_the_device_has_them)
{
    struct kernel_use one_wave = {.vgprs = 32, .threads = 32}, four = {.vgprs = 32, .threads = 128};
    struct occupancy o = occupancy_of(&one_wave, gpu_limits_of("sm_90a"));
    assert_near(o.waves, 32, 0);
    assert_int_equal(o.limit, LIMIT_BLOCKS);
    o = occupancy_of(&four, gpu_limits_of("sm_90a"));
    assert_near(o.waves, 64, 0);
    assert_int_equal(o.limit, LIMIT_SLOTS);
    one_wave.threads = 64;
    o = occupancy_of(&one_wave, gpu_limits_of("gfx942"));
    assert_near(o.waves, 32, 0);
    assert_int_equal(o.limit, LIMIT_SLOTS);
}

TEST(the_gpus_of_2025_have_limits)
{
    static const struct {
        const char *arch;
        struct kernel_use use;
        double waves;
    } cases[] = {
        {"gfx950", {.vgprs = 64, .threads = 256, .lds = 65536}, 8}, /* of 160 KiB */
        {"gfx950:sramecc+:xnack-", {.vgprs = 252, .agprs = 100, .threads = 256, .lds = NAN}, 4},
        {"gfx1250", {.vgprs = 128, .threads = 256, .lds = 65536}, 32},
        {"gfx1250", {.vgprs = 64, .threads = 256, .lds = 65536}, 40},
        {"sm_100f", {.vgprs = 128, .threads = 128, .lds = 100000}, 8},
        {"sm_103a", {.vgprs = 128, .threads = 128, .lds = NAN}, 16},
        {"sm_120", {.vgprs = 32, .threads = 256, .lds = NAN}, 48},
        {"sm_120", {.vgprs = 32, .threads = 32, .lds = NAN}, 24},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_near(on(cases[i].arch, cases[i].use).waves, cases[i].waves, 0);
    assert_near(occupancy_per_simd(&cases[1].use, gpu_limits_of("gfx950")), 1, 0);
}

/* LLVM's remarks say 7 waves beyond 96 SGPRs; LDS is given in granules, and NVIDIA's blocks take 1 KiB more.
 */
TEST(what_is_given_in_granules_is_counted_in_them)
{
    static const struct {
        const char *arch;
        struct kernel_use use;
        double waves;
    } cases[] = {
        {"gfx942", {.vgprs = 8, .sgprs = 96, .threads = 64, .lds = NAN}, 32},
        {"gfx942", {.vgprs = 8, .sgprs = 101, .threads = 64, .lds = NAN}, 28},
        {"gfx90a", {.vgprs = 8, .sgprs = 112, .threads = 64, .lds = NAN}, 28},
        {"gfx950", {.vgprs = 128, .sgprs = 102, .threads = 64, .lds = NAN}, 16},
        {"gfx942", {.vgprs = 8, .sgprs = NAN, .threads = 64, .lds = NAN}, 32},
        {"gfx1250", {.vgprs = 8, .sgprs = 106, .threads = 32, .lds = NAN}, 64},
        {"gfx942", {.vgprs = 8, .threads = 256, .lds = 21504}, 12},
        {"gfx942", {.vgprs = 8, .threads = 256, .lds = 21600}, 8},
        {"gfx950", {.vgprs = 8, .threads = 256, .lds = 53760}, 12},
        {"gfx950", {.vgprs = 8, .threads = 256, .lds = 54000}, 8},
        {"sm_90a", {.vgprs = 32, .threads = 128, .lds = 76800}, 12},
        {"sm_90a", {.vgprs = 32, .threads = 128, .lds = 77000}, 8},
        {"sm_90a", {.vgprs = 32, .threads = 128, .lds = 232448}, 4},
        {"sm_80", {.vgprs = 32, .threads = 128, .lds = 83968}, 4},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_near(on(cases[i].arch, cases[i].use).waves, cases[i].waves, 0);
    assert_near(occupancy_per_simd(&cases[1].use, gpu_limits_of("gfx942")), 7, 0);
    assert_near(occupancy_per_simd(&(struct kernel_use){.vgprs = 0}, gpu_limits_of("gfx942")), 8, 0);
    assert_true(isnan(occupancy_per_simd(&(struct kernel_use){.vgprs = NAN}, gpu_limits_of("gfx942"))));
}

TEST(an_unknown_architecture_has_no_limits)
{
    assert_null(gpu_limits_of("gfx1100"));
    assert_null(gpu_limits_of("gfx9420"));
    assert_null(gpu_limits_of(""));
    assert_null(gpu_limits_of(NULL));
    assert_non_null(gpu_limits_of("sm_90a"));
}

/* The seeds' figures with the resources of their kernels. */
static struct store open_with_resources(const char *name)
{
    static const struct {
        const char *variant, *impl;
        double at_8192, at_16384;
    } rows[] = {{"baseline", "flash_v2_naive", 403.26, 1181.64},
                {"v3", "v3_q_lds", 3540.68, 13366.90},
                {"v4", "v4_ql_v_lds", 2026.69, 7508.25}};
    struct store s = open_store(name);
    struct draft d;
    draft_night(&d, 1);
    snprintf(d.info.bundle, sizeof d.info.bundle, "/x/artifacts_remote/2026-02-14/b3_90");
    d.details.files = calloc(COUNT(rows), sizeof *d.details.files);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct err err = {0};
        struct buf body;
        char path[256];
        struct run_test *t = draft_shot(&d, rows[i].variant, 8192, 1, rows[i].at_8192);
        snprintf(t->attn_impl, sizeof t->attn_impl, "%s", rows[i].impl);
        t = draft_shot(&d, rows[i].variant, 16384, 1, rows[i].at_16384);
        snprintf(t->attn_impl, sizeof t->attn_impl, "%s", rows[i].impl);
        struct run_file *f = &d.details.files[d.details.n_files++];
        snprintf(f->path, sizeof f->path, "%s/resources.json", rows[i].variant);
        snprintf(path, sizeof path, "tests/fixtures/resources_gfx942/%s.json", rows[i].variant);
        buf_init(&body, DETAILS_BODY_MAX);
        assert_ok(fs_read_file(path, body.max, &body, &err), &err);
        sha256_of(buf_str(&body), body.len, f->sha256);
        f->size = (int64_t)body.len;
        f->body = buf_steal(&body);
    }
    must_store(&s, &d);
    return s;
}

static char *render_beside(struct store *s, enum report_lang lang, const char *beside)
{
    struct err err = {0};
    struct buf out;
    struct report_request req = report_defaults();
    req.store = s;
    req.run = "latest";
    req.kind = REPORT_REGRESSION;
    req.beside = beside;
    req.langs[0] = lang;
    buf_init(&out, REPORT_BYTES_MAX);
    assert_ok(report_render(&req, &out, &err), &err);
    return buf_steal(&out);
}

static char *render(struct store *s, enum report_lang lang)
{
    return render_beside(s, lang, NULL);
}

static void holds(const char *text, const char *words)
{
    if (!strstr(text, words))
        fail_msg("\"%s\" is missing in:\n%s", words, text);
}

TEST(the_baseline_uses_scratch_and_v3_and_v4_hold_one_half_empty_wave)
{
    AUTO(store_close) struct store s = open_with_resources("evidence.db");
    char *text = render(&s, REPORT_EN);
    holds(text, "`flash_v2_naive` uses 528 bytes of scratch per lane in addition to 19 VGPRs");
    holds(text, "`v3` is 8.78-11.3x slower than `baseline`");
    holds(text, "a block of `q_lds::attend<128, 16>` uses 34816 of the 65536 bytes");
    holds(text, "a block of `q_lds::attend<128, 32>` uses 36864 of the 65536 bytes");
    holds(text, "its 58 VGPRs would allow 32 waves");
    holds(text, "the 32 threads of a block of `q_lds::attend<128, 32>` fill 50 % of their 64-lane waves");
    holds(text, "**Combined effect: a compute unit holds a single wave, 50 % full**");
    holds(text, "`q_lds::attend<128, 16>` reads K or V 8 times per output");
    holds(text, "](artifacts_remote/2026-02-14/b3_90/v3/resources.json)");
    holds(text, "**Keep the variables of `baseline` in registers**");
    holds(text, "The compiler spilled no registers");
    free(text);
    text = render(&s, REPORT_ES);
    holds(text, "`flash_v2_naive` usa 528 bytes de scratch por hilo");
    holds(text, "una sola onda, llena al 50 %");
    free(text);
}

TEST(a_prefill_report_tells_the_cause_too)
{
    AUTO(store_close) struct store s = open_with_resources("prefill.db");
    struct report_request req = report_defaults();
    struct err err = {0};
    AUTO(buf_release) struct buf out = {.max = REPORT_BYTES_MAX};
    req.store = &s;
    req.run = "latest";
    assert_ok(report_render(&req, &out, &err), &err);
    holds(buf_str(&out), "**Variables in scratch:** `flash_v2_naive` uses 528 bytes of scratch per lane");
}

TEST(links_lead_from_where_the_document_stands)
{
    static const struct {
        const char *beside, *link;
    } cases[] = {{"/x", "(artifacts_remote/2026-02-14/b3_90/v3/resources.json)"},
                 {"/", "(x/artifacts_remote/2026-02-14/b3_90/v3/resources.json)"},
                 {"/x/reports/may", "(../../artifacts_remote/2026-02-14/b3_90/v3/resources.json)"},
                 {"/x/artifacts_remote/2026-02-14", "(b3_90/v3/resources.json)"},
                 {"/x/artifacts_remote/2026-02-1", "(../2026-02-14/b3_90/v3/resources.json)"},
                 {"/x/artifacts_remote/2026-02-14/b3_90", "(v3/resources.json)"}};
    AUTO(store_close) struct store s = open_with_resources("links.db");
    for (size_t i = 0; i < COUNT(cases); i++) {
        AUTO_FREE char *text = render_beside(&s, REPORT_EN, cases[i].beside);
        holds(text, cases[i].link);
    }
}

TEST(nothing_is_said_of_what_was_not_recorded)
{
    AUTO(store_close) struct store s = open_store("silent.db");
    struct draft d;
    draft_night(&d, 1);
    draft_shot(&d, "baseline", 256, 1, 1);
    draft_shot(&d, "v3", 256, 1, 9);
    must_store(&s, &d);
    AUTO_FREE char *text = render(&s, REPORT_EN);
    assert_null(strstr(text, "Evidence for the cause"));
}

static void add_kernel(struct draft *d, size_t variant, const char *name, int64_t vgprs, int64_t waits)
{
    struct run_details *out = &d->details;
    ALLOC_GROW(out->kernels, out->n_kernels + 1, out->cap_kernels);
    struct run_kernel_code *k = &out->kernels[out->n_kernels++];
    *k = (struct run_kernel_code){.variant = variant, .name = xstrdup(name)};
    kernel_facts_init(&k->facts);
    sha256_of(name, strlen(name), k->sha256);
    snprintf(d->variants[variant].code_sha256, sizeof k->sha256, "%s", k->sha256);
    k->facts.resource[KERNEL_VGPRS] = vgprs;
    for (size_t i = 0; waits && i < INSTRUCTION_CLASSES; i++)
        k->facts.hot_loop[i] = 0;
    if (!waits)
        return;
    k->facts.hot_loop[INSTRUCTION_MATRIX] = 8;
    k->facts.hot_loop[INSTRUCTION_VECTOR] = 24 - waits;
    k->facts.hot_loop[INSTRUCTION_WAIT] = waits;
    k->facts.hot_loop[INSTRUCTION_BARRIER] = waits > 10 ? 8 : 0;
}

/* Of code that every variant has, like a kernel that fills a buffer, nothing is said. */
TEST(the_hot_loop_of_a_slow_variant_stands_beside_its_speed)
{
    AUTO(store_close) struct store s = open_store("loops.db");
    struct draft d;
    draft_night(&d, 1);
    draft_shot(&d, "baseline", 256, 1, 1);
    draft_shot(&d, "v3", 256, 1, 8);
    add_kernel(&d, 0, "_Z4fillv", 8, 1);
    add_kernel(&d, 0, "_Z5naivev", 128, 2);
    add_kernel(&d, 1, "_Z4fillv", 8, 1);
    add_kernel(&d, 1, "_Z6attendv", 62, 12);
    add_kernel(&d, 1, "_Z6otherv", 62, 12);
    must_store(&s, &d);
    AUTO_FREE char *text = render(&s, REPORT_EN);
    holds(text,
          "| `baseline` |       1.00x | `naive`  |       128 |       32 |   25 % |   0 |        0 |     2 |");
    holds(text,
          "| `v3`       |       0.12x | `attend` |        62 |       40 |   20 % |   0 |        8 |    12 |");
    holds(text, "have the numbers of one above (1)");
    assert_null(strstr(text, "`fill`"));
    assert_null(strstr(text, "`other`"));
}

/* A folder of the B3.89 layout, or an import, has the numbers of a build, but not those of its kernels. */
TEST(registers_and_scratch_of_an_import_are_shown)
{
    AUTO(store_close) struct store s = open_store("imported.db");
    struct draft d;
    draft_night(&d, 1);
    draft_shot(&d, "baseline", 256, 1, 1);
    draft_shot(&d, "v3", 256, 1, 8);
    d.variants[1].value[METRIC_VGPRS] = 19;
    d.variants[1].value[METRIC_SCRATCH_BYTES] = 528;
    must_store(&s, &d);
    AUTO_FREE char *text = render(&s, REPORT_EN);
    holds(text, "| `v3`    |       0.12x |        19 |              **528** |");
}

TEST(one_other_process_is_told_in_the_singular)
{
    AUTO(store_close) struct store s = open_store("neighbours.db");
    struct draft d;
    draft_night(&d, 1);
    draft_shot(&d, "one", 256, 1, 1)->activity.neighbours = 1;
    draft_shot(&d, "two", 256, 1, 1)->activity.neighbours = 2;
    must_store(&s, &d);
    AUTO_FREE char *text = render(&s, REPORT_EN);
    holds(text, "`one` at 256: another process held memory of the GPU.");
    holds(text, "`two` at 256: up to 2 other processes held memory of the GPU.");
}

GROUP(scratch_make, scratch_remove);
