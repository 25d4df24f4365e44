#include "executor/code/scan.h"

#include "common/base/alloc.h"
#include "executor/code/amd.h"
#include "executor/code/archive.h"
#include "executor/code/cuda.h"
#include "executor/code/unpack.h"

#include <stdlib.h>

enum {
    DEPTH_MAX = 4, /* a library, its member, a bundle, a code object */
    BUNDLE_ENTRIES_MAX = 256,
    BUNDLE_ALIGN = 8,
    COMPRESSED_MAGIC_LEN = 4,
    COMPRESSED_ZSTD = 1,
    COMPRESSED_HASH = 8,
    FATBIN_MAGIC = (int)0xba55ed50,
    FATBIN_PTX = 1,
    FATBIN_CUBIN = 2,
    ENTRY_HEADER_MIN = 64,
};

#define BUNDLE_MAGIC "__CLANG_OFFLOAD_BUNDLE__"
#define COMPRESSED_MAGIC "CCOB"

static const uint64_t fatbin_lz4 = 0x2000, fatbin_zstd = 0x8000;
/* Of one file, so that compressed files within compressed files end. */
static const uint64_t unpacked_in_all = (uint64_t)4 << 30;

struct scan {
    const struct mask *mask;
    const struct scan_hook *hook; /* NULL: none */
    struct code_set *set;
    int depth;
    uint64_t unpacked; /* bytes that were to be decoded so far */
};

static int scan_any(struct scan *s, struct span file, struct err *err);

static int add_opaque(struct scan *s, const char *name, struct span bytes, struct err *err)
{
    char sha256[SHA256_HEX_LEN + 1];
    struct sha256 h;
    sha256_begin(&h);
    mask_add(s->mask, &h, bytes);
    sha256_end(&h, sha256);
    return code_set_add(s->set, CODE_ITEM_OPAQUE, name, sha256, err);
}

/* An offload bundle: a count, then offset, size, and a triple with its length for each entry. *size: up to
 * the end of its last entry. */
static int scan_bundle(struct scan *s, struct span bundle, size_t *size, struct err *err)
{
    uint64_t count = span_u64(bundle, strlen(BUNDLE_MAGIC)), at = strlen(BUNDLE_MAGIC) + 8;
    *size = strlen(BUNDLE_MAGIC);
    for (uint64_t i = 0; i < count && i < BUNDLE_ENTRIES_MAX; i++) {
        uint64_t offset = span_u64(bundle, at), len = span_u64(bundle, at + 8),
                 triple_len = span_u64(bundle, at + 16);
        struct span triple, code;
        if (!span_part(bundle, at + 24, triple_len, &triple) || !span_part(bundle, offset, len, &code))
            return 0;
        at += 24 + triple_len;
        if (offset + len > *size)
            *size = (size_t)(offset + len);
        if (!span_begins(triple, "host", 4) && scan_any(s, code, err) != 0)
            return -1;
    }
    return 0;
}

/* What a container says of its compressed contents. */
struct packed {
    struct span bytes;
    uint64_t size; /* once decoded */
    bool zstd, lz4;
};

/* The caller frees the result. NULL for what is not compressed, or cannot be decoded. */
static uint8_t *unpack(struct scan *s, const struct packed *p, size_t *len)
{
    if (p->size > UNPACKED_MAX || p->size > unpacked_in_all - s->unpacked || !(p->zstd || p->lz4))
        return NULL;
    s->unpacked += p->size;
    return (p->zstd ? unpack_zstd : unpack_lz4)(p->bytes, (size_t)p->size, len);
}

/* Scans what is in it; what cannot be decoded counts as its bytes. */
static int scan_packed(struct scan *s, const char *name, const struct packed *p, struct err *err)
{
    size_t len;
    AUTO_FREE uint8_t *data = unpack(s, p, &len);
    return data ? scan_any(s, (struct span){data, len}, err) : add_opaque(s, name, p->bytes, err);
}

