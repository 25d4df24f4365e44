/* sample_row: lines of vram_samples.jsonl, which JSON readers must take for what was measured. */
#include "tests/unit/support.h"

#include "executor/telemetry/sample.h"

#include <jansson.h>
#include <math.h>

/* The row as a reader sees it. The caller decrefs. */
static json_t *row_of(const struct sample *s)
{
    struct buf text;
    buf_init(&text, 4096);
    sample_row_add(&text, s);
    assert_true(text.len > 2 && text.data[text.len - 1] == '\n');
    json_t *row = json_loads(buf_str(&text), 0, NULL);
    assert_non_null(row);
    buf_release(&text);
    return row;
}

TEST(a_row_has_what_was_measured)
{
    struct sample s;
    AUTO(buf_release) struct buf text = {.max = 4096};
    sample_clear(&s, 12.34567);
    s.value[SAMPLE_VRAM_USED] = 205822885888.0;
    s.value[SAMPLE_POWER] = 750;
    s.value[SAMPLE_CPU] = 0.05;
    s.value[SAMPLE_SCLK] = 2099;
    s.value[SAMPLE_TEMP_JUNCTION] = 61.996;
    s.value[SAMPLE_NEIGHBOURS] = 0;
    sample_row_add(&text, &s);
    json_t *row = row_of(&s);
    assert_non_null(strstr(buf_str(&text), "{\"t\":12.3457,"));
    assert_int_equal(json_object_size(row), 7);
    assert_true(json_is_integer(json_object_get(row, sample_key(SAMPLE_VRAM_USED))));
    assert_int_equal(json_integer_value(json_object_get(row, sample_key(SAMPLE_VRAM_USED))), 205822885888);
    assert_near(json_number_value(json_object_get(row, sample_key(SAMPLE_POWER))), 750, 0);
    assert_near(json_number_value(json_object_get(row, sample_key(SAMPLE_CPU))), 0.05, 1e-12);
    assert_near(json_number_value(json_object_get(row, sample_key(SAMPLE_TEMP_JUNCTION))), 62, 1e-12);
    assert_int_equal(json_integer_value(json_object_get(row, sample_key(SAMPLE_SCLK))), 2099);
    assert_int_equal(json_integer_value(json_object_get(row, sample_key(SAMPLE_NEIGHBOURS))), 0);
    json_decref(row);
}

/* Numbers of every size, and what no sensor should say. */
TEST(every_number_comes_back)
{
    static const double values[] = {
        0, 0.01, 0.1, 0.99, 1, 9.5, 10, 99.99, 100, 1e6, -40.25, -0.5, 1e9, 123456.78, 999999999999.99, 9e14};
    for (size_t i = 0; i < COUNT(values); i++) {
        struct sample s;
        sample_clear(&s, fabs(values[i]));
        s.value[SAMPLE_TEMP_MEM] = values[i];
        json_t *row = row_of(&s), *value = json_object_get(row, sample_key(SAMPLE_TEMP_MEM));
        assert_true(json_is_real(value));
        assert_near(json_real_value(value), values[i], fabs(values[i]) * 1e-12);
        assert_near(json_number_value(json_object_get(row, "t")), fabs(values[i]), fabs(values[i]) * 1e-12);
        json_decref(row);
    }
    const double bad[] = {NAN, 1e15, -1e300, INFINITY};
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct sample s;
        sample_clear(&s, bad[i]);
        s.value[SAMPLE_POWER] = s.value[SAMPLE_VRAM_USED] = bad[i];
        json_t *row = row_of(&s);
        assert_int_equal(json_object_size(row), 1);
        json_decref(row);
    }
}
