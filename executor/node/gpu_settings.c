#include "executor/node/gpu_settings.h"

#include "common/base/alloc.h"
#include "executor/node/attribute.h"
#include "executor/node/clocks_gpu.h"
#include "executor/telemetry/gpu_metrics.h"
#include "executor/telemetry/sample.h"
#include "executor/workdir/sysfile.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { IO_LINK_XGMI = 11, RAS_BLOCK_UMC = 0, LANES_MOST = 32, NODE_WATTS_MOST = 65534 };

/* Takes value. */
static void add(json_t *out, const char *key, json_t *value)
{
    if (value && !json_is_null(value))
        json_object_set_new(out, key, value);
    else
        json_decref(value);
}

static void add_number(json_t *out, const char *key, const char *folder, const char *file, json_int_t least,
                       json_int_t most)
{
    json_t *number = attribute_number(folder, file);
    json_int_t n = json_integer_value(number);
    add(out, key, n >= least && n <= most ? json_incref(number) : NULL);
    json_decref(number);
}

/* 0: a virtual function, or a die that shares another's. */
static void add_watts(json_t *out, const char *key, const char *hwmon, const char *file)
{
    json_auto_t *microwatts = attribute_number(hwmon, file);
    json_int_t watts = json_integer_value(microwatts) / 1000000;
    if (sample_is_plausible(SAMPLE_POWER, (double)watts))
        json_object_set_new(out, key, json_integer(watts));
}

static void add_mode(json_t *out, const char *key, const char *device, const char *file)
{
    json_t *mode = attribute_line(device, file);
    bool known = mode && strcmp(json_string_value(mode), "UNKNOWN") != 0;
    add(out, key, known ? json_incref(mode) : NULL);
    json_decref(mode);
}

static void add_power_caps(const char *path, const char *name, void *arg)
{
    (void)name;
    add_watts(arg, "power_cap_w", path, "power1_cap");
    add_watts(arg, "power_cap_default_w", path, "power1_cap_default");
    add_watts(arg, "power_cap_max_w", path, "power1_cap_max");
    add_watts(arg, "power_cap2_w", path, "power2_cap"); /* MI350: of short peaks */
    add_watts(arg, "power_cap2_default_w", path, "power2_cap_default");
}

/* The limit of all GPUs of the node together, in watts, which one of them shows (MI350; MI400 in board/npm).
 */
static void add_node_limit(const char *device, json_t *gpu)
{
    static const char *const folders[] = {"board", "board/npm"};
    char folder[FS_PATH_MAX];
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        if (fs_join(folder, NULL, device, folders[i]) != 0)
            continue;
        add_number(gpu, "node_power_limit_w", folder, "cur_node_power_limit", 1, NODE_WATTS_MOST);
        add_number(gpu, "node_power_limit_max_w", folder, "max_node_power_limit", 1, NODE_WATTS_MOST);
    }
}

/* Firmware with the version 0x00000000 is not loaded; 0xffffffff is none that was read. */
static bool is_version(const char *text)
{
    unsigned long long n = strtoull(text, NULL, 0);
    return n > 0 && n < UINT32_MAX;
}

static void add_firmware(const char *device, json_t *gpu)
{
    static const char *const files[][2] = {
        {"smc", "fw_version/smc_fw_version"},   {"sos", "fw_version/sos_fw_version"},
        {"mec", "fw_version/mec_fw_version"},   {"rlc", "fw_version/rlc_fw_version"},
        {"sdma", "fw_version/sdma_fw_version"}, {"vbios", "vbios_version"}};
    json_auto_t *firmware = json_object();
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        json_t *version = attribute_line(device, files[i][1]);
        if (version && !is_version(json_string_value(version)) && strcmp(files[i][0], "vbios") != 0)
            json_decref(version);
        else
            add(firmware, files[i][0], version);
    }
    if (json_object_size(firmware) > 0)
        json_object_set(gpu, "firmware", firmware);
}

struct errors {
    bool found, inaccessible; /* a block whose numbers the driver does not tell at this moment */
    json_int_t uncorrectable, correctable, deferred; /* the latter -1: not counted */
};

/* ras/umc_err_count has the lines "ue: 0", "ce: 0" and, in newer drivers, "de: 0": what could not be
 * corrected and has not been used yet. Returns whether the line has the first of these. */
static bool take_count(struct errors *e, const char *line)
{
    long long count;
    if (!*line || sscanf(line + 1, "e: %lld", &count) != 1 || count < 0 || count >= UINT32_MAX)
        return false;
    if (*line == 'u')
        e->uncorrectable += count;
    else if (*line == 'c')
        e->correctable += count;
    else if (*line == 'd')
        e->deferred = (e->deferred < 0 ? 0 : e->deferred) + count;
    return *line == 'u';
}

