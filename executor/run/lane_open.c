#include "executor/run/run_lanes.h"

#include "common/base/alloc.h"
#include "common/contract/gpu_wish.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Finds a GPU's facts by the name that gpu_use gives it. Borrowed. */
static const json_t *find_facts(const json_t *gpus, const char *name)
{
    size_t i;
    json_t *gpu;
    json_array_foreach(gpus, i, gpu)
    {
        char id[GPU_WORD_MAX + 1], index[32];
        gpu_id(gpu, id);
        snprintf(index, sizeof index, "%zu", i);
        if (strcmp(id, name) == 0 || strcmp(index, name) == 0)
            return gpu;
    }
    return NULL;
}

/* Returns how the GPU is divided, as in "SPX/NPS1", or NULL if the node does not say. */
static json_t *mode_of(const json_t *gpu)
{
    const char *compute = json_string_value(json_object_get(gpu, "compute_partition"));
    const char *memory = json_string_value(json_object_get(gpu, "memory_partition"));
    return compute && memory ? json_sprintf("%.32s/%.32s", compute, memory) : NULL;
}

static void add_gpu(struct lane *lane, const json_t *gpus, const char *name)
{
    const json_t *gpu = find_facts(gpus, name);
    char id[GPU_WORD_MAX + 1];
    snprintf(id, sizeof id, "%s", name);
    if (gpu)
        gpu_id(gpu, id);
    json_array_append_new(lane->ids, json_string(id));
    json_array_append_new(lane->facts, json_pack("{s:s, s:O*, s:O*, s:o*}", "id", id, "index",
                                                 json_object_get(gpu, "index"), "pci",
                                                 json_object_get(gpu, "pci"), "mode", mode_of(gpu)));
}

static void set_name(struct lane *lane)
{
    size_t used = (size_t)snprintf(lane->name, sizeof lane->name, "%s",
                                   lane->gpus.count == 0  ? "the node"
                                   : lane->gpus.count > 1 ? "GPUs"
                                                          : "GPU");
    for (size_t i = 0; i < lane->gpus.count && used < sizeof lane->name; i++)
        used += (size_t)snprintf(lane->name + used, sizeof lane->name - used, "%s %s", i > 0 ? "," : "",
                                 lane->gpus.name[i]);
}

static void set_variable(struct lane *lane, const char *name, const char *value)
{
    struct lane_variable *v = &lane->variable[lane->variable_count++];
    snprintf(v->name, sizeof v->name, "%s", name);
    snprintf(v->value, sizeof v->value, "%s", value);
}

static void append_word(char *list, size_t size, const char *prefix, const char *word)
{
    size_t used = strlen(list);
    snprintf(list + used, size - used, "%s%s%s", used > 0 ? "," : "", prefix, word);
}

/* Returns how ROCR names an AMD GPU: by kfd's id, which need not be the card's; without one of its own, as
 * parts of a card have none in older drivers, by its index. index: char[32]. */
static const char *rocr_word(const json_t *gpu, const char **prefix, char *index)
{
    const char *id = json_string_value(json_object_get(gpu, "kfd_id"));
    *prefix = id ? "GPU-" : "";
    snprintf(index, 32, "%lld", (long long)json_integer_value(json_object_get(gpu, "index")));
    return id ? id : index;
}

/* Unique ids are used because libraries number GPUs differently. HIP counts only what ROCR lets through. */
static void set_variables(struct lane *lane, const json_t *gpus)
{
    char nvidia[LANE_VALUE_MAX] = "", amd[LANE_VALUE_MAX] = "", counted[LANE_VALUE_MAX] = "", index[32];
    for (size_t i = 0; i < lane->gpus.count; i++) {
        const json_t *gpu = find_facts(gpus, lane->gpus.name[i]);
        const char *vendor = json_string_value(json_object_get(gpu, "vendor"));
        const char *prefix = "", *word = lane->gpus.name[i];
        bool is_amd = vendor && strcmp(vendor, "amd") == 0;
        if (is_amd)
            word = rocr_word(gpu, &prefix, index);
        append_word(is_amd ? amd : nvidia, LANE_VALUE_MAX, prefix, word);
        snprintf(index, sizeof index, "%zu", i);
        if (is_amd)
            append_word(counted, sizeof counted, "", index);
    }
    if (*nvidia) {
        set_variable(lane, "CUDA_VISIBLE_DEVICES", nvidia);
        set_variable(lane, "CUDA_DEVICE_ORDER", "PCI_BUS_ID");
    }
    if (*amd) {
        set_variable(lane, "ROCR_VISIBLE_DEVICES", amd);
        set_variable(lane, "HIP_VISIBLE_DEVICES", counted);
    }
}

static void open_telemetry(struct lane *lane, struct suite *s, bool all)
{
    const struct telemetry_target target = {.layout = s->layout, .nvml = &s->nvml};
    const char *ids[GPU_USE_MAX];
    for (size_t i = 0; i < lane->gpus.count; i++)
        ids[i] = lane->gpus.name[i];
    telemetry_open(&lane->telemetry, &target, ids, all ? 0 : lane->gpus.count);
}

/* Tests are moved near their GPUs only if the place of every GPU of the lane is known. */
static void find_near(struct lane *lane, const struct layout *l)
{
    bool known = lane->kept && lane->gpus.count > 0;
    near_init(&lane->near);
    for (size_t i = 0; known && i < lane->gpus.count; i++) {
        const json_t *gpu = json_array_get(lane->facts, i);
        const char *pci = json_string_value(json_object_get(gpu, "pci"));
        known = pci && near_add(&lane->near, l, pci);
    }
    lane->near.on = known && near_settle(&lane->near);
}

static void open_lane(struct lane *lane, struct suite *s, bool choose)
{
    const json_t *gpus = json_object_get(s->node, "gpus");
    lane->ids = json_array();
    lane->facts = json_array();
    for (size_t i = 0; i < lane->gpus.count; i++)
        add_gpu(lane, gpus, lane->gpus.name[i]);
    set_name(lane);
    if (choose)
        set_variables(lane, gpus);
    open_telemetry(lane, s, lane->gpus.count >= json_array_size(gpus));
    find_near(lane, s->layout);
    gpu_health_open(&lane->health, s->layout, &s->nvml, lane->gpus.name, lane->gpus.count);
    oom_open(&lane->oom, s->layout);
}

void lanes_open(struct lanes *l, struct suite *s, const struct gpu_use *sets, size_t count, bool choose)
{
    *l = (struct lanes){.lane = xcalloc(count, sizeof *l->lane)};
    for (; l->count < count; l->count++) {
        struct lane *lane = &l->lane[l->count];
        lane->index = l->count;
        lane->kept = count > 1;
        lane->gpus = sets[l->count];
        open_lane(lane, s, choose);
    }
}
