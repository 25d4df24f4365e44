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
    for (int i = 0; i < 2; i++) { /* the other answers no more */
        put_gpu(&page, 0, 400, 80);
        assert_true(isnan(tick(opened, 0.4).value[SAMPLE_SCLK]));
    }
    put_gpu(&page, 0, 400, 80);
    assert_near(tick(opened, 0.5).value[SAMPLE_SCLK], 400, 0);
    telemetry_nvml.close(opened);
    close(nvml.ask);
}
