#include "executor/telemetry/amd_gpus.h"

#include "common/base/alloc.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MINORS = 1 << 20 };

#define AMD_VENDOR "0x1002"

/* Bus, device and function as kfd's location_id has them. */
struct address {
    bool known;
    unsigned domain, location;
};

struct card {
    char device[FS_PATH_MAX], id[AMD_ID_MAX];
    struct address at;
    size_t nodes, next_part; /* nodes that are its own; the least number that the next one may have */
};

struct node {
    char path[FS_PATH_MAX], id[AMD_ID_MAX];
    struct address at;
    unsigned long gpu_id;
    unsigned render;
    size_t card; /* AMD_GPUS_MAX: none */
};

struct survey {
    size_t cards, nodes;
    struct card card[AMD_GPUS_MAX];
    struct node node[AMD_GPUS_MAX];
};

static bool is_amd_card(const char *device)
{
    char text[64];
    bool other = sysfile_line(device, "vendor", text, sizeof text) && strcmp(text, AMD_VENDOR) != 0;
    return !other && sysfile_line(device, "mem_info_vram_total", text, sizeof text);
}

static struct address address_of_card(const char *device)
{
    AUTO_FCLOSE FILE *f = sysfile_open(device, "uevent");
    char line[128];
    unsigned domain, bus, slot, function;
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "PCI_SLOT_NAME=%x:%x:%x.%x", &domain, &bus, &slot, &function) == 4)
            return (struct address){true, domain, bus << 8 | slot << 3 | function};
    return (struct address){.known = false};
}

/* Cards without memory of their own are not counted. */
static void see_card(const char *path, const char *name, void *arg)
{
    struct survey *s = arg;
    struct card *c = &s->card[s->cards];
    (void)name;
    if (s->cards == AMD_GPUS_MAX || fs_join(c->device, NULL, path, "device") != 0 || !is_amd_card(c->device))
        return;
    sysfile_line(c->device, "unique_id", c->id, sizeof c->id);
    c->id[strcspn(c->id, " \n")] = '\0';
    c->at = address_of_card(c->device);
    s->cards++;
}

/* A driver that has none says zeros or ones. */
static bool is_id(uint64_t id)
{
    return id > 0 && id < UINT64_MAX;
}

static void take_property(struct node *n, const char *line, bool *is_gpu)
{
    char key[64];
    unsigned long long value;
    if (sscanf(line, "%63s %llu", key, &value) != 2)
        return;
    if (strcmp(key, "gfx_target_version") == 0)
        *is_gpu = value > 0;
    else if (strcmp(key, "unique_id") == 0 && is_id(value))
        snprintf(n->id, sizeof n->id, "%016llx", value);
    else if (strcmp(key, "drm_render_minor") == 0)
        n->render = value < MINORS ? (unsigned)value : 0;
    else if (strcmp(key, "domain") == 0)
        n->at.domain = (unsigned)value;
    else if (strcmp(key, "location_id") == 0)
        n->at = (struct address){true, n->at.domain, (unsigned)value};
}

static void see_node(const char *path, const char *name, void *arg)
{
    struct survey *s = arg;
    struct node *n = &s->node[s->nodes];
    AUTO_FCLOSE FILE *f = sysfile_open(path, "properties");
    char line[256];
    bool is_gpu = false;
    (void)name;
    if (s->nodes == AMD_GPUS_MAX)
        return;
    *n = (struct node){.card = AMD_GPUS_MAX};
    while (f && fgets(line, sizeof line, f))
        take_property(n, line, &is_gpu);
    if (!is_gpu)
        return;
    if (sysfile_line(path, "gpu_id", line, sizeof line))
        n->gpu_id = strtoul(line, NULL, 10);
    snprintf(n->path, sizeof n->path, "%s", path);
    s->nodes++;
}

/* Of a partitioned card the number of the part is in the uppermost bits of location_id or, in some drivers,
 * in those of the function. mask: which bits must agree. */
static size_t find_at(const struct survey *s, const struct node *n, unsigned mask)
{
    size_t c = 0;
    while (c < s->cards && !(n->at.known && s->card[c].at.known && n->at.domain == s->card[c].at.domain &&
                             (n->at.location & mask) == (s->card[c].at.location & mask)))
        c++;
    return c < s->cards ? c : AMD_GPUS_MAX;
}

/* Two known addresses that differ are two cards, whatever the ids say. */
static size_t find_called(const struct survey *s, const struct node *n)
{
    size_t c = 0;
    while (c < s->cards && !(*n->id && !(n->at.known && s->card[c].at.known) &&
                             strtoull(s->card[c].id, NULL, 16) == strtoull(n->id, NULL, 16)))
        c++;
    return c < s->cards ? c : AMD_GPUS_MAX;
}

static bool is_own_id(const struct survey *s, size_t card)
{
    uint64_t id = strtoull(s->card[card].id, NULL, 16);
    size_t n = 0;
    for (size_t i = 0; i < s->cards; i++)
        n += strtoull(s->card[i].id, NULL, 16) == id;
    return is_id(id) && n == 1;
}

