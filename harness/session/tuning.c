#include "harness/session/tuning.h"

#include "common/base/json.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { GPUS_MAX = 256, NAMED_MAX = 4, NAMES_MAX = 64, TEXT_MAX = 160 };

/* A GPU while the rules are applied to it. */
struct view {
    const json_t *gpu;
    const json_t *all; /* the node's GPUs */
    char text[TEXT_MAX];
};

struct rule {
    const char *subject;
    bool (*applies)(struct view *v); /* if true, text says what is wrong */
    const char *remedy;
};

static bool has_number(const json_t *obj, const char *key, long long *out)
{
    const json_t *v = json_object_get(obj, key);
    *out = json_integer_value(v);
    return json_is_integer(v);
}

static bool is_amd(const json_t *gpu)
{
    return strcmp(json_text(gpu, "vendor"), "amd") == 0;
}

static void describe(struct view *v, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void describe(struct view *v, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(v->text, sizeof v->text, fmt, ap);
    va_end(ap);
}

static bool lost_data(struct view *v)
{
    long long count;
    if (!has_number(json_object_get(v->gpu, "ras"), "uncorrectable", &count) || count <= 0)
        return false;
    describe(v, "%lld uncorrectable hardware error%s since the driver was loaded", count,
             count == 1 ? "" : "s");
    return true;
}

/* What could not be corrected and is not used yet fails whoever uses it. */
static bool may_lose_data(struct view *v)
{
    long long count;
    if (!has_number(json_object_get(v->gpu, "ras"), "deferred", &count) || count <= 0)
        return false;
    describe(v, "%lld deferred memory error%s since the driver was loaded", count, count == 1 ? "" : "s");
    return true;
}

static bool has_no_ecc(struct view *v)
{
    describe(v, "off, so errors in memory go unnoticed");
    return json_is_false(json_object_get(v->gpu, "ecc"));
}

static bool is_held(struct view *v)
{
    const char *level = json_text(v->gpu, "perf_level");
    long long least, most;
    if (!*level || strcmp(level, "auto") == 0)
        return false;
    if (has_number(v->gpu, "sclk_min_mhz", &least) && has_number(v->gpu, "sclk_max_mhz", &most))
        describe(v, "held at performance level '%.20s', %lld to %lld MHz", level, least, most);
    else
        describe(v, "held at performance level '%.20s'", level);
    return true;
}

static bool is_capped(struct view *v)
{
    long long cap, usual;
    if (!has_number(v->gpu, "power_cap_w", &cap) || !has_number(v->gpu, "power_cap_default_w", &usual) ||
        cap >= usual)
        return false;
    describe(v, "%lld W, below the default of %lld W", cap, usual);
    return true;
}

static bool is_capped_at_peaks(struct view *v)
{
    long long cap, usual;
    if (!has_number(v->gpu, "power_cap2_w", &cap) || !has_number(v->gpu, "power_cap2_default_w", &usual) ||
        cap >= usual)
        return false;
    describe(v, "%lld W at short peaks, below the default of %lld W", cap, usual);
    return true;
}

static bool is_capped_with_others(struct view *v)
{
    long long limit, most;
    if (!has_number(v->gpu, "node_power_limit_w", &limit) ||
        !has_number(v->gpu, "node_power_limit_max_w", &most) || limit <= 0 || limit >= most)
        return false;
    describe(v, "%lld W for all GPUs together, of at most %lld W", limit, most);
    return true;
}

static bool is_narrow(struct view *v)
{
    long long lanes, most;
    if (!has_number(v->gpu, "pcie_width", &lanes) || !has_number(v->gpu, "pcie_width_max", &most) ||
        lanes <= 0 || lanes >= most)
        return false;
    describe(v, "the link to the host uses %lld of its %lld lanes", lanes, most);
    return true;
}

static bool is_translated(struct view *v)
{
    const char *type = json_text(v->gpu, "iommu");
    if (!*type || strcmp(type, "identity") == 0)
        return false;
    describe(v, "the IOMMU translates every transfer (%.20s)", type);
    return is_amd(v->gpu);
}

/* The parts of a partitioned GPU appear as GPUs, so the number of links cannot be checked against them. */
static bool lacks_links(struct view *v)
{
    long long links, others = -1;
    size_t i;
    json_t *gpu;
    json_array_foreach(v->all, i, gpu)
    {
        if (strcmp(json_text(gpu, "compute_partition"), "SPX") == 0)
            others++;
        else if (is_amd(gpu))
            return false;
    }
    if (others < 1 || !has_number(v->gpu, "xgmi_links", &links) || links >= others)
        return false;
    describe(v, "%lld link%s, but %lld other GPU%s", links, links == 1 ? "" : "s", others,
             others == 1 ? "" : "s");
    return true;
}

static bool differs_in(struct view *v, const char *key)
{
    const char *own = json_text(v->gpu, key), *first = json_text(json_array_get(v->all, 0), key);
    return *own && *first && strcmp(own, first) != 0;
}

static bool has_other_partitions(struct view *v)
{
    const json_t *first = json_array_get(v->all, 0);
    if (!differs_in(v, "compute_partition") && !differs_in(v, "memory_partition"))
        return false;
    describe(v, "%.8s/%.8s, unlike GPU 0 (%.8s/%.8s)", json_text(v->gpu, "compute_partition"),
             json_text(v->gpu, "memory_partition"), json_text(first, "compute_partition"),
             json_text(first, "memory_partition"));
    return true;
}

static bool has_other_firmware(struct view *v)
{
    const json_t *own = json_object_get(v->gpu, "firmware"),
                 *first = json_object_get(json_array_get(v->all, 0), "firmware");
    const char *key;
    json_t *version;
    json_object_foreach((json_t *)(uintptr_t)own, key, version)
    {
        const char *here = json_string_value(version), *there = json_text(first, key);
        if (!here || !*there || strcmp(here, there) == 0)
            continue;
        describe(v, "%.10s %.40s, unlike GPU 0 (%.40s)", key, here, there);
        return true;
    }
    return false;
}

static bool is_not_persistent(struct view *v)
{
    describe(v, "off, so the driver starts again for each test");
    return json_is_false(json_object_get(v->gpu, "persistence"));
}

static bool is_sliced(struct view *v)
{
    describe(v, "on, so a test sees a slice of the GPU");
    return json_is_true(json_object_get(v->gpu, "mig"));
}

static bool has_unread_metrics(struct view *v)
{
    const char *unread = json_text(v->gpu, "metrics_unread");
    describe(v, "gpu_metrics %.40s is not known", unread);
    return *unread;
}

static const struct rule gpu_rules[] = {
    {"gpu errors", lost_data,
     "drain the node and reset the GPU: what it computes cannot be trusted; if errors return, replace it"},
    {"deferred errors", may_lose_data, "drain the node and reset the GPU: bad memory pages are retired then"},
    {"ecc", has_no_ecc,
     "AMD: boot with amdgpu.ras_enable=1 and RAS on in the BIOS; NVIDIA: nvidia-smi -e 1, reboot"},
    {"partitions", has_other_partitions,
     "give every GPU the same modes (amd-smi set --compute-partition, --memory-partition); SPX and NPS1 for "
     "one program per GPU"},
    {"clocks", is_held,
     "put them back with amd-smi reset --clocks; to hold clocks for a run only, use the plan's \"clocks\""},
    {"power cap", is_capped, "put the default back: amd-smi set --power-cap, or nvidia-smi -pl"},
    {"peak power cap", is_capped_at_peaks,
     "put the default of hwmon's power2_cap back: amd-smi set --power-cap"},
    {"node power limit", is_capped_with_others,
     "raise it, or compare only nights under this limit: amd-smi node"},
    {"pcie", is_narrow,
     "see LnkSta in lspci -vv, reseat the GPU or its riser and reboot: until then models load slowly"},
    {"xgmi", lacks_links,
     "see amd-smi topology and the kernel's log, then power-cycle the node: traffic between GPUs takes PCIe"},
    {"iommu", is_translated,
     "boot with iommu=pt (on Intel also intel_iommu=on): pass-through needs no translation"},
    {"firmware", has_other_firmware,
     "install the same firmware bundle on all GPUs, or keep a series of nights on one GPU"},
    {"telemetry", has_unread_metrics,
     "update kernsweep: clocks, throttling and energy may be missing from its results until then"},
    {"persistence", is_not_persistent, "nvidia-smi -pm 1, or run nvidia-persistenced"},
    {"mig", is_sliced, "nvidia-smi -mig 0, or name one slice in the plan's CUDA_VISIBLE_DEVICES"},
};

/* Writes "GPU 1", "GPUs 0 and 3" or "GPUs 0, 2 and 5", and only the number ("8 GPUs") if there are many. */
static void name_gpus(char out[NAMES_MAX], const bool *chosen, size_t count)
{
    size_t total = 0, named = 0, len;
    for (size_t i = 0; i < count; i++)
        total += chosen[i];
    if (total > NAMED_MAX) {
        snprintf(out, NAMES_MAX, "%zu GPUs", total);
        return;
    }
    len = (size_t)snprintf(out, NAMES_MAX, total == 1 ? "GPU" : "GPUs");
    for (size_t i = 0; i < count; i++) {
        if (!chosen[i])
            continue;
        const char *before = named == 0 ? "" : named + 1 == total ? " and" : ",";
        len += (size_t)snprintf(out + len, NAMES_MAX - len, "%s %zu", before, i);
        named++;
    }
}

static void judge_gpus(struct preflight *p, const struct rule *rule, const json_t *gpus)
{
    bool chosen[GPUS_MAX] = {false};
    char first[TEXT_MAX] = "", names[NAMES_MAX];
    size_t count = json_array_size(gpus) < GPUS_MAX ? json_array_size(gpus) : GPUS_MAX;
    for (size_t i = 0; i < count; i++) {
        struct view v = {.gpu = json_array_get(gpus, i), .all = gpus};
        chosen[i] = rule->applies(&v);
        if (chosen[i] && !*first)
            memcpy(first, v.text, sizeof first);
    }
    if (!*first)
        return;
    name_gpus(names, chosen, count);
    preflight_add(p, PREFLIGHT_WARNING, rule->subject, rule->remedy, "%s: %s", names, first);
}

static bool has_finding(const struct preflight *p, const char *subject)
{
    for (size_t i = 0; i < p->count; i++) {
        if (strcmp(p->findings[i].subject, subject) == 0)
            return true;
    }
    return false;
}

/* Reports settings in which nothing wrong was found, so that nodes can be compared. */
static void tell_settings(struct preflight *p, const json_t *gpu)
{
    const json_t *firmware = json_object_get(gpu, "firmware");
    const char *compute = json_text(gpu, "compute_partition"), *memory = json_text(gpu, "memory_partition"),
               *smc = json_text(firmware, "smc"), *vbios = json_text(firmware, "vbios");
    long long cap, least, most;
    if (*vbios && !has_finding(p, "firmware"))
        preflight_add(p, PREFLIGHT_OK, "firmware", "", "VBIOS %s%s%s", vbios, *smc ? ", SMC " : "", smc);
    if (*compute && *memory && !has_finding(p, "partitions"))
        preflight_add(p, PREFLIGHT_OK, "partitions", "", "%s, %s", compute, memory);
    if (has_number(gpu, "sclk_min_mhz", &least) && has_number(gpu, "sclk_max_mhz", &most) &&
        !has_finding(p, "clocks"))
        preflight_add(p, PREFLIGHT_OK, "clocks", "", "%lld to %lld MHz, not held", least, most);
    if (has_number(gpu, "power_cap_w", &cap) && !has_finding(p, "power cap"))
        preflight_add(p, PREFLIGHT_OK, "power cap", "", "%lld W", cap);
}

static bool has_instinct(const json_t *gpus)
{
    static const char *const archs[] = {"gfx908", "gfx90a", "gfx940", "gfx941",
                                        "gfx942", "gfx950", "gfx1250"};
    size_t i;
    json_t *gpu;
    json_array_foreach(gpus, i, gpu)
    {
        for (size_t a = 0; a < sizeof archs / sizeof *archs; a++) {
            if (strcmp(json_text(gpu, "arch"), archs[a]) == 0)
                return true;
        }
    }
    return false;
}

/* Judges settings of the operating system, only beside an Instinct GPU; elsewhere they are up to the
 * owner. */
static void judge_system(struct preflight *p, const json_t *system)
{
    const char *governor = json_text(system, "governor"), *thp = json_text(system, "thp");
    long long balancing;
    if (has_number(system, "numa_balancing", &balancing) && balancing != 0)
        preflight_add(p, PREFLIGHT_WARNING, "numa", "sysctl kernel.numa_balancing=0",
                      "on: the kernel unmaps and moves pages while a test runs");
    if (*governor && strcmp(governor, "performance") != 0)
        preflight_add(p, PREFLIGHT_WARNING, "governor", "cpupower frequency-set -g performance",
                      "%s: launches wait for cores that must first speed up", governor);
    if (strcmp(thp, "never") == 0)
        preflight_add(p, PREFLIGHT_WARNING, "huge pages",
                      "echo always >/sys/kernel/mm/transparent_hugepage/enabled",
                      "transparent huge pages are off: large host buffers cost many more page translations");
}

void tuning_check(struct preflight *p, const json_t *node)
{
    const json_t *gpus = json_object_get(node, "gpus");
    for (size_t i = 0; i < sizeof gpu_rules / sizeof *gpu_rules; i++)
        judge_gpus(p, &gpu_rules[i], gpus);
    tell_settings(p, json_array_get(gpus, 0));
    if (has_instinct(gpus))
        judge_system(p, json_object_get(node, "system"));
}