static void add_block(const char *path, const char *name, void *arg)
{
    struct errors *e = arg;
    char file[FS_PATH_MAX], line[64] = "";
    bool counted = false;
    const char *end = strstr(name, "_err_count");
    if (!end || end[strlen("_err_count")])
        return;
    snprintf(file, sizeof file, "%s", path);
    AUTO_FCLOSE FILE *f = fopen(file, "re");
    while (f && fgets(line, sizeof line, f))
        counted |= take_count(e, line);
    e->found |= counted;
    e->inaccessible |= *line && !counted;
}

static struct errors count_errors(const char *ras)
{
    struct errors e = {.deferred = -1};
    entries_each(ras, NULL, add_block, &e);
    e.found &= !e.inaccessible;
    return e;
}

long long gpu_settings_uncorrectable(const char *device)
{
    char ras[FS_PATH_MAX];
    struct errors e = {.found = false};
    if (fs_join(ras, NULL, device, "ras") == 0)
        e = count_errors(ras);
    return e.found ? e.uncorrectable : -1;
}

static void add_ras(const char *device, json_t *gpu)
{
    char ras[FS_PATH_MAX];
    if (fs_join(ras, NULL, device, "ras") != 0)
        return;
    struct errors e = count_errors(ras);
    if (e.found)
        json_object_set_new(gpu, "ras",
                            json_pack("{s:I, s:I, s:o*}", "uncorrectable", e.uncorrectable, "correctable",
                                      e.correctable, "deferred",
                                      e.deferred < 0 ? NULL : json_integer(e.deferred)));
    json_auto_t *mask = attribute_keyed(ras, "features", "feature mask", ':');
    if (json_is_string(mask))
        json_object_set_new(gpu, "ecc",
                            json_boolean(strtoull(json_string_value(mask), NULL, 0) >> RAS_BLOCK_UMC & 1));
}

static void count_link(const char *path, const char *name, void *arg)
{
    int *links = arg;
    (void)name;
    *links += attribute_property(path, "type") == IO_LINK_XGMI;
}

static void add_xgmi(const char *node, json_t *gpu)
{
    char links[FS_PATH_MAX];
    int count = 0;
    if (!*node || fs_join(links, NULL, node, "io_links") != 0 || !fs_is_dir(links))
        return;
    entries_each(links, ENTRIES_NUMBERS, count_link, &count);
    json_object_set_new(gpu, "xgmi_links", json_integer(count));
}

/* The version and size of a table gpu_metrics of which something, or all, cannot be read. */
static void add_unread_metrics(const char *device, json_t *gpu)
{
    char path[FS_PATH_MAX], text[64];
    unsigned char table[GPU_METRICS_BYTES_MAX];
    struct gpu_metrics m;
    if (fs_join(path, NULL, device, "gpu_metrics") != 0)
        return;
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, table, sizeof table) : -1;
    if (n <= 0 || (gpu_metrics_read(table, (size_t)n, &m) && m.whole))
        return;
    snprintf(text, sizeof text, "%d.%d of %zd bytes", m.format, m.content, n);
    json_object_set_new(gpu, "metrics_unread", json_string(text));
}

static void add_clock_limits(const char *device, json_t *gpu)
{
    struct sclk_limits limits;
    if (!sclk_limits_read(device, &limits))
        return;
    json_object_set_new(gpu, "sclk_min_mhz", json_integer(limits.min_mhz));
    json_object_set_new(gpu, "sclk_max_mhz", json_integer(limits.max_mhz));
}

void gpu_settings_amd(const struct amd_gpu *of, json_t *gpu)
{
    const char *device = of->device;
    char hwmon[FS_PATH_MAX];
    add(gpu, "pci", attribute_keyed(device, "uevent", "PCI_SLOT_NAME", '='));
    add(gpu, "numa_node", attribute_number(device, "numa_node"));
    add(gpu, "iommu", attribute_line(device, "iommu_group/type"));
    add_node_limit(device, gpu);
    add_mode(gpu, "compute_partition", device, "current_compute_partition");
    add_mode(gpu, "memory_partition", device, "current_memory_partition");
    add(gpu, "perf_level", attribute_line(device, "power_dpm_force_performance_level"));
    add_number(gpu, "pcie_width", device, "current_link_width", 0, LANES_MOST);
    add_number(gpu, "pcie_width_max", device, "max_link_width", 1, LANES_MOST); /* 255: unknown */
    add_clock_limits(device, gpu);
    add_unread_metrics(device, gpu);
    if (fs_join(hwmon, NULL, device, "hwmon") == 0)
        entries_each(hwmon, "hwmon", add_power_caps, gpu);
    add_firmware(device, gpu);
    add_ras(device, gpu);
    add_xgmi(of->kfd, gpu);
}
