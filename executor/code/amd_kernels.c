#include "executor/code/amd_kernels.h"

#include "common/base/alloc.h"
#include "executor/code/msgpack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NT_AMDGPU_METADATA_TYPE = 32, NOTE_HEAD = 12, NOTE_ALIGN = 4 };

#define DESCRIPTOR_SUFFIX ".kd"

/* Finds the next metadata in a section of notes: each is a name and a description, both padded. A file that
 * was linked from several has one of each. */
static bool next_metadata(struct span notes, size_t *at, struct span *out)
{
    while (notes.len - *at >= NOTE_HEAD) {
        uint64_t name = span_u32(notes, *at), desc = span_u32(notes, *at + 4);
        uint64_t begin = *at + NOTE_HEAD + (name + NOTE_ALIGN - 1) / NOTE_ALIGN * NOTE_ALIGN;
        uint64_t end = begin + (desc + NOTE_ALIGN - 1) / NOTE_ALIGN * NOTE_ALIGN;
        bool metadata = span_u32(notes, *at + 8) == NT_AMDGPU_METADATA_TYPE;
        struct span title;
        metadata = metadata && span_part(notes, *at + NOTE_HEAD, name, &title) &&
                   span_begins(title, "AMDGPU", 6) && span_part(notes, begin, desc, out);
        *at = end > notes.len ? notes.len : (size_t)end;
        if (metadata)
            return true;
    }
    return false;
}

static void add_kernel(struct amd_kernels *k, struct span all, size_t at, size_t size)
{
    struct msgpack name;
    size_t place;
    if (!msgpack_find(all, at, ".symbol", &place) || !msgpack_at(all, place, &name) ||
        name.kind != MSGPACK_TEXT)
        return;
    ALLOC_GROW(k->item, k->count + 1, k->cap);
    size_t suffix = strlen(DESCRIPTOR_SUFFIX);
    if (name.text.len > suffix &&
        memcmp(name.text.data + name.text.len - suffix, DESCRIPTOR_SUFFIX, suffix) == 0)
        name.text.len -= suffix;
    k->item[k->count++] = (struct amd_kernel){.name = name.text, .entry = {all.data + at, size}};
}

static int compare(struct span a, struct span b)
{
    int order = memcmp(a.data, b.data, a.len < b.len ? a.len : b.len);
    return order ? order : (a.len > b.len) - (a.len < b.len);
}

static int by_name(const void *x, const void *y)
{
    const struct amd_kernel *a = x, *b = y;
    return compare(a->name, b->name);
}

static int by_place(const void *x, const void *y)
{
    const struct amd_kernel *a = x, *b = y;
    int order = by_name(x, y);
    return order ? order : (a->entry.data > b->entry.data) - (a->entry.data < b->entry.data);
}

static void read_list(struct amd_kernels *k, struct span all)
{
    struct msgpack list, entry;
    size_t at;
    if (!msgpack_find(all, 0, "amdhsa.kernels", &at) || !msgpack_at(all, at, &list) ||
        list.kind != MSGPACK_ARRAY)
        return;
    at += list.head;
    for (uint32_t i = 0; i < list.count && msgpack_at(all, at, &entry); i++, at += entry.size)
        add_kernel(k, all, at, entry.size);
}

/* "amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-" */
static void read_target(struct amd_kernels *k, struct span all)
{
    struct msgpack target;
    size_t at;
    if (*k->gpu || !msgpack_find(all, 0, "amdhsa.target", &at) || !msgpack_at(all, at, &target) ||
        target.kind != MSGPACK_TEXT)
        return;
    const uint8_t *gpu = memmem(target.text.data, target.text.len, "gfx", 3);
    size_t len = gpu ? target.text.len - (size_t)(gpu - target.text.data) : TARGET_MAX;
    if (len < TARGET_MAX)
        snprintf(k->gpu, sizeof k->gpu, "%.*s", (int)len, (const char *)gpu);
}

