/* telemetry: what the card did, measured from samples: constant, dipping and throttled clocks, accumulators
 * that tell the truth, wrap or lie, and values that are missing. */
#include "tests/unit/support.h"

#include "executor/telemetry/gpu_activity.h"
#include "executor/telemetry/telemetry.h"
#include "executor/telemetry/throttle.h"

#include <math.h>

/* A second of load at 10 Hz between two of rest, as `shape` changes it. */
struct played {
    double t_s, load, sclk, power, energy;
    unsigned throttle;
};

typedef void shape_fn(struct played *p);

static void unchanged(struct played *p)
{
    (void)p;
}

static struct activity_log play(shape_fn *shape)
{
    struct activity_log log;
    activity_init(&log);
    for (int i = 0; i <= 30; i++) {
        bool busy = i >= 10 && i < 20;
        struct played p = {.t_s = i / 10.0,
                           .load = busy ? 100 : 0,
                           .sclk = busy ? 1980 : 345,
                           .power = 500,
                           .energy = 1e6 + 50.0 * i};
        struct sample s;
        shape(&p);
        sample_clear(&s, p.t_s);
        s.value[SAMPLE_GPU_BUSY] = p.load;
        s.value[SAMPLE_SCLK] = p.sclk;
        s.value[SAMPLE_MCLK] = 2619;
        s.value[SAMPLE_POWER] = p.power;
        s.value[SAMPLE_ENERGY] = p.energy;
        s.value[SAMPLE_THROTTLE] = p.throttle;
        s.value[SAMPLE_TEMP_JUNCTION] = 40 + i;
        activity_add(&log, &s);
    }
    return log;
}

/* Releases the log. */
static struct activity measure_log(struct activity_log *log, const struct activity_times *times)
{
    struct activity a;
    assert_true(activity_measure(log, times, &a));
    activity_release(log);
    return a;
}

static const struct activity_times unknown_times = {
    .printed_s = NAN, .timed_s = NAN, .decode_s = NAN, .end_s = 3};

static struct activity measure(shape_fn *shape, const struct activity_times *times)
{
    struct activity_log log = play(shape);
    return measure_log(&log, times);
}

static struct sample sample_at(double t_s, enum sample_field field, double value)
{
    struct sample s;
    sample_clear(&s, t_s);
    s.value[field] = value;
    return s;
}

TEST(a_constant_load_is_measured_while_the_card_is_busy)
{
    struct activity a = measure(unchanged, &unknown_times);
    assert_int_equal(a.window, WINDOW_BUSY);
    assert_near(a.from_s, 1, 1e-9);
    assert_near(a.to_s, 1.9, 1e-9);
    assert_int_equal(a.samples, 10);
    assert_near(a.sclk_mhz, 1980, 0);
    assert_near(a.sclk_p5_mhz, 1980, 0);
    assert_near(a.mclk_mhz, 2619, 0);
    assert_near(a.power_w, 500, 0);
    assert_near(a.temp_c, 59, 0);
    assert_near(a.throttled_s, 0, 0);
    assert_int_equal(a.throttle, 0);
    assert_near(a.energy.joules, 450, 1e-6);
    assert_int_equal(a.energy.from, ENERGY_ACCUMULATOR);
    assert_string_equal(a.energy.note, "");
    assert_int_equal(a.neighbours, -1);
}

TEST(the_timed_part_is_the_time_before_the_timings_came)
{
    const struct activity_times times = {.printed_s = 2, .timed_s = 0.6, .decode_s = 0.25, .end_s = 3};
    struct activity a = measure(unchanged, &times);
    assert_int_equal(a.window, WINDOW_TIMED);
    assert_near(a.from_s, 1.15, 1e-9);
    assert_near(a.to_s, 1.75, 1e-9);
    assert_int_equal(a.samples, 6);
    assert_near(a.energy.joules, 300, 1e-6);
}