/* A compressed bundle says its size from version 2 on; before, it ends with its section. */
static int scan_compressed(struct scan *s, struct span bundle, size_t *size, struct err *err)
{
    uint16_t version = span_u16(bundle, COMPRESSED_MAGIC_LEN);
    size_t wide = version >= 3 ? 8 : 4, at = COMPRESSED_MAGIC_LEN + 4; /* version and method */
    uint64_t total = version >= 2 ? span_number(bundle, at, wide) : bundle.len;
    struct packed p = {.zstd = span_u16(bundle, COMPRESSED_MAGIC_LEN + 2) == COMPRESSED_ZSTD};
    struct span own;
    at += version >= 2 ? wide : 0;
    p.size = span_number(bundle, at, wide);
    at += wide + COMPRESSED_HASH;
    if (!span_part(bundle, 0, total, &own) || !span_part(own, at, total - at, &p.bytes))
        own = p.bytes = bundle;
    *size = own.len;
    return scan_packed(s, "bundle", &p, err);
}

/* The bundles of all the objects that were linked, one behind the other, padded. */
static int scan_hip_section(struct scan *s, struct span section, struct err *err)
{
    for (size_t at = 0; at + strlen(BUNDLE_MAGIC) <= section.len;) {
        struct span rest = {section.data + at, section.len - at};
        size_t size = BUNDLE_ALIGN;
        int rc = 0;
        if (span_begins(rest, BUNDLE_MAGIC, strlen(BUNDLE_MAGIC)))
            rc = scan_bundle(s, rest, &size, err);
        else if (span_begins(rest, COMPRESSED_MAGIC, COMPRESSED_MAGIC_LEN))
            rc = scan_compressed(s, rest, &size, err);
        if (rc != 0)
            return -1;
        at += (size + BUNDLE_ALIGN - 1) / BUNDLE_ALIGN * BUNDLE_ALIGN;
    }
    return 0;
}

/* One entry of a fat binary: a header, and its code behind it. */
struct entry {
    uint16_t kind;
    struct packed code; /* compressed or not */
    size_t size;        /* with the header */
};

static bool is_packed(const struct entry *e)
{
    return e->code.zstd || e->code.lz4;
}

static bool read_entry(struct span fatbin, size_t at, struct entry *out)
{
    uint32_t header = span_u32(fatbin, at + 4), packed = span_u32(fatbin, at + 16);
    uint64_t size = span_u64(fatbin, at + 8), flags = span_u64(fatbin, at + 40);
    struct span all;
    *out = (struct entry){.kind = span_u16(fatbin, at),
                          .code = {.zstd = flags & fatbin_zstd, .lz4 = flags & fatbin_lz4}};
    if (header < ENTRY_HEADER_MIN || !span_part(fatbin, at + (uint64_t)header, size, &all))
        return false;
    /* What is compressed is padded to 8 bytes. */
    if (!is_packed(out) || !span_part(all, 0, packed, &out->code.bytes))
        out->code.bytes = all;
    out->code.size = span_u64(fatbin, at + 56);
    out->size = header + (size_t)size;
    return true;
}

static bool has_cubin(struct span entries)
{
    struct entry e;
    for (size_t at = 0; read_entry(entries, at, &e); at += e.size)
        if (e.kind == FATBIN_CUBIN)
            return true;
    return false;
}

static int scan_ptx(struct scan *s, const struct packed *p, struct err *err)
{
    size_t len;
    AUTO_FREE uint8_t *data = unpack(s, p, &len);
    return add_opaque(s, "ptx", data ? (struct span){data, len} : p->bytes, err);
}

static int scan_entry(struct scan *s, const struct entry *e, bool ptx_counts, struct err *err)
{
    if (e->kind == FATBIN_PTX)
        return ptx_counts ? scan_ptx(s, &e->code, err) : 0;
    if (e->kind != FATBIN_CUBIN)
        return add_opaque(s, "entry", e->code.bytes, err);
    return is_packed(e) ? scan_packed(s, "cubin", &e->code, err) : scan_any(s, e->code.bytes, err);
}