void amd_kernels_read(struct amd_kernels *k, const struct elf_file *e)
{
    struct elf_section notes;
    struct span all;
    *k = (struct amd_kernels){.item = NULL};
    for (size_t i = 0; i < e->sections; i++) {
        if (!elf_section(e, i, &notes) || notes.type != SHT_NOTE)
            continue;
        for (size_t at = 0; next_metadata(notes.data, &at, &all);) {
            read_target(k, all);
            read_list(k, all);
        }
    }
    if (k->count)
        qsort(k->item, k->count, sizeof *k->item, by_place);
}

void amd_kernels_release(struct amd_kernels *k)
{
    free(k->item);
    *k = (struct amd_kernels){.item = NULL};
}

const struct amd_kernel *amd_kernels_find(const struct amd_kernels *k, const char *name, size_t len)
{
    const struct amd_kernel wanted = {.name = {(const uint8_t *)name, len}};
    return k->count ? bsearch(&wanted, k->item, k->count, sizeof wanted, by_name) : NULL;
}

static int64_t number_of(const struct amd_kernel *k, const char *key)
{
    enum { PLAUSIBLE_MAX = 1 << 30 };
    uint64_t n;
    size_t at;
    return msgpack_find(k->entry, 0, key, &at) && msgpack_number(k->entry, at, &n) && n <= PLAUSIBLE_MAX
               ? (int64_t)n
               : KERNEL_FACT_UNKNOWN;
}

void amd_kernel_facts(const struct amd_kernel *k, const char *gpu, struct kernel_facts *out)
{
    static const char *const keys[KERNEL_RESOURCES] = {
        [KERNEL_VGPRS] = ".vgpr_count",
        [KERNEL_AGPRS] = ".agpr_count",
        [KERNEL_SGPRS] = ".sgpr_count",
        [KERNEL_SCRATCH_BYTES] = ".private_segment_fixed_size",
        [KERNEL_VGPR_SPILLS] = ".vgpr_spill_count",
        [KERNEL_SGPR_SPILLS] = ".sgpr_spill_count",
        [KERNEL_LDS_BYTES] = ".group_segment_fixed_size",
    };
    kernel_facts_init(out);
    for (int i = 0; i < KERNEL_RESOURCES; i++)
        out->resource[i] = number_of(k, keys[i]);
    int64_t agprs = out->resource[KERNEL_AGPRS], *vgprs = &out->resource[KERNEL_VGPRS];
    if (target_has_unified_registers(gpu) && agprs > 0 && *vgprs >= agprs)
        *vgprs -= agprs;
}

int amd_kernel_is_dynamic(const struct amd_kernel *k)
{
    enum { MSGPACK_FALSE = 0xc2, MSGPACK_TRUE = 0xc3 };
    size_t at;
    if (!msgpack_find(k->entry, 0, ".uses_dynamic_stack", &at) || at >= k->entry.len)
        return -1;
    return k->entry.data[at] == MSGPACK_TRUE ? 1 : k->entry.data[at] == MSGPACK_FALSE ? 0 : -1;
}

/* The order of the names in it is not fixed. */
void amd_kernel_add_nameless(const struct amd_kernel *k, const struct mask *mask, struct sha256 *h)
{
    static const char *const names[] = {".name", ".symbol"};
    const struct span entry = k->entry;
    struct msgpack value = {.size = 0};
    size_t from = 0;
    for (size_t left = sizeof names / sizeof *names; left > 0; left--) {
        size_t next = entry.len, place;
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (msgpack_find(entry, 0, names[i], &place) && place >= from && place < next)
                next = place;
        mask_add(mask, h, (struct span){entry.data + from, next - from});
        from = next < entry.len && msgpack_at(entry, next, &value) ? next + value.size : entry.len;
    }
    mask_add(mask, h, (struct span){entry.data + from, entry.len - from});
}