/* A workload that checks its results on the CPU before it prints: what came before the line was not timed. */
TEST(timings_printed_long_after_are_not_believed)
{
    const struct activity_times late = {.printed_s = 2.9, .timed_s = 0.6, .decode_s = 0, .end_s = 3};
    const struct activity_times early = {.printed_s = 0.2, .timed_s = 0.6, .decode_s = 0, .end_s = 3};
    assert_int_equal(measure(unchanged, &late).window, WINDOW_BUSY);
    assert_int_equal(measure(unchanged, &early).window, WINDOW_BUSY);
}

/* The load of the test before is still reported when this one begins. */
TEST(a_load_from_before_the_test_is_left_out)
{
    struct activity_log log;
    struct sample s = sample_at(0, SAMPLE_GPU_BUSY, 80);
    activity_init(&log);
    s.value[SAMPLE_SCLK] = 1980;
    activity_edge(&log, 0, &s);
    for (int i = 0; i < 20; i++) {
        s = sample_at(i / 10.0, SAMPLE_GPU_BUSY, i < 4 || i >= 12 ? 80 : 0);
        s.value[SAMPLE_SCLK] = 1980;
        activity_add(&log, &s);
    }
    const struct activity_times times = {.printed_s = NAN, .timed_s = NAN, .decode_s = NAN, .end_s = 2};
    struct activity a = measure_log(&log, &times);
    assert_int_equal(a.window, WINDOW_BUSY);
    assert_near(a.from_s, 1.2, 1e-9);
    assert_near(a.to_s, 1.9, 1e-9);
}

/* A test on an H200, at 258 W for 0.4 s: its load was told 0.2 s late, and that of the test before at first.
 */
static struct activity_log short_test(void)
{
    static const double busy[] = {55, 55, 0, 0, 0, 0, 91, 91, 100, 100};
    static const double watts[] = {129, 129, 79, 82, 82, 124, 229, 257, 258, 258}; /* of 0.1 s before */
    struct activity_log log;
    activity_init(&log);
    struct sample s = sample_at(0, SAMPLE_POWER, 129);
    s.value[SAMPLE_ENERGY] = 1000;
    activity_edge(&log, 0, &s);
    for (size_t i = 0; i < COUNT(busy); i++) {
        s = sample_at(0.005 + 0.1 * (double)i, SAMPLE_POWER, watts[i]);
        s.value[SAMPLE_GPU_BUSY] = busy[i];
        s.value[SAMPLE_SCLK] = 1980;
        activity_add(&log, &s);
    }
    s = sample_at(0, SAMPLE_POWER, 258);
    s.value[SAMPLE_ENERGY] = 1167; /* of 0.08 s before */
    activity_edge(&log, 0.94, &s);
    return log;
}

static const struct activity_times short_times = {
    .printed_s = 0.78, .timed_s = 0.4, .decode_s = 0, .end_s = 0.94};

TEST(a_timed_part_is_found_though_its_load_is_told_late)
{
    struct activity_log log = short_test();
    struct activity a = measure_log(&log, &short_times);
    assert_int_equal(a.window, WINDOW_TIMED);
    assert_near(a.from_s, 0.38, 1e-9);
    assert_int_equal(a.samples, 4);
}

/* A test as short as the time in which its load is told, after one that was busy. */
TEST(the_load_of_the_test_before_does_not_hide_a_timed_part)
{
    static const double busy[] = {100, 100, 0, 0, 0, 0, 2};
    struct activity_log log;
    activity_init(&log);
    struct sample s = sample_at(0, SAMPLE_GPU_BUSY, 100);
    s.value[SAMPLE_SCLK] = 1980;
    activity_edge(&log, 0, &s);
    for (size_t i = 0; i < COUNT(busy); i++) {
        s = sample_at(0.005 + 0.1 * (double)i, SAMPLE_GPU_BUSY, busy[i]);
        s.value[SAMPLE_SCLK] = 1980;
        activity_add(&log, &s);
    }
    const struct activity_times times = {.printed_s = 0.66, .timed_s = 0.4, .decode_s = 0, .end_s = 0.7};
    assert_int_equal(measure_log(&log, &times).window, WINDOW_TIMED);
}

