/* A back-end: AMD GPUs through the sysfs of amdgpu. It reads VRAM at each sample, and what the driver must
 * request from the GPU's controller (load, power, temperatures, clocks, gpu_metrics) at most ten times per
 * second. Missing files are not measured; gpu_metrics replaces them, as on virtual functions without hwmon,
 * and those that cannot be read. */
#include "common/base/alloc.h"
#include "executor/telemetry/amd_gpus.h"
#include "executor/telemetry/backend.h"
#include "executor/telemetry/gpu_metrics.h"
#include "executor/telemetry/nvml_helper/due.h"
#include "executor/workdir/sysfile.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CARDS_MAX = 64, DIGITS_SURE = 18 };

static const double slow_interval_s = 0.1;

enum amd_file {
    AMD_VRAM_USED,
    AMD_GPU_BUSY,
    AMD_MEM_BUSY,
    AMD_POWER,
    AMD_TEMP_JUNCTION,
    AMD_TEMP_MEM,
    AMD_SCLK,
    AMD_MCLK,
    AMD_FILES
};

static const struct {
    enum sample_field field;
    bool slow;
    double unit; /* of the file, in the field's */
} meaning[AMD_FILES] = {
    [AMD_VRAM_USED] = {SAMPLE_VRAM_USED, false, 1},
    [AMD_GPU_BUSY] = {SAMPLE_GPU_BUSY, true, 1},
    [AMD_MEM_BUSY] = {SAMPLE_MEM_BUSY, true, 1},
    [AMD_POWER] = {SAMPLE_POWER, true, 1e-6},
    [AMD_TEMP_JUNCTION] = {SAMPLE_TEMP_JUNCTION, true, 1e-3},
    [AMD_TEMP_MEM] = {SAMPLE_TEMP_MEM, true, 1e-3},
    [AMD_SCLK] = {SAMPLE_SCLK, true, 1e-6},
    [AMD_MCLK] = {SAMPLE_MCLK, true, 1e-6},
};

struct card {
    int fd[AMD_FILES];
    int metrics;
    char device[FS_PATH_MAX]; /* "": that of an earlier one */
    bool is_part;             /* of a card */
    unsigned long gpu_id;     /* kfd's; 0: unknown */
    bool has_clock;           /* gpu_metrics has had one */
    bool has_energy;          /* at the last reading */
    struct gpu_metrics last;
};

struct amdgpu {
    size_t count;
    char processes[FS_PATH_MAX]; /* kfd's; "": none */
    const struct telemetry_gpus *only;
    struct due slow;
    double last_s;
    struct card card[CARDS_MAX];
};

static int open_in(const char *dir, const char *name)
{
    char path[FS_PATH_MAX];
    return fs_join(path, NULL, dir, name) == 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
}

/* The numbers of hwmon's sensors differ between driver versions: the labels identify them. */
static void open_temperatures(int *fd, const char *hwmon)
{
    for (int i = 1; i <= 8; i++) {
        char name[32], label[32];
        snprintf(name, sizeof name, "temp%d_label", i);
        if (!sysfile_read(hwmon, name, label, sizeof label))
            continue;
        snprintf(name, sizeof name, "temp%d_input", i);
        if (strncmp(label, "junction", 8) == 0 && fd[AMD_TEMP_JUNCTION] < 0)
            fd[AMD_TEMP_JUNCTION] = open_in(hwmon, name);
        else if (strncmp(label, "mem", 3) == 0 && fd[AMD_TEMP_MEM] < 0)
            fd[AMD_TEMP_MEM] = open_in(hwmon, name);
    }
}

static void open_hwmon(const char *dir, const char *name, void *arg)
{
    int *fd = arg;
    (void)name;
    if (fd[AMD_POWER] >= 0 || fd[AMD_SCLK] >= 0 || fd[AMD_TEMP_JUNCTION] >= 0)
        return; /* the first one counts */
    fd[AMD_POWER] = open_in(dir, "power1_input");
    if (fd[AMD_POWER] < 0)
        fd[AMD_POWER] = open_in(dir, "power1_average");
    fd[AMD_SCLK] = open_in(dir, "freq1_input");
    fd[AMD_MCLK] = open_in(dir, "freq2_input");
    open_temperatures(fd, dir);
}