static int scan_fatbin(struct scan *s, struct span fatbin, size_t *size, struct err *err)
{
    uint16_t header = span_u16(fatbin, 6);
    struct span entries;
    struct entry e;
    *size = header + (size_t)span_u64(fatbin, 8);
    if (!span_part(fatbin, header, span_u64(fatbin, 8), &entries)) {
        *size = fatbin.len;
        return add_opaque(s, "fatbin", fatbin, err);
    }
    bool ptx_counts = !has_cubin(entries);
    for (size_t at = 0; read_entry(entries, at, &e); at += e.size)
        if (scan_entry(s, &e, ptx_counts, err) != 0)
            return -1;
    return 0;
}

static bool is_fatbin(struct span s)
{
    return span_u32(s, 0) == (uint32_t)FATBIN_MAGIC && span_u16(s, 6) >= 16;
}

static int scan_nv_section(struct scan *s, struct span section, struct err *err)
{
    for (size_t at = 0; at < section.len;) {
        struct span rest = {section.data + at, section.len - at};
        size_t size = BUNDLE_ALIGN;
        if (is_fatbin(rest) && scan_fatbin(s, rest, &size, err) != 0)
            return -1;
        at += (size + BUNDLE_ALIGN - 1) / BUNDLE_ALIGN * BUNDLE_ALIGN;
    }
    return 0;
}

static int scan_object(struct scan *s, const struct elf_file *e, struct err *err)
{
    struct scan_object object = {.bytes = e->file, .cuda = cuda_is(e), .first = s->set->count};
    int rc = object.cuda ? cuda_code(e, s->mask, s->set, err) : amd_code(e, s->mask, s->set, err);
    return rc == 0 && s->hook ? s->hook->fn(s->hook->arg, &object, s->set, err) : rc;
}

static int scan_elf(struct scan *s, struct span file, struct err *err)
{
    struct elf_file e;
    struct elf_section section;
    if (!elf_open(&e, file))
        return 0;
    if (amd_is(&e) || cuda_is(&e))
        return scan_object(s, &e, err);
    for (size_t i = 0; i < e.sections; i++) {
        if (!elf_section(&e, i, &section))
            continue;
        if ((strcmp(section.name, ".hip_fatbin") == 0 && scan_hip_section(s, section.data, err) != 0) ||
            (strcmp(section.name, ".nv_fatbin") == 0 && scan_nv_section(s, section.data, err) != 0))
            return -1;
    }
    return 0;
}

static int scan_archive(struct scan *s, struct span file, struct err *err)
{
    struct span member;
    for (size_t at = 0; archive_next(file, &at, &member);)
        if (scan_any(s, member, err) != 0)
            return -1;
    return 0;
}

static int scan_any(struct scan *s, struct span file, struct err *err)
{
    size_t ignored;
    int rc = 0;
    if (s->depth == DEPTH_MAX)
        return 0;
    s->depth++;
    if (elf_is(file))
        rc = scan_elf(s, file, err);
    else if (archive_is(file))
        rc = scan_archive(s, file, err);
    else if (span_begins(file, BUNDLE_MAGIC, strlen(BUNDLE_MAGIC)) ||
             span_begins(file, COMPRESSED_MAGIC, COMPRESSED_MAGIC_LEN))
        rc = scan_hip_section(s, file, err);
    else if (is_fatbin(file))
        rc = scan_fatbin(s, file, &ignored, err);
    s->depth--;
    return rc;
}

int scan_device(struct span file, const struct mask *mask, const struct scan_hook *hook, struct code_set *set,
                struct err *err)
{
    struct scan s = {.mask = mask, .hook = hook, .set = set};
    return scan_any(&s, file, err);
}