/* The driver's own notes, from before the test to its end. */
static struct power_trace noted(double from_s, double to_s)
{
    struct power_trace trace = {0};
    for (int i = 0; from_s + 0.02 * i < to_s; i++) {
        const double t_s = from_s + 0.02 * i;
        trace.reading[trace.count].at_s = 70 + t_s;
        trace.reading[trace.count++].watts = t_s > 0.37 && t_s < 0.77 ? 258 : 125;
    }
    return trace;
}

TEST(the_energy_of_a_short_part_is_what_the_driver_noted)
{
    struct activity_log log = short_test();
    const struct power_trace trace = noted(-0.5, 0.94);
    activity_trace(&log, 70, &trace);
    struct activity a = measure_log(&log, &short_times);
    assert_near(a.energy.joules, 0.4 * 258, 0.02 * 0.4 * 258);
    assert_int_equal(a.energy.from, ENERGY_POWER);
    assert_near(a.power_w, 258, 0.02 * 258);
    assert_int_equal(a.samples, 4);
}

/* NVIDIA's driver tells the clock of up to 0.2 s before: a part of 0.4 s would have 0.1 s and more of the
 * idle card's. Who notes no power tells it at once. */
TEST(the_clock_of_a_short_part_is_what_the_driver_told_late)
{
    const struct power_trace traces[] = {noted(-0.5, 0.94), {0}};
    static const double mhz[] = {1440, 1710};
    for (size_t i = 0; i < COUNT(traces); i++) {
        struct activity_log log = short_test();
        for (size_t k = 0; k < log.count; k++)
            log.sample[k].value[SAMPLE_SCLK] =
                log.sample[k].t_s > 0.57 && log.sample[k].t_s < 0.97 ? 1440 : 1980;
        activity_trace(&log, 70, &traces[i]);
        struct activity a = measure_log(&log, &short_times);
        assert_int_equal(a.window, WINDOW_TIMED);
        assert_near(a.sclk_mhz, mhz[i], 1);
        assert_near(a.sclk_p5_mhz, 1440, 1);
    }
}

/* Where the notes begin later than the part, or end before it does, they are only a part of the power. */
TEST(notes_of_a_part_do_not_stand_for_all_of_it)
{
    static const double from_s[] = {0.5, -0.5}, to_s[] = {0.94, 0.6}, watts[] = {226, 255};
    for (size_t i = 0; i < COUNT(from_s); i++) {
        struct activity_log log = short_test();
        const struct power_trace trace = noted(from_s[i], to_s[i]);
        activity_trace(&log, 70, &trace);
        struct activity a = measure_log(&log, &short_times);
        assert_int_equal(a.energy.from, ENERGY_ACCUMULATOR);
        assert_near(a.power_w, watts[i], 4); /* by time: the notes are five to a sample */
    }
}

/* An accumulator that is read only at the ends, and power that shows where the energy went. */
TEST(the_energy_of_a_part_is_the_share_of_its_power)
{
    struct activity_log log;
    activity_init(&log);
    for (int i = 0; i <= 30; i++) {
        struct sample s = sample_at(i / 10.0, SAMPLE_POWER, i > 10 && i < 20 ? 700 : 100);
        s.value[SAMPLE_SCLK] = 1980;
        s.value[SAMPLE_ENERGY] = i == 0 ? 5000 : i == 30 ? 6000 : (double)NAN;
        activity_add(&log, &s);
    }
    const struct activity_times times = {.printed_s = 2, .timed_s = 1, .decode_s = 0, .end_s = 3};
    struct activity a = measure_log(&log, &times);
    assert_int_equal(a.window, WINDOW_TIMED);
    assert_int_equal(a.energy.from, ENERGY_ACCUMULATOR);
    assert_near(a.energy.joules, 1000 * 640.0 / 840, 1e-6); /* of 640 J by the power, of 840 J in all */
}

static void too_short_for_three_samples(struct played *p)
{
    p->load = p->t_s > 1.05 && p->t_s < 1.25 ? 100 : 0;
}