/* Virtual functions may have zeros, or all the id of their card. */
static void drop_ids_of_several(struct survey *s)
{
    bool own[AMD_GPUS_MAX];
    for (size_t i = 0; i < s->cards; i++)
        own[i] = is_own_id(s, i);
    for (size_t i = 0; i < s->cards; i++)
        if (!own[i])
            s->card[i].id[0] = '\0';
}

static void match(struct survey *s)
{
    for (size_t i = 0; i < s->nodes; i++) {
        struct node *n = &s->node[i];
        n->card = find_at(s, n, 0xffff);
        if (n->card == AMD_GPUS_MAX)
            n->card = find_at(s, n, 0xfff8);
        if (n->card == AMD_GPUS_MAX)
            n->card = find_called(s, n);
        if (n->card == AMD_GPUS_MAX && s->cards == 1 && !(n->at.known && s->card[0].at.known))
            n->card = 0;
        if (n->card < AMD_GPUS_MAX)
            s->card[n->card].nodes++;
    }
}

static bool is_shared(const struct survey *s, const char *id)
{
    size_t n = 0;
    for (size_t i = 0; i < s->nodes; i++)
        n += strcmp(s->node[i].id, id) == 0;
    return n > 1;
}

/* A container may show one part alone. */
static bool is_partitioned(const struct card *c)
{
    char mode[64];
    return c->nodes > 1 || (sysfile_line(c->device, "current_compute_partition", mode, sizeof mode) &&
                            (strcmp(mode, "DPX") == 0 || strcmp(mode, "TPX") == 0 ||
                             strcmp(mode, "QPX") == 0 || strcmp(mode, "CPX") == 0));
}

/* A part keeps its number where others are hidden; a driver that does not tell the numbers lists all in
 * order. */
static size_t take_part(struct card *c, const struct node *n)
{
    size_t part =
        c->at.known && n->at.known ? n->at.location >> 28 | ((n->at.location ^ c->at.location) & 7) : 0;
    part = part > c->next_part ? part : c->next_part;
    c->next_part = part + 1;
    return part;
}

static void fill(const struct survey *s, struct card *c, const struct node *n, struct amd_gpu *out)
{
    const bool is_part = n && is_partitioned(c);
    out->kfd[0] = out->kfd_id[0] = '\0';
    out->gpu_id = 0;
    out->render = n ? n->render : 0;
    out->is_part = is_part;
    snprintf(out->device, sizeof out->device, "%s", c->device);
    if (n) {
        snprintf(out->kfd, sizeof out->kfd, "%s", n->path);
        snprintf(out->kfd_id, sizeof out->kfd_id, "%s", is_shared(s, n->id) ? "" : n->id);
        out->gpu_id = n->gpu_id;
    }
    if (is_part && *c->id)
        snprintf(out->id, sizeof out->id, "%.40s.%zu", c->id, take_part(c, n));
    else
        snprintf(out->id, sizeof out->id, "%s", c->id);
}

void amd_gpus_each(const struct layout *l, amd_gpu_fn *fn, void *arg)
{
    char root[FS_PATH_MAX];
    struct amd_gpu gpu;
    size_t index = 0;
    AUTO_FREE struct survey *s = xcalloc(1, sizeof *s);
    if (fs_join(root, NULL, l->sysfs, "class/drm") == 0)
        entries_each(root, "card", see_card, s);
    if (s->cards > 0 && fs_join(root, NULL, l->sysfs, "class/kfd/kfd/topology/nodes") == 0)
        entries_each(root, ENTRIES_NUMBERS, see_node, s);
    drop_ids_of_several(s);
    match(s);
    for (size_t i = 0; i < s->nodes; i++) {
        if (s->node[i].card == AMD_GPUS_MAX)
            continue;
        fill(s, &s->card[s->node[i].card], &s->node[i], &gpu);
        fn(&gpu, index++, arg);
    }
    for (size_t i = 0; i < s->cards; i++) {
        if (s->card[i].nodes > 0)
            continue;
        fill(s, &s->card[i], NULL, &gpu);
        fn(&gpu, index++, arg);
    }
}

void amd_gpu_render_nodes(const struct amd_gpu *gpu, entries_fn *fn, void *arg)
{
    char path[FS_PATH_MAX], name[32];
    if (fs_join(path, NULL, gpu->device, "drm") != 0)
        return;
    snprintf(name, sizeof name, "renderD%u", gpu->render);
    if (gpu->render > 0)
        fn(path, name, arg);
    else
        entries_each(path, "renderD", fn, arg);
}

bool amd_gpus_processes(const struct layout *l, char out[FS_PATH_MAX])
{
    return fs_join(out, NULL, l->sysfs, "class/kfd/kfd/proc") == 0 && fs_is_dir(out);
}

/* The memory that all processes have of a GPU. */
struct use {
    char file[32];
    double bytes;
};

static void see_process(const char *path, const char *name, void *arg)
{
    struct use *use = arg;
    char text[64];
    (void)name;
    if (sysfile_line(path, use->file, text, sizeof text))
        use->bytes += strtod(text, NULL);
}

double amd_gpus_bytes(const char *processes, unsigned long gpu_id)
{
    struct use use = {.bytes = 0};
    snprintf(use.file, sizeof use.file, "vram_%lu", gpu_id);
    entries_each(processes, ENTRIES_NUMBERS, see_process, &use);
    return use.bytes;
}
