#include "executor/clocks/clocks_gpu.h"

#include "executor/clocks/sclk_limits.h"
#include "executor/workdir/entries.h"

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

static bool first_line(const char *device, const char *name, char *out, size_t size)
{
    char path[FS_PATH_MAX];
    FILE *f = fs_join(path, NULL, device, name) == 0 ? fopen(path, "re") : NULL;
    bool found = f && fgets(out, (int)size, f);
    if (f)
        fclose(f);
    if (found)
        out[strcspn(out, "\n")] = '\0';
    return found;
}

struct card_search {
    struct clocks_gpu *gpu;
    const char *unique_id;
    int found;
};

/* The first word of uevent that is PCI_SLOT_NAME. */
static bool is_at(const char *device, const char *pci)
{
    char path[FS_PATH_MAX], line[128];
    bool found = false;
    FILE *f = *pci && fs_join(path, NULL, device, "uevent") == 0 ? fopen(path, "re") : NULL;
    while (f && !found && fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = '\0';
        found = strncmp(line, "PCI_SLOT_NAME=", 14) == 0 && strcmp(line + 14, pci) == 0;
    }
    if (f)
        fclose(f);
    return found;
}

static void see_card(const char *path, const char *name, void *arg)
{
    struct card_search *search = arg;
    char device[FS_PATH_MAX], id[64];
    (void)name;
    if (fs_join(device, NULL, path, "device") != 0 || strlen(device) >= CLOCKS_DEVICE_MAX)
        return;
    bool same_id = search->unique_id && first_line(device, "unique_id", id, sizeof id) &&
                   strcmp(id, search->unique_id) == 0;
    if (!same_id && !is_at(device, search->gpu->pci))
        return;
    search->found++;
    snprintf(search->gpu->device, sizeof search->gpu->device, "%.*s", CLOCKS_DEVICE_MAX - 1, device);
}

static bool find_card(const struct layout *l, const char *unique_id, struct clocks_gpu *out)
{
    char root[FS_PATH_MAX];
    struct card_search search = {.gpu = out, .unique_id = unique_id};
    if (fs_join(root, NULL, l->sysfs, "class/drm") != 0)
        return false;
    entries_each(root, "card", see_card, &search);
    return search.found == 1;
}

static bool has_name(const json_t *gpu, int index, const char *name)
{
    const char *id = json_string_value(json_object_get(gpu, "unique_id"));
    char number[32];
    snprintf(number, sizeof number, "%d", index);
    return (id && strcmp(id, name) == 0) || strcmp(number, name) == 0;
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
    const char *vendor = json_string_value(json_object_get(gpu, "vendor")),
               *pci = json_string_value(json_object_get(gpu, "pci")),
               *id = json_string_value(json_object_get(gpu, "unique_id"));
    snprintf(out->name, sizeof out->name, "%s", name);
    snprintf(out->pci, sizeof out->pci, "%.*s", CLOCKS_PCI_MAX - 1, pci ? pci : "");
    out->index = (int)i;
    out->nvidia = vendor && strcmp(vendor, "nvidia") == 0;
    return out->nvidia || find_card(l, id, out);
}

bool clocks_state_read(const struct clocks_gpu *gpu, struct clocks_state *out)
{
    struct sclk_limits limits;
    *out = (struct clocks_state){.level = ""};
    if (gpu->nvidia ||
        !first_line(gpu->device, "power_dpm_force_performance_level", out->level, sizeof out->level))
        return false;
    if (sclk_limits_read(gpu->device, &limits)) {
        out->min_mhz = limits.min_mhz;
        out->max_mhz = limits.max_mhz;
    }
    return true;
}

bool clocks_level_has_limits(const char *level)
{
    return strcmp(level, "manual") == 0 || strcmp(level, "perf_determinism") == 0;
}

bool clocks_state_equal(const struct clocks_state *a, const struct clocks_state *b)
{
    if (strcmp(a->level, b->level) != 0)
        return false;
    return !clocks_level_has_limits(a->level) || (a->min_mhz == b->min_mhz && a->max_mhz == b->max_mhz);
}

bool clocks_level_ok(const char *level)
{
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        if (strcmp(level, levels[i]) == 0)
            return true;
    }
    return false;
}
