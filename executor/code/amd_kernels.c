#include "executor/code/amd_kernels.h"

#include "common/base/alloc.h"
#include "executor/code/msgpack.h"

#include <stdlib.h>
#include <string.h>

enum { NT_AMDGPU_METADATA_TYPE = 32, NOTE_HEAD = 12, NOTE_ALIGN = 4 };

#define DESCRIPTOR_SUFFIX ".kd"

/* Notes are a name and a description, both padded. */
static bool metadata_of(struct span notes, struct span *out)
{
    size_t at = 0;
    while (notes.len - at >= NOTE_HEAD) {
        uint64_t name = span_u32(notes, at), desc = span_u32(notes, at + 4);
        uint64_t begin = at + NOTE_HEAD + (name + NOTE_ALIGN - 1) / NOTE_ALIGN * NOTE_ALIGN;
        uint64_t end = begin + (desc + NOTE_ALIGN - 1) / NOTE_ALIGN * NOTE_ALIGN;
        struct span title;
        if (span_u32(notes, at + 8) == NT_AMDGPU_METADATA_TYPE &&
            span_part(notes, at + NOTE_HEAD, name, &title) && span_begins(title, "AMDGPU", 6))
            return span_part(notes, begin, desc, out);
        if (end > notes.len)
            return false;
        at = (size_t)end;
    }
    return false;
}

static int add_kernel(struct amd_kernels *k, struct span all, size_t at, size_t size, struct err *err)
{
    struct msgpack name;
    size_t place;
    if (!msgpack_find(all, at, ".symbol", &place) || !msgpack_at(all, place, &name) ||
        name.kind != MSGPACK_TEXT)
        return 0;
    if (!ALLOC_GROW(k->item, k->count + 1, k->cap))
        return err_set(err, ERR_INTERNAL, "no memory for the code identity");
    size_t suffix = strlen(DESCRIPTOR_SUFFIX);
    if (name.text.len > suffix &&
        memcmp(name.text.data + name.text.len - suffix, DESCRIPTOR_SUFFIX, suffix) == 0)
        name.text.len -= suffix;
    k->item[k->count++] = (struct amd_kernel){.name = name.text, .entry = {all.data + at, size}};
    return 0;
}

static int compare(struct span a, struct span b)
{
    int order = memcmp(a.data, b.data, a.len < b.len ? a.len : b.len);
    return order ? order : (a.len > b.len) - (a.len < b.len);
}

static int by_name(const void *x, const void *y)
{
    const struct amd_kernel *a = x, *b = y;
    int order = compare(a->name, b->name);
    return order ? order : (a->entry.data > b->entry.data) - (a->entry.data < b->entry.data);
}

static int read_list(struct amd_kernels *k, struct span all, struct err *err)
{
    struct msgpack list, entry;
    size_t at;
    if (!msgpack_find(all, 0, "amdhsa.kernels", &at) || !msgpack_at(all, at, &list) ||
        list.kind != MSGPACK_ARRAY)
        return 0;
    at += list.head;
    for (uint32_t i = 0; i < list.count && msgpack_at(all, at, &entry); i++, at += entry.size)
        if (add_kernel(k, all, at, entry.size, err) != 0)
            return -1;
    return 0;
}

int amd_kernels_read(struct amd_kernels *k, const struct elf_file *e, struct err *err)
{
    struct elf_section notes;
    struct span all;
    *k = (struct amd_kernels){.item = NULL};
    for (size_t i = 0; i < e->sections; i++)
        if (elf_section(e, i, &notes) && notes.type == SHT_NOTE && metadata_of(notes.data, &all) &&
            read_list(k, all, err) != 0)
            return -1;
    if (k->count)
        qsort(k->item, k->count, sizeof *k->item, by_name);
    return 0;
}

void amd_kernels_release(struct amd_kernels *k)
{
    free(k->item);
    *k = (struct amd_kernels){.item = NULL};
}

const struct amd_kernel *amd_kernels_find(const struct amd_kernels *k, const char *name, size_t len)
{
    struct span wanted = {(const uint8_t *)name, len};
    size_t low = 0, high = k->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare(k->item[middle].name, wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < k->count && compare(k->item[low].name, wanted) == 0 ? &k->item[low] : NULL;
}