TEST(a_part_of_two_samples_stands_for_the_whole_test)
{
    const struct activity_times times = {.printed_s = 1.3, .timed_s = 0.15, .decode_s = 0, .end_s = 3};
    struct activity a = measure(too_short_for_three_samples, &times);
    assert_int_equal(a.window, WINDOW_TEST);
    assert_near(a.from_s, 0, 0);
    assert_near(a.to_s, 3, 0);
    assert_int_equal(a.samples, 31);
}

static void dipping(struct played *p)
{
    if (p->t_s > 1.25 && p->t_s < 1.35)
        p->sclk = 1200;
}

TEST(a_dip_shows_in_the_5th_percentile)
{
    struct activity a = measure(dipping, &unknown_times);
    assert_near(a.sclk_mhz, 1902, 1e-6);
    assert_near(a.sclk_p5_mhz, 1200, 0);
}

static void throttled(struct played *p)
{
    if (p->t_s > 1.25 && p->t_s < 1.55)
        p->throttle = THROTTLE_POWER;
    if (p->t_s > 1.45 && p->t_s < 1.55)
        p->throttle |= THROTTLE_THERMAL;
    if (p->t_s < 0.5)
        p->throttle = THROTTLE_HARDWARE; /* not while it counts */
}

TEST(reasons_hold_until_the_next_sample)
{
    struct activity a = measure(throttled, &unknown_times);
    assert_near(a.throttled_s, 0.3, 1e-9);
    assert_int_equal(a.throttle, THROTTLE_POWER | THROTTLE_THERMAL);
}

/* A second of load between two of rest; `edge` had the reasons before the test. */
static struct activity throttled_test(unsigned edge, unsigned early, double early_s, double end_s)
{
    struct activity_log log;
    struct sample s = sample_at(0, SAMPLE_THROTTLE, edge);
    activity_init(&log);
    activity_edge(&log, 0, &s);
    for (int tick = 1; 0.1 * tick < end_s; tick++) {
        double t_s = 0.1 * tick;
        s = sample_at(t_s, SAMPLE_THROTTLE, t_s < early_s ? early : 0);
        s.value[SAMPLE_SCLK] = 1980;
        activity_add(&log, &s);
    }
    const struct activity_times times = {.printed_s = NAN, .timed_s = NAN, .decode_s = NAN, .end_s = end_s};
    return measure_log(&log, &times);
}

/* An H100 names its power cap until 0.4 s after the load that reached it. */
TEST(a_reason_from_before_the_test_is_not_the_tests)
{
    struct activity a = throttled_test(THROTTLE_POWER, THROTTLE_POWER, 0.45, 0.42);
    assert_near(a.throttled_s, 0, 0);
    assert_int_equal(a.throttle, 0);
    a = throttled_test(THROTTLE_POWER, THROTTLE_POWER | THROTTLE_THERMAL, 0.45, 2);
    assert_int_equal(a.throttle, THROTTLE_THERMAL); /* which is new */
    a = throttled_test(THROTTLE_POWER, THROTTLE_POWER, 9, 2);
    assert_int_equal(a.throttle, THROTTLE_POWER); /* which lasts too long for the load before */
    assert_near(a.throttled_s, 1.5, 0.11);
    a = throttled_test(0, THROTTLE_POWER, 9, 1);
    assert_near(a.throttled_s, 0.9, 1e-6); /* a card that throttles at once */
}

static void throttled_at_the_end(struct played *p)
{
    p->throttle = p->t_s > 1.85 && p->t_s < 1.95 ? THROTTLE_POWER : 0;
}

TEST(a_reason_that_held_for_no_time_is_none)
{
    struct activity a = measure(throttled_at_the_end, &unknown_times);
    assert_near(a.to_s, 1.9, 1e-9);
    assert_near(a.throttled_s, 0, 0);
    assert_int_equal(a.throttle, 0);
}

