/* nvml_samples: what a tick takes from the page of NVML's helper, which this test writes. */
#include "tests/unit/support.h"

#include "executor/telemetry/backend.h"
#include "executor/telemetry/nvml.h"

#include <fcntl.h>
#include <unistd.h>

static void put_gpu(struct nvml_page *page, int index, double mhz, double watts)
{
    struct nvml_gpu *g = &page->slot[index].sample.gpu;
    snprintf(g->uuid, sizeof g->uuid, "GPU-%d", index);
    g->sm_mhz = mhz;
    g->power_w = watts;
    g->slow_samples++;
}

static struct sample tick(void *opened, double t_s)
{
    struct sample s;
    sample_clear(&s, t_s);
    telemetry_nvml.read(opened, &s);
    return s;
}

static void put_power(struct nvml_page *page, int index, double first_s, double watts, int count)
{
    struct nvml_sample *s = &page->slot[index].sample;
    s->power_count = count;
    for (int i = 0; i < count; i++)
        s->power[i] = (struct nvml_power){.at_s = first_s + 0.02 * i, .watts = watts + i};
}

/* A test's first ticks come before anything else is read. */
TEST(the_first_tick_has_the_values_of_the_level_before_the_test)
{
    static struct nvml_page page;
    const struct telemetry_gpus all = {.count = 0};
    struct nvml nvml = {.ask = open("/dev/null", O_WRONLY | O_CLOEXEC), .done = -1, .page = &page};
    const struct telemetry_target target = {.nvml = &nvml, .only = &all};
    atomic_store(&page.gpu_count, 1);
    put_gpu(&page, 0, 345, 70);
    void *opened = telemetry_nvml.open(&target);
    telemetry_nvml.ask(opened);
    atomic_store(&page.slot[0].served, 1);
    struct sample s;
    sample_clear(&s, 0);
    telemetry_nvml.read_fresh(opened, &s);
    assert_near(s.value[SAMPLE_POWER], 70, 0);
    assert_near(tick(opened, 0.005).value[SAMPLE_POWER], 70, 0);
    assert_true(isnan(tick(opened, 0.01).value[SAMPLE_POWER]));
    telemetry_nvml.close(opened);
    close(nvml.ask);
}

TEST(the_power_that_was_noted_of_several_gpus_is_added)
{
    static struct nvml_page page;
    const struct telemetry_gpus all = {.count = 0};
    struct nvml nvml = {.ask = open("/dev/null", O_WRONLY | O_CLOEXEC), .done = -1, .page = &page};
    const struct telemetry_target target = {.nvml = &nvml, .only = &all};
    atomic_store(&page.gpu_count, 2);
    put_gpu(&page, 0, 1980, 300);
    put_gpu(&page, 1, 1980, 500);
    put_power(&page, 0, 10, 300, 3);
    put_power(&page, 1, 10.007, 500, 9);
    void *opened = telemetry_nvml.open(&target);
    struct power_trace trace = {0};
    telemetry_nvml.trace(opened, &trace);
    assert_int_equal(trace.count, 3);
    assert_near(trace.reading[2].at_s, 10.04, 1e-9);
    assert_near(trace.reading[2].watts, 302 + 502, 1e-9);
    put_power(&page, 1, 10.007, 500, 0); /* of the one nothing is known, so neither of both */
    trace.count = 0;
    telemetry_nvml.trace(opened, &trace);
    assert_true(isnan(trace.reading[0].watts));
    telemetry_nvml.close(opened);
    close(nvml.ask);
}

/* A tick at which only the idle GPU has new values has none, rather than a clock of 345 MHz. */
TEST(slow_values_of_several_gpus_are_taken_together)
{
    static struct nvml_page page;
    const struct telemetry_gpus all = {.count = 0};
    struct nvml nvml = {.ask = open("/dev/null", O_WRONLY | O_CLOEXEC), .done = -1, .page = &page};
    const struct telemetry_target target = {.nvml = &nvml, .only = &all};
    atomic_store(&page.gpu_count, 2);
    put_gpu(&page, 0, 345, 70);
    put_gpu(&page, 1, 1980, 500);
    void *opened = telemetry_nvml.open(&target);
    struct sample s = tick(opened, 0.1);
    assert_near(s.value[SAMPLE_SCLK], 1980, 0);
    assert_near(s.value[SAMPLE_POWER], 570, 0);
    put_gpu(&page, 0, 345, 70);
    assert_true(isnan(tick(opened, 0.2).value[SAMPLE_SCLK]));
    put_gpu(&page, 1, 1950, 510);
    s = tick(opened, 0.3);
    assert_near(s.value[SAMPLE_SCLK], 1950, 0);
    assert_near(s.value[SAMPLE_POWER], 580, 0);
    for (int i = 0; i < 10; i++) { /* the other takes its time, or answers no more */
        put_gpu(&page, 0, 400, 80);
        assert_true(isnan(tick(opened, 0.4 + 0.01 * i).value[SAMPLE_SCLK]));
    }
    put_gpu(&page, 0, 400, 80);
    s = tick(opened, 0.6);
    assert_near(s.value[SAMPLE_SCLK], 400, 0);
    assert_true(isnan(s.value[SAMPLE_POWER])); /* of both together */
    put_gpu(&page, 0, 400, 80);
    put_gpu(&page, 1, 1980, NAN);
    s = tick(opened, 0.7);
    assert_near(s.value[SAMPLE_SCLK], 1980, 0);
    assert_true(isnan(s.value[SAMPLE_POWER]));
    telemetry_nvml.close(opened);
    close(nvml.ask);
}
