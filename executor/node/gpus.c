#include "executor/node/gpus.h"

#include "common/base/alloc.h"
#include "executor/node/attribute.h"
#include "executor/node/gpu_settings.h"
#include "executor/workdir/sysfile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define AMD_VENDOR "0x1002"

/* kfd's 90402 is version 9.4.2, which compilers call gfx942 (minor and stepping in hexadecimal). */
static json_t *arch_name(long long version)
{
    char name[32];
    snprintf(name, sizeof name, "gfx%lld%llx%llx", version / 10000, version / 100 % 100, version % 100);
    return json_string(name);
}

struct kfd_search {
    const char *unique_id; /* hexadecimal, as the card has it; NULL: any */
    long long version;
    int gpus;
};

static void kfd_node(const char *path, const char *name, void *arg)
{
    struct kfd_search *search = arg;
    unsigned long long version = attribute_property(path, "gfx_target_version");
    (void)name;
    if (version == 0)
        return; /* a CPU */
    search->gpus++;
    if (!search->unique_id || search->version == 0 ||
        strtoull(search->unique_id, NULL, 16) == attribute_property(path, "unique_id"))
        search->version = (long long)version;
}

static json_t *amd_arch(const struct layout *l, const char *unique_id)
{
    char root[FS_PATH_MAX];
    struct kfd_search search = {.unique_id = unique_id};
    if (fs_join(root, NULL, l->sysfs, "class/kfd/kfd/topology/nodes") == 0)
        entries_each(root, ENTRIES_NUMBERS, kfd_node, &search);
    return search.version ? arch_name(search.version) : json_null();
}

static json_t *amd_name(const char *device)
{
    static const struct {
        const char *id, *name;
    } known[] = {{"0x74a0", "AMD Instinct MI300A"},    {"0x74a1", "AMD Instinct MI300X"},
                 {"0x74b5", "AMD Instinct MI300X VF"}, {"0x74a5", "AMD Instinct MI325X"},
                 {"0x740c", "AMD Instinct MI250X"},    {"0x740f", "AMD Instinct MI210"}};
    json_t *name = attribute_line(device, "product_name");
    if (name && *json_string_value(name))
        return name;
    json_decref(name);
    json_t *id = attribute_line(device, "device");
    for (size_t i = 0; id && i < sizeof known / sizeof *known; i++) {
        if (strcmp(json_string_value(id), known[i].id) == 0) {
            json_decref(id);
            return json_string(known[i].name);
        }
    }
    return id ? id : json_null();
}

static void see_render_node(const char *path, const char *name, void *arg)
{
    bool *usable = arg;
    char file[64];
    (void)path;
    snprintf(file, sizeof file, "/dev/dri/%.32s", name);
    *usable = access(file, R_OK | W_OK) == 0;
}

/* A container shows all GPUs in sysfs, and the device files of those that it was given. */
static bool is_usable(const struct layout *l, const char *device)
{
    char drm[FS_PATH_MAX];
    bool usable = true;
    if (strcmp(l->sysfs, "/sys") == 0 && fs_join(drm, NULL, device, "drm") == 0)
        entries_each(drm, "renderD", see_render_node, &usable);
    return usable;
}

struct amd_scan {
    const struct layout *layout;
    json_t *out;
};

static void amd_card(const char *path, const char *name, void *arg)
{
    struct amd_scan *scan = arg;
    char device[FS_PATH_MAX];
    (void)name;
    if (fs_join(device, NULL, path, "device") != 0)
        return;
    json_auto_t *vendor = attribute_line(device, "vendor");
    json_t *total = attribute_number(device, "mem_info_vram_total");
    bool is_amd = (!vendor || strcmp(json_string_value(vendor), AMD_VENDOR) == 0) && json_is_integer(total);
    if (!is_amd) {
        json_decref(total);
        return;
    }
    json_t *unique = attribute_line(device, "unique_id");
    json_t *driver = attribute_line(scan->layout->sysfs, "module/amdgpu/version");
    json_t *gpu =
        json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "vendor", "amd", "name", amd_name(device), "arch",
                  amd_arch(scan->layout, json_string_value(unique)), "vram_total_bytes", total,
                  "vram_used_bytes", attribute_number(device, "mem_info_vram_used"), "driver",
                  driver ? driver : json_null(), "unique_id", unique ? unique : json_null());
    if (!is_usable(scan->layout, device))
        json_object_set_new(gpu, "usable", json_false());
    gpu_settings_amd(scan->layout, device, gpu);
    json_array_append_new(scan->out, gpu);
}

