/* When a GPU is said to have gone. */
#include "tests/unit/support.h"

#include "executor/node/gpu_health.h"

TEST(a_sample_that_is_being_written_says_nothing)
{
    static struct nvml_page page;
    static const char names[][LIMIT_NAME + 1] = {"GPU-a"};
    struct layout layout = {.workdir = ""};
    struct nvml nvml = {.ask = -1, .done = -1, .page = &page};
    struct gpu_health h;
    char why[GPU_HEALTH_WHY_MAX];
    snprintf(layout.sysfs, sizeof layout.sysfs, "%s", scratch);
    page.gpu_count = 1;
    page.slot[0].sample.gpu = (struct nvml_gpu){.uuid = "GPU-a", .used_bytes = 1, .uncorrectable = 0};
    page.slot[0].turn = 2;
    gpu_health_open(&h, &layout, &nvml, names, 1);
    assert_true(gpu_health_look(&h, why));
    page.slot[0].turn = 3;
    assert_true(gpu_health_look(&h, why));
    page.slot[0].turn = 4;
    page.slot[0].sample.gpu.used_bytes = NAN;
    assert_false(gpu_health_look(&h, why));
    assert_non_null(strstr(why, "fallen off the bus"));
}

GROUP(scratch_make, scratch_remove);
