/* samples: packing is lossless and compact, and damage is detected. */
#include "tests/unit/results_support.h"

#include "results/stats/stats.h"
#include "results/store/samples.h"

static void assert_same(const struct samples *a, const struct samples *b)
{
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->n_columns, b->n_columns);
    for (size_t i = 0; i < a->n_columns; i++) {
        assert_string_equal(a->columns[i].name, b->columns[i].name);
        for (size_t j = 0; j < a->count; j++) {
            double x = a->columns[i].values[j], y = b->columns[i].values[j];
            if (isnan(x) ? !isnan(y) : x != y || signbit(x) != signbit(y))
                fail_msg("%s[%zu]: %.17g became %.17g", a->columns[i].name, j, x, y);
        }
    }
}

static size_t round_trip(const struct samples *t)
{
    struct err err = {0};
    AUTO(buf_release) struct buf packed = {.max = SIZE_MAX / 2};
    AUTO(samples_release) struct samples back = {0};
    samples_pack(t, &packed);
    assert_ok(samples_unpack(packed.data, packed.len, &back, &err), &err);
    assert_same(t, &back);
    return packed.len;
}

TEST(odd_values_survive)
{
    const double values[] = {0,   -0.0,     1.5,    -3,          1e300, 5e-324, 0.1,  NAN,
                             NAN, 12345678, 0x1p52, 281474976.5, -1e9,  1e15,   1e16, 2};
    struct err err = {0};
    struct samples t;
    samples_init(&t);
    assert_false(samples_set(&t, "early", 1));
    for (size_t i = 0; i < COUNT(values); i++) {
        assert_ok(samples_add(&t, &err), &err);
        if (!isnan(values[i]))
            assert_true(samples_set(&t, "odd", values[i]));
        assert_true(samples_set(&t, "whole", (double)(i * 4096)));
        if (i % 3 == 0)
            assert_true(samples_set(&t, "rare", 0.25 * (double)i));
    }
    assert_false(samples_set(&t, "bad name", 1));
    round_trip(&t);
    samples_release(&t);
    round_trip(&t);
}

/* As a sampler at 10 Hz writes it: a jittered clock, RSS in pages, CPU in tenths, VRAM that moves, GPU busy,
 * power. */
static void make_samples(struct samples *t, size_t n)
{
    struct err err = {0};
    struct stats_rng rng;
    double rss = 1 << 20, vram = 1 << 30, clock = 0;
    samples_init(t);
    stats_rng_seed(&rng, 5);
    for (size_t i = 0; i < n; i++) {
        clock += 0.1 + 0.001 * (double)(int)(3 * stats_rng_normal(&rng));
        rss += 4096 * (double)stats_rng_below(&rng, 200);
        vram += stats_rng_below(&rng, 4) ? 0 : 2097152 * (double)stats_rng_below(&rng, 9);
        assert_ok(samples_add(t, &err), &err);
        samples_set(t, "t", round(clock * 1000) / 1000);
        samples_set(t, "rss", rss);
        samples_set(t, "cpu", round(995 + 10 * stats_rng_normal(&rng)) / 10);
        samples_set(t, "vram_used", vram);
        samples_set(t, "gpu_busy", (double)(90 + stats_rng_below(&rng, 11)));
        samples_set(t, "power_w", (double)(600 + stats_rng_below(&rng, 80)));
        samples_set(t, "temp_c", (double)(70 + stats_rng_below(&rng, 4)));
    }
}

TEST(a_sample_takes_few_bytes)
{
    AUTO(samples_release) struct samples t = {0};
    make_samples(&t, 20000);
    double each = (double)round_trip(&t) / 20000;
    if (each >= 16)
        fail_msg("%.2f bytes a sample", each);
}

TEST(damage_is_an_error_and_nothing_worse)
{
    struct err err = {0};
    AUTO(buf_release) struct buf packed = {.max = SIZE_MAX / 2};
    struct samples t, back;
    struct stats_rng rng;
    make_samples(&t, 200);
    samples_pack(&t, &packed);
    for (size_t len = 0; len < packed.len; len++)
        assert_err(samples_unpack(packed.data, len, &back, &err), &err, ERR_STORAGE, "damaged");
    stats_rng_seed(&rng, 9);
    size_t noticed = 0;
    for (int i = 0; i < 3000; i++) {
        size_t at = stats_rng_below(&rng, packed.len);
        char was = packed.data[at];
        packed.data[at] = (char)stats_rng_next(&rng);
        noticed += samples_unpack(packed.data, packed.len, &back, &err) != 0;
        samples_release(&back);
        packed.data[at] = was;
    }
    assert_true(noticed > 0);
    samples_release(&t);
}

