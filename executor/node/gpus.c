#include "executor/node/gpus.h"

#include "common/base/alloc.h"
#include "executor/node/attribute.h"
#include "executor/node/gpu_settings.h"
#include "executor/telemetry/amd_gpus.h"
#include "executor/telemetry/sample.h"
#include "executor/workdir/sysfile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* kfd's 90402 is version 9.4.2, which compilers call gfx942 (minor and stepping in hexadecimal). */
static json_t *arch_name(long long version)
{
    char name[32];
    snprintf(name, sizeof name, "gfx%lld%llx%llx", version / 10000, version / 100 % 100, version % 100);
    return json_string(name);
}

/* Any GPU's, for a card that kfd's topology does not name. */
static void any_version(const char *path, const char *name, void *arg)
{
    unsigned long long *version = arg;
    (void)name;
    if (*version == 0)
        *version = attribute_property(path, "gfx_target_version");
}

static json_t *amd_arch(const struct layout *l, const struct amd_gpu *gpu)
{
    char root[FS_PATH_MAX];
    unsigned long long version = *gpu->kfd ? attribute_property(gpu->kfd, "gfx_target_version") : 0;
    if (version == 0 && fs_join(root, NULL, l->sysfs, "class/kfd/kfd/topology/nodes") == 0)
        entries_each(root, ENTRIES_NUMBERS, any_version, &version);
    return version ? arch_name((long long)version) : json_null();
}

static json_t *amd_name(const char *device)
{
    static const struct {
        const char *id, *name;
    } known[] = {{"0x74a0", "AMD Instinct MI300A"},    {"0x74a1", "AMD Instinct MI300X"},
                 {"0x74b5", "AMD Instinct MI300X VF"}, {"0x74a2", "AMD Instinct MI308X"},
                 {"0x74a5", "AMD Instinct MI325X"},    {"0x74b9", "AMD Instinct MI325X VF"},
                 {"0x75a0", "AMD Instinct MI350X"},    {"0x75b0", "AMD Instinct MI350X VF"},
                 {"0x75a3", "AMD Instinct MI355X"},    {"0x75b3", "AMD Instinct MI355X VF"},
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
static bool is_usable(const struct layout *l, const struct amd_gpu *gpu)
{
    bool usable = true;
    if (strcmp(l->sysfs, "/sys") == 0)
        amd_gpu_render_nodes(gpu, see_render_node, &usable);
    return usable;
}

struct amd_scan {
    const struct layout *layout;
    json_t *out;
};

static json_t *json_bytes(double x)
{
    return sample_is_plausible(SAMPLE_VRAM_USED, x) ? json_integer((json_int_t)x) : json_null();
}

static json_t *driver_memory(const char *device, const char *file)
{
    json_auto_t *bytes = attribute_number(device, file);
    return json_bytes(json_is_integer(bytes) ? json_number_value(bytes) : (double)NAN);
}

/* A part of a card has the card's memory, except where kfd says how much is its own. */
static json_t *amd_memory(const struct amd_gpu *gpu)
{
    char bank[FS_PATH_MAX];
    unsigned long long own = 0;
    if (gpu->is_part && fs_join(bank, NULL, gpu->kfd, "mem_banks/0") == 0)
        own = attribute_property(bank, "size_in_bytes");
    return own > 0 ? json_integer((json_int_t)own) : driver_memory(gpu->device, "mem_info_vram_total");
}

static json_t *amd_memory_used(const struct layout *l, const struct amd_gpu *gpu)
{
    char processes[FS_PATH_MAX];
    if (!gpu->is_part)
        return driver_memory(gpu->device, "mem_info_vram_used");
    return gpu->gpu_id > 0 && amd_gpus_processes(l, processes)
               ? json_bytes(amd_gpus_bytes(processes, gpu->gpu_id))
               : json_null();
}

static void add_amd(const struct amd_gpu *gpu, size_t index, void *arg)
{
    struct amd_scan *scan = arg;
    const struct layout *l = scan->layout;
    (void)index;
    json_t *driver = attribute_line(l->sysfs, "module/amdgpu/version");
    json_t *out = json_pack(
        "{s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "vendor", "amd", "name", amd_name(gpu->device), "arch",
        amd_arch(l, gpu), "vram_total_bytes", amd_memory(gpu), "vram_used_bytes", amd_memory_used(l, gpu),
        "driver", driver ? driver : json_null(), "unique_id", *gpu->id ? json_string(gpu->id) : json_null());
    if (*gpu->kfd_id)
        json_object_set_new(out, "kfd_id", json_string(gpu->kfd_id));
    if (!is_usable(l, gpu))
        json_object_set_new(out, "usable", json_false());
    gpu_settings_amd(gpu, out);
    json_array_append_new(scan->out, out);
}

json_t *gpus_amd(const struct layout *l)
{
    struct amd_scan scan = {.layout = l, .out = json_array()};
    amd_gpus_each(l, add_amd, &scan);
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

/* Takes bytes and gpus. */
static void add_process(json_t *out, json_int_t pid, json_t *bytes, json_t *gpus)
{
    json_array_append_new(out, json_pack("{s:I, s:o, s:o}", "pid", pid, "vram_bytes", bytes, "gpus", gpus));
}

json_t *gpus_nvidia_processes(const struct nvml_facts *facts, size_t first)
{
    json_t *out = json_array();
    for (int32_t i = 0; facts && i < facts->process_count; i++)
        add_process(out, (json_int_t)facts->process[i].pid, json_bytes(facts->process[i].used_bytes),
                    json_pack("[I]", (json_int_t)first + facts->process[i].gpu));
    return out;
}

struct kfd_scan {
    json_t *out, *gpus; /* the latter of one process */
    double bytes;
    size_t count;
    unsigned long gpu_id[AMD_GPUS_MAX]; /* of the node's GPUs */
};

static void note_gpu_id(const struct amd_gpu *gpu, size_t index, void *arg)
{
    struct kfd_scan *scan = arg;
    if (index < AMD_GPUS_MAX)
        scan->gpu_id[scan->count++] = gpu->gpu_id;
}

static void kfd_vram(const char *path, const char *name, void *arg)
{
    struct kfd_scan *scan = arg;
    unsigned long long value = 0;
    unsigned long gpu_id = strtoul(name + strlen("vram_"), NULL, 10);
    AUTO_FCLOSE FILE *f = fopen(path, "re");
    if (!f || fscanf(f, "%llu", &value) != 1 || value == 0)
        return;
    scan->bytes += (double)value;
    for (size_t i = 0; i < scan->count; i++)
        if (scan->gpu_id[i] == gpu_id)
            json_array_append_new(scan->gpus, json_integer((json_int_t)i));
}

/* A process without memory only opened the device, as monitors do. */
static void kfd_process(const char *path, const char *name, void *arg)
{
    struct kfd_scan *scan = arg;
    scan->bytes = 0;
    scan->gpus = json_array();
    entries_each(path, "vram_", kfd_vram, scan);
    if (scan->bytes > 0)
        add_process(scan->out, strtoll(name, NULL, 10), json_bytes(scan->bytes), scan->gpus);
    else
        json_decref(scan->gpus);
}

json_t *gpus_amd_processes(const struct layout *l)
{
    char root[FS_PATH_MAX];
    struct kfd_scan scan = {.out = json_array()};
    amd_gpus_each(l, note_gpu_id, &scan);
    if (fs_join(root, NULL, l->sysfs, "class/kfd/kfd/proc") == 0)
        entries_each(root, ENTRIES_NUMBERS, kfd_process, &scan);
    return scan.out;
}
