/* What the pictures of a report show, as the commands that gnuplot is given: how many series, from where the
 * bars start, what sets the range, and what stands on the axes. */
#include "reports/plot/picture.h"
#include "reports/plot/script.h"
#include "reports/words/message.h"
#include "tests/unit/results_support.h"

static struct report_model load(struct store *s, struct report_subject *subject)
{
    struct err err = {0};
    struct report_model m;
    *subject = (struct report_subject){.store = s, .run = "latest", .compare = compare_defaults()};
    assert_ok(report_model_load(&m, subject, &err), &err);
    return m;
}

static struct buf script(void)
{
    struct buf b;
    buf_init(&b, 1 << 22);
    return b;
}

static void holds(const struct buf *b, const char *words)
{
    if (!strstr(buf_str(b), words))
        fail_msg("\"%s\" is missing in:\n%s", words, buf_str(b));
}

static int count(const char *text, const char *words)
{
    int n = 0;
    for (const char *at = text; (at = strstr(at, words)); at++)
        n++;
    return n;
}

/* Twelve variants at two contexts, each faster than the one before. */
static struct store store_twelve(const char *name, double step)
{
    struct store s = open_store(name);
    struct draft d;
    draft_night(&d, 1);
    double speed = 1;
    for (int v = 0; v < 12; v++) {
        char variant[16];
        snprintf(variant, sizeof variant, v ? "v%d" : "baseline", v);
        for (int context = 512; context <= 1024; context *= 2)
            for (int i = 1; i <= 2; i++)
                draft_shot(&d, variant, context, i, context * (1 + 0.01 * i) / speed);
        speed *= step;
    }
    must_store(&s, &d);
    return s;
}

/* A program that only has a wall time measures no tokens. */
TEST(contexts_are_tokens_only_of_a_prompt)
{
    AUTO(store_close) struct store s = open_store("tokens.db");
    struct report_subject subject;
    for (int prompt = 0; prompt < 2; prompt++) {
        struct draft d;
        draft_night(&d, 1 + prompt);
        for (int v = 0; v < 2; v++)
            for (int i = 1; i <= 2; i++) {
                struct run_test *t = draft_shot(&d, v ? "v1" : "baseline", 512, i, 1 + v);
                if (!prompt)
                    t->value[METRIC_PREFILL_S] = NAN;
            }
        must_store(&s, &d);
        AUTO(report_model_release) struct report_model m = load(&s, &subject);
        struct buf b = script();
        assert_true(picture_speedup(&b, &m, REPORT_EN));
        holds(&b, prompt ? "set xlabel 'context (tokens)'" : "set xlabel 'context'");
        buf_release(&b);
    }
}

TEST(a_plot_has_eight_series_and_the_others_have_panels)
{
    AUTO(store_close) struct store s = store_twelve("twelve.db", 1.1);
    struct report_subject subject;
    AUTO(report_model_release) struct report_model m = load(&s, &subject);
    struct buf b = script();
    assert_true(picture_scaling(&b, &m, REPORT_EN));
    assert_int_equal(count(buf_str(&b), "with linespoints"), 8);
    assert_int_equal(count(buf_str(&b), "with vectors"), 8); /* error bars */
    buf_clear(&b);
    assert_true(picture_scaling_panels(&b, &m, REPORT_EN));
    assert_int_equal(count(buf_str(&b), "set title"), 4);
    holds(&b, "set multiplot layout 2,3");
    holds(&b, "set title 'v11'");
    buf_clear(&b);
    assert_true(picture_speedup(&b, &m, REPORT_EN));
    assert_int_equal(count(buf_str(&b), "with boxes"), 7); /* the reference is a line */
    holds(&b, "set yrange [0:");                           /* linear bars start at 0 */
    buf_clear(&b);
    assert_true(picture_speedup_panels(&b, &m, REPORT_EN));
    assert_int_equal(count(buf_str(&b), "with boxes"), 4);
    buf_release(&b);
}

TEST(bars_on_a_logarithmic_axis_start_at_one)
{
    AUTO(store_close) struct store s = store_twelve("log.db", 2);
    struct report_subject subject;
    AUTO(report_model_release) struct report_model m = load(&s, &subject);
    struct buf b = script();
    assert_true(picture_speedup_is_log(&m));
    assert_true(picture_speedup(&b, &m, REPORT_EN));
    assert_null(
        strstr(buf_str(&b), "logscale")); /* it is the logarithms that are drawn, so that bars start at 0 */
    holds(&b, "'1' 0");
    holds(&b, "'10' 1");
    holds(&b, "plot 0 with lines");
    buf_release(&b);
}

/* A time that does not grow at all: n^2 would need five decades. */
TEST(n_squared_does_not_set_the_range)
{
    AUTO(store_close) struct store s = open_store("flat.db");
    struct report_subject subject;
    struct draft d;
    draft_night(&d, 1);
    for (int context = 16; context <= 4096; context *= 4)
        draft_shot(&d, "baseline", context, 1, 2);
    must_store(&s, &d);
    AUTO(report_model_release) struct report_model m = load(&s, &subject);
    struct buf b = script();
    assert_true(picture_scaling(&b, &m, REPORT_EN));
    holds(&b, "set yrange [1.6:2.5]");
    holds(&b, "plot sample [16:4096]");
    buf_release(&b);
}