/* What the parts of a card share is read once. Each has its own memory in use, of which only kfd knows. */
static bool is_listed(const struct amdgpu *a, const char *device)
{
    for (size_t i = 0; i < a->count; i++)
        if (strcmp(a->card[i].device, device) == 0)
            return true;
    return false;
}

static void open_card(struct amdgpu *a, const struct amd_gpu *gpu)
{
    char hwmon[FS_PATH_MAX];
    const char *device = gpu->device;
    struct card *c = &a->card[a->count];
    int *fd = c->fd;
    bool shared = is_listed(a, device);
    for (int f = 0; f < AMD_FILES; f++)
        fd[f] = -1;
    c->metrics = -1;
    c->is_part = gpu->is_part;
    c->gpu_id = gpu->gpu_id;
    if (!gpu->is_part)
        fd[AMD_VRAM_USED] = open_in(device, "mem_info_vram_used");
    a->count++;
    if (shared)
        return;
    snprintf(c->device, sizeof c->device, "%s", device);
    fd[AMD_GPU_BUSY] = open_in(device, "gpu_busy_percent");
    fd[AMD_MEM_BUSY] = open_in(device, "mem_busy_percent");
    if (fs_join(hwmon, NULL, device, "hwmon") == 0)
        entries_each(hwmon, "hwmon", open_hwmon, fd);
    c->metrics = open_in(device, "gpu_metrics");
}

/* Many lanes must not open all files of all GPUs. A card without a unique id is called by its index, as in
 * locks and lanes. */
static void see_gpu(const struct amd_gpu *gpu, size_t index, void *arg)
{
    struct amdgpu *a = arg;
    char number[32];
    snprintf(number, sizeof number, "%zu", index);
    if (a->count < CARDS_MAX && telemetry_uses(a->only, *gpu->id ? gpu->id : number))
        open_card(a, gpu);
}

static void *amdgpu_open(const struct telemetry_target *target)
{
    struct amdgpu *a = xcalloc(1, sizeof *a);
    a->only = target->only;
    if (!amd_gpus_processes(target->layout, a->processes))
        a->processes[0] = '\0';
    amd_gpus_each(target->layout, see_gpu, a);
    if (a->count > 0)
        return a;
    free(a);
    return NULL;
}

static bool read_number(int fd, double *out)
{
    char text[64], *end;
    uint64_t whole = 0;
    ssize_t n = pread(fd, text, sizeof text - 1, 0), i = 0;
    if (n <= 0)
        return false;
    text[n] = '\0';
    for (; i < DIGITS_SURE && text[i] >= '0' && text[i] <= '9'; i++)
        whole = whole * 10 + (uint64_t)(text[i] - '0');
    *out = (double)whole;
    if (whole == UINT32_MAX) /* all ones; in microwatts or hertz it would be believed */
        return false;
    if (i > 0 && (text[i] == '\n' || text[i] == '\0'))
        return true;
    *out = strtod(text, &end);
    return end != text;
}

/* Returns the load in percent: of the whole card, else of its busiest partition. */
static double load_of(const struct gpu_metrics *m)
{
    double load = m->busy;
    for (int p = 0; isnan(m->busy) && p < GPU_METRICS_DIES; p++)
        load = isnan(load) || m->partition_busy[p] > load ? m->partition_busy[p] : load;
    return load;
}