/* 0.4 s at 300 W of which the power has two samples under load: the counter knows better. */
TEST(sparse_power_does_not_refute_a_counter)
{
    struct activity_log log;
    struct sample s = sample_at(0, SAMPLE_POWER, 80);
    activity_init(&log);
    s.value[SAMPLE_ENERGY] = 1000;
    activity_edge(&log, 0, &s);
    static const double at_s[] = {0.17, 0.3}, watts[] = {90, 260};
    for (size_t i = 0; i < 2; i++) {
        s = sample_at(at_s[i], SAMPLE_POWER, watts[i]);
        activity_add(&log, &s);
    }
    s = sample_at(0, SAMPLE_POWER, 110);
    s.value[SAMPLE_ENERGY] = 1098.6;
    activity_edge(&log, 0.42, &s);
    const struct activity_times times = {.printed_s = NAN, .timed_s = NAN, .decode_s = NAN, .end_s = 0.42};
    struct activity a = measure_log(&log, &times);
    assert_int_equal(a.energy.from, ENERGY_ACCUMULATOR);
    assert_near(a.energy.joules, 98.6, 1e-6);
}

/* With a sample a second almost everything might have happened between them, but not nothing. */
static struct activity sparse(double joules_a_second)
{
    struct activity_log log;
    activity_init(&log);
    for (int i = 0; i <= 10; i++) {
        struct sample s = sample_at(i, SAMPLE_POWER, i > 3 && i < 8 ? 600 : 150);
        s.value[SAMPLE_ENERGY] = 1000 + joules_a_second * i;
        activity_add(&log, &s);
    }
    const struct activity_times times = {.printed_s = NAN, .timed_s = NAN, .decode_s = NAN, .end_s = 10};
    return measure_log(&log, &times);
}

TEST(a_counter_that_stands_still_is_never_believed)
{
    assert_int_equal(sparse(0).energy.from, ENERGY_POWER);
    assert_int_equal(sparse(50).energy.from, ENERGY_POWER);
    assert_int_equal(sparse(330).energy.from, ENERGY_ACCUMULATOR);
}

/* Power that is not there for most of the time makes no energy. */
TEST(power_with_a_hole_makes_no_energy)
{
    struct activity_log log;
    activity_init(&log);
    for (int i = 0; i <= 30; i++) {
        struct sample s = sample_at(i / 10.0, SAMPLE_SCLK, 1980);
        sample_put(&s, SAMPLE_POWER, i < 3 || i == 30 ? 560 : 0);
        activity_add(&log, &s);
    }
    struct activity a = measure_log(&log, &unknown_times);
    assert_true(isnan(a.energy.joules));
    assert_near(a.power_w, 560, 0);
}

static struct sample put_two(enum sample_field field, double a, double b)
{
    struct sample s;
    sample_clear(&s, 0);
    sample_put(&s, field, a);
    sample_put(&s, field, b);
    return s;
}

TEST(no_watts_are_no_measurement)
{
    assert_true(isnan(put_two(SAMPLE_POWER, 0, NAN).value[SAMPLE_POWER]));
    assert_near(put_two(SAMPLE_POWER, 560, 0).value[SAMPLE_POWER], 560, 0); /* the dies of an MI250X */
    assert_int_equal(put_two(SAMPLE_POWER, 560, 0).lost, 0);
}

TEST(values_that_cannot_be_are_lost)
{
    static const struct {
        enum sample_field field;
        double value;
    } cases[] = {{SAMPLE_POWER, -5},       {SAMPLE_POWER, 65535},      {SAMPLE_POWER, 1.8446744073709552e13},
                 {SAMPLE_SCLK, -1},        {SAMPLE_SCLK, 65535},       {SAMPLE_MCLK, 4294967295.0},
                 {SAMPLE_GPU_BUSY, 65535}, {SAMPLE_GPU_BUSY, 101},     {SAMPLE_MEM_BUSY, -1},
                 {SAMPLE_TEMP_MEM, 65535}, {SAMPLE_VRAM_USED, 0x1p64}, {SAMPLE_ENERGY, 0x1p64 / 65536}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct sample s = put_two(cases[i].field, cases[i].value, NAN);
        assert_true(isnan(s.value[cases[i].field]));
        assert_int_equal(s.lost, 1u << cases[i].field);
    }
    assert_true(isnan(put_two(SAMPLE_POWER, 65535, 500).value[SAMPLE_POWER])); /* a sum that lacks a part */
    assert_true(isnan(put_two(SAMPLE_POWER, 500, 65535).value[SAMPLE_POWER]));
    assert_near(put_two(SAMPLE_SCLK, 65535, 1500).value[SAMPLE_SCLK], 1500, 0);
}