TEST(a_history_has_dates_and_what_the_run_is_held_against)
{
    AUTO(store_close) struct store s = open_store("history.db");
    struct report_subject subject;
    for (int night = 1; night <= 30; night++) {
        struct draft d;
        draft_night(&d, night);
        for (int i = 1; i <= 2; i++)
            draft_shot(&d, "baseline", 512, i, (night < 30 ? 10 : 15) + 0.1 * ((night + i) % 3));
        must_store(&s, &d);
    }
    AUTO(report_model_release) struct report_model m = load(&s, &subject);
    assert_int_equal(m.history.n_plotted, 1);
    struct buf b = script();
    assert_true(picture_history(&b, &m, &m.history.plotted[0], REPORT_EN));
    holds(&b, "'2025-01-02' -29");
    holds(&b, "'2025-01-31' 0)");
    holds(&b, "title 'expected'");
    holds(&b, "title 'threshold'");
    holds(&b, "with vectors"); /* the spread of this run */
    assert_true(m.history.plotted[0].tics <= PLOTTED_TICS_MAX);
    buf_release(&b);
}

/* Three kernels in eight shapes: three lines, not 24 of three styles. */
TEST(memory_has_one_line_a_kernel)
{
    static const char *const kernels[] = {"naive", "serial", "flash"};
    struct memory_trace traces[24];
    struct run_variant variants[24] = {0};
    double t[] = {0, 0.5, 1}, bytes[24][3];
    struct report_model m = {.now = {.variants = variants, .n_variants = 24},
                             .memory = {.traces = traces, .n_traces = 24}};
    for (size_t i = 0; i < 24; i++) {
        snprintf(variants[i].name, sizeof variants[i].name, "%s_b%zu", kernels[i / 8], i % 8);
        snprintf(variants[i].kernel, sizeof variants[i].kernel, "%s", kernels[i / 8]);
        snprintf(variants[i].shape, sizeof variants[i].shape, "b%zu", i % 8);
        for (size_t k = 0; k < 3; k++)
            bytes[i][k] = (double)((i % 8 + 1) << 20);
        traces[i] =
            (struct memory_trace){.variant = i, .context = 512, .count = 3, .t = t, .bytes = bytes[i]};
    }
    struct buf b = script();
    assert_true(picture_memory(&b, &m, REPORT_EN));
    assert_int_equal(count(buf_str(&b), "with lines"), 3);
    holds(&b, "title 'serial b7, 512'");
    assert_false(picture_memory_panels(&b, &m, REPORT_EN));
    buf_release(&b);
}

/* variants: of three shapes each, at two contexts. */
static struct store store_shapes(const char *name, int variants)
{
    static const char *const shapes[] = {"block64", "block128", "block256"};
    struct store s = open_store(name);
    struct draft d;
    draft_night(&d, 1);
    for (int v = 0; v < 3 * variants; v++) {
        char variant[32];
        snprintf(variant, sizeof variant, "v%d_%s", v / 3, shapes[v % 3]);
        for (int context = 512; context <= 1024; context *= 2)
            draft_shot(&d, variant, context, 1, context * (1 + 0.3 * v));
        snprintf(d.variants[v].kernel, sizeof d.variants[v].kernel, "v%d", v / 3);
        snprintf(d.variants[v].shape, sizeof d.variants[v].shape, "%s", shapes[v % 3]);
    }
    for (int v = 0; variants == 1 && v < 3; v++)
        snprintf(d.variants[v].axes, sizeof d.variants[v].axes, "{\"block\":\"%s\"}", shapes[v] + 5);
    must_store(&s, &d);
    return s;
}

/* A plan with axes: each of its points has a colour and a name, also where all are of one variant. */
TEST(points_of_one_variant_can_be_told_apart)
{
    for (int variants = 1; variants <= 2; variants++) {
        struct report_subject subject;
        AUTO(store_close) struct store s = store_shapes(variants == 1 ? "points.db" : "shapes.db", variants);
        AUTO(report_model_release) struct report_model m = load(&s, &subject);
        AUTO(buf_release) struct buf lines = script(), bars = script();
        assert_true(picture_scaling(&lines, &m, REPORT_EN));
        assert_true(picture_speedup(&bars, &m, REPORT_EN));
        holds(&lines, "title 'v0_block64' with linespoints");
        holds(&lines, "title 'v0_block256' with linespoints");
        for (int i = 0; i < 3 * variants; i++) {
            char block[16];
            snprintf(block, sizeof block, "lc rgb '%s'", script_colour((size_t)i));
            assert_int_equal(count(strstr(buf_str(&lines), "plot "), block), 2); /* and its error bars */
        }
        holds(&bars, variants == 1 ? "title 'v0_block256'" : "title 'v1'");
        holds(&bars, variants == 1 ? "('512' 0, '1024' 1)" : "'block64' 0");
    }
}

GROUP(scratch_make, scratch_remove);