/* Values that hwmon has, too, are taken from there, except for the clock, which is that of one die there. */
static void add_metrics(const struct gpu_metrics *m, double *value, struct sample *out)
{
    const struct {
        enum amd_file instead;
        double value;
    } parts[] = {{AMD_TEMP_JUNCTION, m->hotspot_c}, {AMD_TEMP_MEM, m->memory_c}, {AMD_GPU_BUSY, load_of(m)},
                 {AMD_MEM_BUSY, m->memory_busy},    {AMD_MCLK, m->mclk_mhz},     {AMD_POWER, m->power_w}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (isnan(value[parts[i].instead]))
            value[parts[i].instead] = parts[i].value;
    sample_put(out, SAMPLE_ENERGY, m->energy_j);
    if (m->sclk_mhz > 0 && !(m->sclk_mhz <= out->value[SAMPLE_SCLK])) {
        out->value[SAMPLE_SCLK] = m->sclk_mhz;
        out->value[SAMPLE_SCLK_LOW] = m->sclk_low_mhz;
    }
}

static void read_metrics(struct card *c, double *value, struct sample *out)
{
    unsigned char table[GPU_METRICS_BYTES_MAX];
    struct gpu_metrics now;
    unsigned throttle;
    ssize_t n = c->metrics < 0 ? -1 : pread(c->metrics, table, sizeof table, 0);
    c->has_energy = false;
    if (n <= 0 || !gpu_metrics_read(table, (size_t)n, &now))
        return;
    add_metrics(&now, value, out);
    if (gpu_metrics_throttle(&c->last, &now, &throttle))
        sample_put(out, SAMPLE_THROTTLE, throttle);
    c->last = now;
    c->has_clock |= now.sclk_mhz > 0;
    c->has_energy = !isnan(now.energy_j);
}

static bool is_due(int f, bool slow)
{
    return slow || !meaning[f].slow;
}

static void read_files(const struct card *c, bool slow, double *value)
{
    for (int f = 0; f < AMD_FILES; f++) {
        if (c->fd[f] < 0 || !is_due(f, slow) || !read_number(c->fd[f], &value[f]))
            value[f] = NAN;
        value[f] *= meaning[f].unit;
    }
}

/* Returns the bits of what it did not give, though it was its turn. */
static unsigned read_card(struct card *c, bool slow, struct sample *out)
{
    double value[AMD_FILES];
    unsigned without;
    read_files(c, slow, value);
    if (slow)
        read_metrics(c, value, out);
    without = slow && !c->has_energy ? 1u << SAMPLE_ENERGY : 0;
    for (int f = 0; f < AMD_FILES; f++) {
        if (isnan(value[f]) && is_due(f, slow))
            without |= 1u << meaning[f].field;
        if (f != AMD_SCLK || !c->has_clock)
            sample_put(out, meaning[f].field, value[f]);
    }
    return without;
}

/* The memory of a part is only known to kfd, and the rest of a later one was read with the first. */
static unsigned read_part(const struct amdgpu *a, struct card *c, bool slow, struct sample *out)
{
    unsigned without = *c->device ? read_card(c, slow, out) & ~(1u << SAMPLE_VRAM_USED) : 0;
    if (c->gpu_id == 0 || !*a->processes)
        return without | 1u << SAMPLE_VRAM_USED;
    sample_put(out, SAMPLE_VRAM_USED, amd_gpus_bytes(a->processes, c->gpu_id));
    return without;
}

static void amdgpu_read(void *state, struct sample *out)
{
    struct amdgpu *a = state;
    if (out->t_s < a->last_s) /* t_s restarts at 0 with each test */
        a->slow.at_s = 0;
    a->last_s = out->t_s;
    bool slow = due_take(&a->slow, out->t_s, slow_interval_s);
    unsigned without = 0;
    for (size_t c = 0; c < a->count; c++)
        without |=
            a->card[c].is_part ? read_part(a, &a->card[c], slow, out) : read_card(&a->card[c], slow, out);
    sample_end_sums(out, without);
}

/* Before and after a test, everything is read anew. */
static void amdgpu_ask(void *state)
{
    struct amdgpu *a = state;
    a->last_s = INFINITY;
}

static void amdgpu_close(void *state)
{
    AUTO_FREE struct amdgpu *a = state;
    for (size_t c = 0; c < a->count; c++) {
        for (int f = 0; f < AMD_FILES; f++) {
            if (a->card[c].fd[f] >= 0)
                close(a->card[c].fd[f]);
        }
        if (a->card[c].metrics >= 0)
            close(a->card[c].metrics);
    }
}

const struct telemetry_backend telemetry_amdgpu = {
    .name = "amdgpu",
    .open = amdgpu_open,
    .read = amdgpu_read,
    .ask = amdgpu_ask,
    .close = amdgpu_close,
};