static void wrapping(struct played *p)
{
    if (p->t_s > 1.5)
        p->energy -= 1e6;
}

static void lying(struct played *p)
{
    p->energy = 1e6 + (p->energy - 1e6) * 1.5;
}

static void standing_still(struct played *p)
{
    p->energy = 7;
}

static void without_energy(struct played *p)
{
    p->energy = NAN;
}

TEST(an_accumulator_that_cannot_be_right_is_not_used)
{
    static const struct {
        shape_fn *shape;
        const char *note;
    } cases[] = {
        {wrapping, "backwards"}, {lying, "2250 J"}, {standing_still, "says 0 J"}, {without_energy, ""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct activity a = measure(cases[i].shape, &unknown_times);
        assert_int_equal(a.energy.from, ENERGY_POWER);
        assert_near(a.energy.joules, 450, 1e-6);
        assert_non_null(strstr(a.energy.note, cases[i].note));
    }
}

static void without_power(struct played *p)
{
    p->power = NAN;
}

static void neither(struct played *p)
{
    p->power = p->energy = NAN;
}

TEST(without_power_a_growing_accumulator_is_believed)
{
    struct activity a = measure(without_power, &unknown_times);
    assert_int_equal(a.energy.from, ENERGY_ACCUMULATOR);
    assert_near(a.energy.joules, 450, 1e-6);
    assert_true(isnan(a.power_w));
    a = measure(neither, &unknown_times);
    assert_int_equal(a.energy.from, ENERGY_UNKNOWN);
    assert_true(isnan(a.energy.joules));
}

static void only_power(struct played *p)
{
    *p = (struct played){.t_s = p->t_s, .load = NAN, .sclk = NAN, .power = p->power, .energy = NAN};
}

TEST(what_is_missing_is_unknown)
{
    struct activity a = measure(only_power, &unknown_times);
    assert_int_equal(a.window, WINDOW_TEST);
    assert_true(isnan(a.sclk_mhz) && isnan(a.sclk_p5_mhz));
    assert_near(a.energy.joules, 1500, 1e-6);
    struct activity_log empty;
    const struct sample s = sample_at(0.1, SAMPLE_RSS, 1);
    activity_init(&empty);
    activity_add(&empty, &s);
    assert_false(activity_measure(&empty, &unknown_times, &a));
    activity_release(&empty);
}

TEST(a_long_test_keeps_samples_of_all_its_time)
{
    struct activity_log log;
    activity_init(&log);
    for (int i = 0; i < 100000; i++) {
        const struct sample s = sample_at(i / 100.0, SAMPLE_SCLK, i < 50000 ? 1000 : 2000);
        activity_add(&log, &s);
    }
    const struct activity_times times = {.printed_s = NAN, .timed_s = NAN, .decode_s = NAN, .end_s = 1000};
    struct activity a = measure_log(&log, &times);
    assert_near(a.sclk_mhz, 1500, 1);
    assert_in_range(a.samples, 8000, 16384);
}

TEST(settings_are_no_reasons_to_throttle)
{
    assert_int_equal(throttle_of_nvml(0x103), 0); /* idle, clocks of applications and of a display */
    assert_int_equal(throttle_of_nvml(0x4), THROTTLE_POWER);
    assert_int_equal(throttle_of_nvml(0x68), THROTTLE_THERMAL | THROTTLE_HARDWARE);
    assert_int_equal(throttle_of_amdgpu(UINT64_C(1) << 36), THROTTLE_THERMAL);
    assert_int_equal(throttle_of_amdgpu(UINT64_C(1) << 34 | 2), THROTTLE_MEMORY | THROTTLE_POWER);
    assert_int_equal(throttle_of_amdgpu(UINT64_C(1) << 47 | 1 << 20), THROTTLE_HARDWARE | THROTTLE_CURRENT);
}

static const char *of_card(int card, const char *file)
{
    static char name[128];
    snprintf(name, sizeof name, "sys/class/drm/card%d/device/%s", card, file);
    return name;
}

/* A file whose reading fails. */
static void break_file(int card, const char *file)
{
    unlink(in_scratch(of_card(card, file)));
    mkdir(in_scratch(of_card(card, file)), 0755);
}

/* The table says 412 W, 2085 MHz and 100 J. */
static void put_metrics(int card)
{
    char table[4096];
    FILE *f = fopen("tests/fixtures/gpu_metrics/v1_8", "re");
    assert_non_null(f);
    size_t n = fread(table, 1, sizeof table, f);
    fclose(f);
    put_bytes(of_card(card, "gpu_metrics"), table, n);
}

static void put_card(int card)
{
    put_metrics(card);
    put(of_card(card, "mem_info_vram_total"), "206141652992\n");
    put(of_card(card, "mem_info_vram_used"), "1000\n");
    put(of_card(card, "hwmon/hwmon3/power1_input"), "500000000\n");
    put(of_card(card, "hwmon/hwmon3/freq1_input"), "132000000\n");
}

static struct sample read_cards(struct telemetry *t, double t_s)
{
    struct sample s;
    telemetry_read(t, t_s, &s);
    return s;
}

/* A file that exists and cannot be read is as one that does not exist: the table has the number, too. Without
 * it, a sum of several cards is none. */
TEST(what_cannot_be_read_is_no_part_of_a_sum)
{
    struct layout l = {.workdir = ""};
    const struct telemetry_target target = {.layout = &l};
    struct telemetry t;
    snprintf(l.sysfs, sizeof l.sysfs, "%s", in_scratch("sys"));
    put_card(0);
    put_card(1);
    telemetry_open(&t, &target, NULL, 0);
    struct sample s = read_cards(&t, 0);
    assert_near(s.value[SAMPLE_POWER], 1000, 0);
    assert_near(s.value[SAMPLE_ENERGY], 200, 1e-9);
    assert_near(s.value[SAMPLE_VRAM_USED], 2000, 0);
    telemetry_close(&t);
    put(of_card(0, "hwmon/hwmon3/power1_input"), "4294967295\n"); /* all ones */
    break_file(1, "hwmon/hwmon3/power1_input");
    break_file(1, "mem_info_vram_used");
    telemetry_open(&t, &target, NULL, 0);
    s = read_cards(&t, 0);
    assert_near(s.value[SAMPLE_POWER], 824, 0);
    assert_true(isnan(s.value[SAMPLE_VRAM_USED]));
    assert_int_equal(s.lost, 1u << SAMPLE_VRAM_USED);
    assert_int_equal(truncate(in_scratch(of_card(1, "gpu_metrics")), 0), 0);
    s = read_cards(&t, 0.2);
    assert_true(isnan(s.value[SAMPLE_POWER]) && isnan(s.value[SAMPLE_ENERGY]));
    assert_near(s.value[SAMPLE_SCLK], 2085, 0);
    assert_int_equal(truncate(in_scratch(of_card(0, "gpu_metrics")), 0), 0);
    assert_true(isnan(read_cards(&t, 0.4).value[SAMPLE_SCLK])); /* not that of one die */
    telemetry_close(&t);
    put_card(0);
    unlink(in_scratch(of_card(1, "gpu_metrics")));
    rmdir(in_scratch(of_card(1, "hwmon/hwmon3/power1_input")));
    telemetry_open(&t, &target, NULL, 0); /* one without these files, or with none that may be opened */
    s = read_cards(&t, 0);
    assert_true(isnan(s.value[SAMPLE_POWER]) && isnan(s.value[SAMPLE_ENERGY]));
    telemetry_close(&t);
}

GROUP(scratch_make, scratch_remove);
