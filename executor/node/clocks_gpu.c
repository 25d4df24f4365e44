#include "executor/node/clocks_gpu.h"

#include "common/base/alloc.h"
#include "common/base/json.h"
#include "executor/telemetry/amd_gpus.h"
#include "executor/telemetry/sample.h"
#include "executor/workdir/sysfile.h"

#include <stdio.h>
#include <string.h>

static const char *const levels[] = {"auto",
                                     "low",
                                     "high",
                                     "manual",
                                     "perf_determinism",
                                     "profile_standard",
                                     "profile_min_sclk",
                                     "profile_min_mclk",
                                     "profile_peak"};

struct card_search {
    struct clocks_gpu *gpu;
    const char *unique_id;
    int found;
};

static void see_card(const struct amd_gpu *gpu, size_t index, void *arg)
{
    struct card_search *search = arg;
    bool same =
        *search->unique_id ? strcmp(gpu->id, search->unique_id) == 0 : (int)index == search->gpu->index;
    if (!same || strlen(gpu->device) >= CLOCKS_DEVICE_MAX)
        return;
    search->found++;
    snprintf(search->gpu->device, sizeof search->gpu->device, "%.*s", CLOCKS_DEVICE_MAX - 1, gpu->device);
}

static bool find_card(const struct layout *l, const char *unique_id, struct clocks_gpu *out)
{
    struct card_search search = {.gpu = out, .unique_id = unique_id};
    amd_gpus_each(l, see_card, &search);
    return search.found == 1;
}

static bool has_name(const json_t *gpu, int index, const char *name)
{
    char number[32];
    snprintf(number, sizeof number, "%d", index);
    return strcmp(json_text(gpu, "unique_id"), name) == 0 || strcmp(number, name) == 0;
}

bool clocks_gpu_find(const struct layout *l, const json_t *gpus, const char *name, struct clocks_gpu *out)
{
    size_t i = 0, count = json_array_size(gpus);
    *out = (struct clocks_gpu){.index = -1};
    while (i < count && !has_name(json_array_get(gpus, i), (int)i, name))
        i++;
    if (i == count)
        return false;
    const json_t *gpu = json_array_get(gpus, i);
    snprintf(out->name, sizeof out->name, "%s", name);
    snprintf(out->pci, sizeof out->pci, "%.*s", CLOCKS_PCI_MAX - 1, json_text(gpu, "pci"));
    out->index = (int)i;
    out->nvidia = strcmp(json_text(gpu, "vendor"), "nvidia") == 0;
    return out->nvidia || find_card(l, json_text(gpu, "unique_id"), out);
}

/* Reads lines such as "0: 500Mhz", "1: 2100Mhz *"; one that starts with 'S' is the clock in deep sleep. */
static bool read_levels(const char *device, struct sclk_limits *out)
{
    AUTO_FCLOSE FILE *f = sysfile_open(device, "pp_dpm_sclk");
    char line[128];
    int index, mhz;
    *out = (struct sclk_limits){.min_mhz = 0};
    while (f && fgets(line, sizeof line, f)) {
        if (sscanf(line, "%d: %dM", &index, &mhz) != 2 || !sample_is_plausible(SAMPLE_SCLK, mhz))
            continue;
        out->min_mhz = out->min_mhz == 0 || mhz < out->min_mhz ? mhz : out->min_mhz;
        out->max_mhz = mhz > out->max_mhz ? mhz : out->max_mhz;
    }
    return out->min_mhz > 0;
}

/* Reads lines of the section "OD_SCLK:": "0: 500Mhz", the lower limit, and "1: 2100Mhz", the upper one. */
bool sclk_limits_read(const char *device, struct sclk_limits *out)
{
    AUTO_FCLOSE FILE *f = sysfile_open(device, "pp_od_clk_voltage");
    char line[128];
    bool inside = false;
    int index, mhz;
    *out = (struct sclk_limits){.min_mhz = 0};
    while (f && fgets(line, sizeof line, f)) {
        if (strncmp(line, "OD_", 3) == 0 || strncmp(line, "GFXCLK", 6) == 0)
            inside = strncmp(line, "OD_SCLK", 7) == 0;
        else if (inside && sscanf(line, "%d: %dM", &index, &mhz) == 2 && (index == 0 || index == 1) &&
                 sample_is_plausible(SAMPLE_SCLK, mhz))
            *(index == 0 ? &out->min_mhz : &out->max_mhz) = mhz;
    }
    return (out->min_mhz > 0 && out->max_mhz >= out->min_mhz) || read_levels(device, out);
}

bool clocks_state_read(const struct clocks_gpu *gpu, struct clocks_state *out)
{
    struct sclk_limits limits;
    *out = (struct clocks_state){.level = ""};
    if (gpu->nvidia ||
        !sysfile_line(gpu->device, "power_dpm_force_performance_level", out->level, sizeof out->level))
        return false;
    if (sclk_limits_read(gpu->device, &limits)) {
        out->min_mhz = limits.min_mhz;
        out->max_mhz = limits.max_mhz;
    }
    return true;
}

bool clocks_state_equal(const struct clocks_state *a, const struct clocks_state *b)
{
    bool has_limits = strcmp(a->level, "manual") == 0 || strcmp(a->level, "perf_determinism") == 0;
    if (strcmp(a->level, b->level) != 0)
        return false;
    return !has_limits || (a->min_mhz == b->min_mhz && a->max_mhz == b->max_mhz);
}

bool clocks_level_ok(const char *level)
{
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        if (strcmp(level, levels[i]) == 0)
            return true;
    }
    return false;
}