static int parse(const char *text, struct samples *out, int *skipped, struct err *err)
{
    return samples_parse(text, strlen(text), "samples.jsonl", out, skipped, err);
}

TEST(lines_become_samples)
{
    struct err err = {0};
    AUTO(samples_release) struct samples t = {0};
    int skipped;
    static const char text[] = "{\"t\":0.1,\"rss\":10}\n"
                               "not json\n\n"
                               "{\"t\":0.2,\"rss\":\"many\",\"gpu_busy\":5}\n"
                               "[1,2]\n"
                               "{\"t\":0.3}";
    assert_ok(parse(text, &t, &skipped, &err), &err);
    assert_int_equal(t.count, 3);
    assert_int_equal(skipped, 2);
    assert_near(samples_column(&t, "t")[2], 0.3, 0);
    assert_true(isnan(samples_column(&t, "rss")[1]));
    assert_true(isnan(samples_column(&t, "gpu_busy")[0]));
    assert_null(samples_column(&t, "vram_used"));
}

/* Each line once behind one that names its columns, as it is read mostly, and once alone, as jansson reads
 * it. */
TEST(the_quick_way_reads_what_the_parser_reads)
{
    static const char *const lines[] = {
        "{\"a\":1,\"b\":2}",
        "{\"b\":2,\"a\":1}",
        "{\"a\":-0.5}",
        "{\"a\":0,\"b\":0.0}",
        "{\"a\":01}",
        "{\"a\":-0}",
        "{\"a\":-0.0}",
        "{\"a\":1.}",
        "{\"a\":.5}",
        "{\"a\":1e3}",
        "{\"a\":123456789012345}",
        "{\"a\":1234567890123456}",
        "{\"a\":0.1234567890123}",
        "{\"a\":9007199254740993}",
        "{\"a\":1,\"a\":2}",
        "{\"a\":1,}",
        "{}",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1 }",
        "{\"a\":1}}",
        "{\"a\":1,\"b\":\"x\"}",
        "{\"a\":-}",
        "{\"\":1}",
        "{\"a\":1,\"b\":null}",
        "{\"a\":99.7,\"b\":1e-320}",
        "{",
        "{\"a\":1\"b\":2}",
        "{\"\\u0061\":1}",
        "{\"a\":1;\"b\":2}",
        "{\"a\":--1}",
        "{\"a\":1-1}",
    };
    for (size_t i = 0; i < COUNT(lines); i++) {
        struct err err = {0};
        struct samples quick, slow;
        int quick_skipped, slow_skipped;
        char text[256];
        snprintf(text, sizeof text, "{\"a\":7,\"b\":7}\n%s\n", lines[i]);
        assert_ok(parse(text, &quick, &quick_skipped, &err), &err);
        snprintf(text, sizeof text, "{\"a\":7, \"b\":7}\n{ %s\n", lines[i] + (*lines[i] == '{'));
        assert_ok(parse(text, &slow, &slow_skipped, &err), &err);
        if (quick_skipped != slow_skipped)
            fail_msg("%s: %d skipped, by the parser %d", lines[i], quick_skipped, slow_skipped);
        assert_same(&quick, &slow);
        samples_release(&quick);
        samples_release(&slow);
    }
}

TEST(limits_on_lines_and_columns_hold)
{
    struct err err = {0};
    AUTO(samples_release) struct samples t = {0};
    int skipped;
    char *line = malloc(70000), wide[2048] = "{";
    memset(line, ' ', 70000);
    line[69999] = '\0';
    assert_err(parse(line, &t, &skipped, &err), &err, ERR_INPUT, "samples.jsonl", "longer than");
    free(line);
    for (int i = 0; i < 40; i++)
        snprintf(wide + strlen(wide), sizeof wide - strlen(wide), "%s\"c%d\":%d", i ? "," : "", i, i);
    snprintf(wide + strlen(wide), sizeof wide - strlen(wide), "}\n");
    assert_ok(parse(wide, &t, &skipped, &err), &err);
    assert_int_equal(t.n_columns, SAMPLES_COLUMNS_MAX);
    assert_int_equal(skipped, 1);
}

GROUP(scratch_make, scratch_remove);