json_t *gpus_amd(const struct layout *l)
{
    char root[FS_PATH_MAX];
    struct amd_scan scan = {.layout = l, .out = json_array()};
    if (fs_join(root, NULL, l->sysfs, "class/drm") == 0)
        entries_each(root, "card", amd_card, &scan);
    return scan.out;
}

static void nvidia_gpu(const char *path, const char *name, void *arg)
{
    (void)name;
    json_array_append_new(arg, json_pack("{s:s, s:o, s:n, s:n, s:n, s:n, s:o}", "vendor", "nvidia", "name",
                                         attribute_keyed(path, "information", "Model", ':'), "arch",
                                         "vram_total_bytes", "vram_used_bytes", "driver", "unique_id",
                                         attribute_keyed(path, "information", "GPU UUID", ':')));
}

static json_t *json_bytes(double x)
{
    return isnan(x) ? json_null() : json_integer((json_int_t)x);
}

static json_t *nvml_gpu(const struct nvml_facts *facts, const struct nvml_gpu *g)
{
    char arch[32];
    snprintf(arch, sizeof arch, "sm_%d%d", (int)g->major, (int)g->minor);
    return json_pack("{s:s, s:s, s:o, s:o, s:o, s:s, s:s, s:s*}", "vendor", "nvidia", "name", g->name, "arch",
                     g->major > 0 ? json_string(arch) : json_null(), "vram_total_bytes",
                     json_bytes(g->total_bytes), "vram_used_bytes", json_bytes(g->used_bytes), "driver",
                     facts->driver, "unique_id", g->uuid, "pci", *g->pci ? g->pci : NULL);
}

json_t *gpus_nvidia(const struct layout *l, const struct nvml_facts *facts)
{
    char root[FS_PATH_MAX];
    json_t *out = json_array();
    for (int32_t i = 0; facts && i < facts->gpu_count; i++)
        json_array_append_new(out, nvml_gpu(facts, &facts->gpu[i]));
    if (!facts && fs_join(root, NULL, l->proc, "driver/nvidia/gpus") == 0)
        entries_each(root, NULL, nvidia_gpu, out);
    return out;
}

json_t *gpus_nvidia_processes(const struct nvml_facts *facts)
{
    json_t *out = json_array();
    for (int32_t i = 0; facts && i < facts->process_count; i++)
        json_array_append_new(out, json_pack("{s:I, s:o}", "pid", (json_int_t)facts->process[i].pid,
                                             "vram_bytes", json_bytes(facts->process[i].used_bytes)));
    return out;
}

static void kfd_vram(const char *path, const char *name, void *arg)
{
    double *bytes = arg;
    AUTO_FCLOSE FILE *f = strncmp(name, "vram_", 5) == 0 ? fopen(path, "re") : NULL;
    unsigned long long value;
    if (f && fscanf(f, "%llu", &value) == 1)
        *bytes += (double)value;
}

static void kfd_process(const char *path, const char *name, void *arg)
{
    double bytes = 0;
    entries_each(path, NULL, kfd_vram, &bytes);
    json_array_append_new(arg, json_pack("{s:I, s:I}", "pid", (json_int_t)strtoll(name, NULL, 10),
                                         "vram_bytes", (json_int_t)bytes));
}

json_t *gpus_amd_processes(const struct layout *l)
{
    char root[FS_PATH_MAX];
    json_t *out = json_array();
    if (fs_join(root, NULL, l->sysfs, "class/kfd/kfd/proc") == 0)
        entries_each(root, ENTRIES_NUMBERS, kfd_process, out);
    return out;
}
