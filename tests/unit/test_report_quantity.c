/* How metrics are shown: in which unit, under which title, with how many digits. */
#include "reports/words/quantity.h"
#include "tests/unit/support.h"

#include <math.h>

TEST(prefill_time_is_shown_in_seconds)
{
    struct quantity q = quantity_of(METRIC_PREFILL_S, false);
    assert_true(q.prompt);
    assert_string_equal(quantity_title(&q, REPORT_EN), "Prefill (s)");
    assert_string_equal(q.unit, "s");
    assert_string_equal(quantity_text(&q, 22.774).s, "22.77");
}

/* The time of a kernel launched alone, whichever of the two keys it was told under. */
TEST(kernel_time_is_shown_in_milliseconds_and_never_called_prefill)
{
    struct quantity by_seconds = quantity_of(METRIC_PREFILL_S, true);
    struct quantity by_key = quantity_of(METRIC_KERNEL_MS, false);
    assert_string_equal(quantity_text(&by_seconds, 0.002596).s, "2.596");
    assert_string_equal(quantity_text(&by_key, 2.596).s, "2.596");
    for (int i = 0; i < 2; i++) {
        const struct quantity *q = i ? &by_seconds : &by_key;
        assert_false(q->prompt);
        assert_string_equal(quantity_title(q, REPORT_EN), "Time (ms)");
        assert_string_equal(q->unit, "ms");
        assert_int_equal(q->axis, MSG_PLOT_KERNEL);
    }
}

TEST(wall_time_has_words_of_its_own)
{
    struct quantity q = quantity_of(METRIC_WALL_S, false);
    assert_string_equal(quantity_title(&q, REPORT_EN), "Wall time (s)");
    assert_int_equal(q.axis, MSG_PLOT_WALL);
}

TEST(bytes_bring_their_own_unit)
{
    struct quantity q = quantity_of(METRIC_VRAM_PEAK, false);
    assert_string_equal(q.unit, "");
    assert_string_equal(quantity_text(&q, 1.5 * 1024 * 1024 * 1024).s, "1.5 GiB");
    assert_string_equal(metric_with_unit(METRIC_VRAM_PEAK, 1.5 * 1024 * 1024 * 1024).s, "1.5 GiB");
}

TEST(a_value_with_its_unit_uses_milliseconds_below_ten)
{
    assert_string_equal(metric_with_unit(METRIC_PREFILL_S, 0.0095).s, "9.500 ms");
    assert_string_equal(metric_with_unit(METRIC_PREFILL_S, 0.0105).s, "0.0105 s");
    assert_string_equal(metric_with_unit(METRIC_TOK_PER_S, 180).s, "180 tok/s");
    assert_string_equal(metric_with_unit(METRIC_VGPRS, 96).s, "96");
}

TEST(values_of_one_sentence_share_their_unit)
{
    assert_string_equal(metric_beside(METRIC_WALL_S, 0.0095, 1.02).s, "0.0095 s");
    assert_string_equal(metric_beside(METRIC_WALL_S, 1.02, 0.0095).s, "1.02 s");
    assert_string_equal(metric_beside(METRIC_WALL_S, 0, 0.0095).s, "0.0000 ms");
    assert_string_equal(metric_beside(METRIC_WALL_S, 0.0095, NAN).s, "9.500 ms");
}

TEST(a_column_of_short_times_has_a_unit_that_reads_well)
{
    assert_string_equal(time_unit_of(NAN).name, "s");
    assert_string_equal(time_unit_of(0).name, "s");
    assert_string_equal(time_unit_of(0.0767).name, "s");
    assert_string_equal(time_unit_of(0.005).name, "ms");
    assert_string_equal(time_unit_of(0.000236).name, "us");
    assert_string_equal(time_unit_of(2.63e-7).name, "ns");
    assert_string_equal(time_unit_of(1e-12).name, "ns");
}

TEST(what_was_not_measured_is_a_dash_without_a_unit)
{
    struct quantity q = quantity_of(METRIC_PREFILL_S, true);
    assert_string_equal(quantity_text(&q, NAN).s, "-");
    assert_string_equal(metric_with_unit(METRIC_PREFILL_S, NAN).s, "-");
}
