#include "executor/node/gpu_health.h"

#include "executor/node/attribute.h"
#include "executor/node/gpu_settings.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct amd_search {
    const char *name;
    struct gpu_condition *out;
};

static void see_amd(const struct amd_gpu *gpu, size_t index, void *arg)
{
    struct amd_search *search = arg;
    char number[32];
    snprintf(number, sizeof number, "%zu", index);
    if (strcmp(*gpu->id ? gpu->id : number, search->name) != 0)
        return;
    json_auto_t *used = attribute_number(gpu->device, "mem_info_vram_used");
    search->out->there = json_is_integer(used);
    search->out->errors = gpu_settings_uncorrectable(gpu->device);
}

static void look_amd(const struct layout *l, const char *name, struct gpu_condition *out)
{
    struct amd_search search = {.name = name, .out = out};
    amd_gpus_each(l, see_amd, &search);
}

static void look_nvidia(const struct nvml_facts *facts, const char *name, struct gpu_condition *out)
{
    for (int32_t i = 0; i < facts->gpu_count; i++) {
        const struct nvml_gpu *g = &facts->gpu[i];
        if (strcmp(g->uuid, name) != 0)
            continue;
        out->there = !isnan(g->used_bytes);
        out->errors = isnan(g->uncorrectable) ? -1 : (long long)g->uncorrectable;
    }
}

static void look_all(const struct gpu_health *h, struct gpu_condition *out)
{
    struct nvml_facts facts;
    bool nvidia = h->count > 0 && nvml_peek(h->nvml, &facts), unread = !nvidia && h->nvml->page;
    for (size_t i = 0; i < h->count; i++) {
        out[i] = (struct gpu_condition){.errors = -1};
        look_amd(h->layout, h->name[i], &out[i]);
        if (nvidia && !out[i].there)
            look_nvidia(&facts, h->name[i], &out[i]);
        out[i].unread = unread && !out[i].there;
    }
}

void gpu_health_open(struct gpu_health *h, const struct layout *l, struct nvml *nvml,
                     const char (*names)[LIMIT_NAME + 1], size_t count)
{
    *h = (struct gpu_health){.layout = l, .nvml = nvml};
    h->count = count < GPU_HEALTH_GPUS_MAX ? count : GPU_HEALTH_GPUS_MAX;
    memcpy(h->name, names, h->count * sizeof h->name[0]);
    look_all(h, h->first);
}

bool gpu_health_look(const struct gpu_health *h, char *why)
{
    struct gpu_condition now[GPU_HEALTH_GPUS_MAX];
    look_all(h, now);
    for (size_t i = 0; i < h->count; i++) {
        const struct gpu_condition *first = &h->first[i];
        if (first->there && !now[i].there && !now[i].unread) {
            snprintf(why, GPU_HEALTH_WHY_MAX,
                     "GPU %s no longer answers: it has fallen off the bus, or is being reset; check the "
                     "kernel log and restart the node",
                     h->name[i]);
            return false;
        }
        if (first->errors >= 0 && now[i].errors > first->errors) {
            snprintf(why, GPU_HEALTH_WHY_MAX,
                     "GPU %s has had %lld uncorrectable memory errors since the run began: reset it, and "
                     "have it replaced if there are more",
                     h->name[i], now[i].errors - first->errors);
            return false;
        }
    }
    return true;
}
