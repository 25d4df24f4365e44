#include "executor/code/scan.h"

#include "common/base/alloc.h"
#include "executor/code/amd.h"
#include "executor/code/archive.h"
#include "executor/code/cuda.h"
#include "executor/code/ptx.h"
#include "executor/code/target.h"
#include "executor/code/unpack.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    DEPTH_MAX = 4, /* a library, its member, a bundle, a code object */
    BUNDLE_ENTRIES_MAX = 256,
    ALIGN = 8,
    COMPRESSED_MAGIC_LEN = 4,
    COMPRESSED_HASH = 8,
    FATBIN_MAGIC = (int)0xba55ed50,
    FATBIN_PTX = 1,
    FATBIN_CUBIN = 2,
    ENTRY_HEADER_MIN = 64,
};

#define BUNDLE_MAGIC "__CLANG_OFFLOAD_BUNDLE__"
#define COMPRESSED_MAGIC "CCOB"

static const uint64_t fatbin_lz4 = 0x2000, fatbin_zstd = 0x8000, fatbin_exact = 0x100000,
                      fatbin_family = 0x200000;
/* The most that is decoded of one file, so that compressed files within compressed files come to an end. */
static const uint64_t unpacked_in_all = (uint64_t)4 << 30;

struct scan {
    const struct mask *mask;
    const struct scan_hook *hook; /* NULL: none */
    struct code_set *set;
    int depth;
    uint64_t unpacked; /* bytes that were to be decoded so far */
};

static void scan_any(struct scan *s, struct span file);

/* The best that one container has for each GPU of the set. */
struct choice {
    unsigned best[TARGETS_MAX];
};

static void consider(const struct scan *s, struct choice *c, const char *name)
{
    for (size_t i = 0; i < s->set->gpus.count; i++) {
        unsigned rank = target_rank(name, s->set->gpus.name[i]);
        if (rank > c->best[i])
            c->best[i] = rank;
    }
}

/* Whether an image counts. What nobody can tell apart does: name "". */
static bool takes(struct scan *s, const struct choice *c, const char *name)
{
    bool taken = s->set->gpus.count == 0 || !*name;
    for (size_t i = 0; i < s->set->gpus.count && !taken; i++)
        taken = c->best[i] && target_rank(name, s->set->gpus.name[i]) == c->best[i];
    if (!taken)
        targets_add(&s->set->others, name);
    return taken;
}

/* The same for an image that is in no container. */
static bool takes_alone(struct scan *s, const char *name)
{
    struct choice c = {.best = {0}};
    consider(s, &c, name);
    return takes(s, &c, name);
}

static void add_opaque(struct scan *s, const char *name, struct span bytes)
{
    char sha256[SHA256_HEX_LEN + 1];
    struct sha256 h;
    sha256_begin(&h);
    mask_add(s->mask, &h, bytes);
    sha256_end(&h, sha256);
    code_set_add(s->set, CODE_ITEM_OPAQUE, name, sha256);
}

/* Adds what the runtime compiles on the node. */
static void add_compiled(struct scan *s, const char *name, struct span bytes)
{
    s->set->compiles = true;
    add_opaque(s, name, bytes);
}

/* One entry of an offload bundle. */
struct bundled {
    struct span code;
    bool host;
    char name[TARGET_MAX]; /* "" unknown */
    uint64_t end;          /* of its code, in the bundle */
};

/* A triple is "hipv4-amdgcn-amd-amdhsa--gfx942:xnack+". */
static void name_of_triple(struct span triple, char out[TARGET_MAX])
{
    static const char *const begins[] = {"gfx", "amdgcnspirv"};
    out[0] = '\0';
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
        const uint8_t *at = triple.len ? memmem(triple.data, triple.len, begins[i], strlen(begins[i])) : NULL;
        size_t len = at ? triple.len - (size_t)(at - triple.data) : 0;
        if (at && len < TARGET_MAX)
            snprintf(out, TARGET_MAX, "%.*s", (int)len, (const char *)at);
    }
}

/* A bundle has a count, then offset, size, and a triple with its length for each entry. *at: 0 at first. */
static bool next_bundled(struct span bundle, uint64_t *at, uint64_t *left, struct bundled *out)
{
    struct span triple;
    if (*at == 0) {
        *left = span_u64(bundle, strlen(BUNDLE_MAGIC));
        *left = *left < BUNDLE_ENTRIES_MAX ? *left : BUNDLE_ENTRIES_MAX;
        *at = strlen(BUNDLE_MAGIC) + 8;
    }
    uint64_t offset = span_u64(bundle, *at), len = span_u64(bundle, *at + 8),
             triple_len = span_u64(bundle, *at + 16);
    if (*left == 0 || !span_part(bundle, *at + 24, triple_len, &triple) ||
        !span_part(bundle, offset, len, &out->code))
        return false;
    (*left)--;
    *at += 24 + triple_len;
    out->end = offset + len;
    out->host = span_begins(triple, "host", 4);
    name_of_triple(triple, out->name);
    return true;
}

/* *size: up to the end of its last entry. */
static void scan_bundle(struct scan *s, struct span bundle, size_t *size)
{
    struct choice c = {.best = {0}};
    struct bundled e;
    uint64_t at = 0, left = 0;
    *size = strlen(BUNDLE_MAGIC);
    while (next_bundled(bundle, &at, &left, &e))
        if (!e.host)
            consider(s, &c, e.name);
    for (at = 0; next_bundled(bundle, &at, &left, &e);) {
        if (e.end > *size)
            *size = (size_t)e.end;
        if (e.host || e.code.len == 0 || !takes(s, &c, e.name))
            continue;
        if (strncmp(e.name, "amdgcnspirv", 11) == 0)
            add_compiled(s, "spirv", e.code);
        else
            scan_any(s, e.code);
    }
}

/* What a container says of its compressed contents. */
struct packed {
    struct span bytes;
    uint64_t size;     /* once decoded */
    unpack_fn *unpack; /* NULL: not compressed, or nobody knows how */
};

/* Returns NULL for what is not compressed, or cannot be decoded. The caller frees the result. */
static uint8_t *unpack(struct scan *s, const struct packed *p, size_t *len)
{
    if (p->size > UNPACKED_MAX || p->size > unpacked_in_all - s->unpacked || !p->unpack)
        return NULL;
    s->unpacked += p->size;
    return p->unpack(p->bytes, (size_t)p->size, len);
}

/* Scans what is in it; what cannot be decoded counts as its bytes. */
static void scan_packed(struct scan *s, const char *name, const struct packed *p)
{
    size_t len;
    AUTO_FREE uint8_t *data = unpack(s, p, &len);
    if (data)
        scan_any(s, (struct span){data, len});
    else
        add_opaque(s, name, p->bytes);
}

/* A compressed bundle says its size from version 2 on; before, it ends with its section. */
static void scan_compressed(struct scan *s, struct span bundle, size_t *size)
{
    static unpack_fn *const methods[] = {unpack_zlib, unpack_zstd};
    uint16_t version = span_u16(bundle, COMPRESSED_MAGIC_LEN),
             method = span_u16(bundle, COMPRESSED_MAGIC_LEN + 2);
    size_t wide = version >= 3 ? 8 : 4, at = COMPRESSED_MAGIC_LEN + 4; /* version and method */
    uint64_t total = version >= 2 ? span_number(bundle, at, wide) : bundle.len;
    struct packed p = {.unpack = method < sizeof methods / sizeof *methods ? methods[method] : NULL};
    struct span own;
    at += version >= 2 ? wide : 0;
    p.size = span_number(bundle, at, wide);
    at += wide + COMPRESSED_HASH;
    if (!span_part(bundle, 0, total, &own) || !span_part(own, at, total - at, &p.bytes))
        own = p.bytes = bundle;
    *size = own.len;
    scan_packed(s, "bundle", &p);
}

/* One entry of a fat binary: a header, and its code behind it. */
struct entry {
    uint16_t kind;
    struct packed code;    /* compressed or not */
    size_t size;           /* with the header */
    char name[TARGET_MAX]; /* "sm_90a", "compute_90"; "" unknown */
};

static void name_entry(struct entry *e, unsigned number, uint64_t flags)
{
    const char *kind = e->kind == FATBIN_PTX ? "compute" : e->kind == FATBIN_CUBIN ? "sm" : NULL;
    const char *suffix = flags & fatbin_exact ? "a" : flags & fatbin_family ? "f" : "";
    if (kind && number)
        snprintf(e->name, sizeof e->name, "%s_%u%s", kind, number, suffix);
}

static bool read_entry(struct span fatbin, size_t at, struct entry *out)
{
    uint32_t header = span_u32(fatbin, at + 4), packed = span_u32(fatbin, at + 16);
    uint64_t size = span_u64(fatbin, at + 8), flags = span_u64(fatbin, at + 40);
    struct span all;
    *out = (struct entry){.kind = span_u16(fatbin, at),
                          .code.unpack = flags & fatbin_zstd  ? unpack_zstd
                                         : flags & fatbin_lz4 ? unpack_lz4
                                                              : NULL};
    name_entry(out, span_u32(fatbin, at + 28), flags);
    if (header < ENTRY_HEADER_MIN || !span_part(fatbin, at + (uint64_t)header, size, &all))
        return false;
    /* What is compressed is padded to 8 bytes. */
    if (!out->code.unpack || !span_part(all, 0, packed, &out->code.bytes))
        out->code.bytes = all;
    out->code.size = span_u64(fatbin, at + 56);
    out->size = header + (size_t)size;
    return true;
}

static void scan_ptx(struct scan *s, const struct packed *p)
{
    size_t len, kept;
    AUTO_FREE uint8_t *data = unpack(s, p, &len);
    struct span text = data ? (struct span){data, len} : p->bytes;
    AUTO_FREE uint8_t *code = data || !p->unpack ? ptx_code(text, &kept) : NULL;
    add_compiled(s, "ptx", code ? (struct span){code, kept} : text);
}

static void scan_entry(struct scan *s, const struct entry *e)
{
    if (e->kind == FATBIN_PTX)
        scan_ptx(s, &e->code);
    else if (e->kind != FATBIN_CUBIN)
        add_opaque(s, "entry", e->code.bytes);
    else if (e->code.unpack)
        scan_packed(s, "cubin", &e->code);
    else
        scan_any(s, e->code.bytes);
}

/* *size: of the whole. */
static void scan_fatbin(struct scan *s, struct span fatbin, size_t *size)
{
    uint16_t header = span_u16(fatbin, 6);
    struct choice c = {.best = {0}};
    struct span entries;
    struct entry e;
    *size = header + (size_t)span_u64(fatbin, 8);
    if (!span_part(fatbin, header, span_u64(fatbin, 8), &entries)) {
        *size = fatbin.len;
        add_opaque(s, "fatbin", fatbin);
        return;
    }
    for (size_t at = 0; read_entry(entries, at, &e); at += e.size)
        consider(s, &c, e.name);
    for (size_t at = 0; read_entry(entries, at, &e); at += e.size)
        if (takes(s, &c, e.name))
            scan_entry(s, &e);
}

static bool is_fatbin(struct span s)
{
    return span_u32(s, 0) == (uint32_t)FATBIN_MAGIC && span_u16(s, 6) >= 16;
}

static bool is_bundle(struct span s)
{
    return span_begins(s, BUNDLE_MAGIC, strlen(BUNDLE_MAGIC));
}

static bool is_compressed(struct span s)
{
    return span_begins(s, COMPRESSED_MAGIC, COMPRESSED_MAGIC_LEN);
}

/* A section has the containers of all the objects that were linked, one behind the other, padded. */
static void scan_section(struct scan *s, struct span section)
{
    for (size_t at = 0; at < section.len;) {
        struct span rest = {section.data + at, section.len - at};
        size_t size = ALIGN;
        if (is_bundle(rest))
            scan_bundle(s, rest, &size);
        else if (is_compressed(rest))
            scan_compressed(s, rest, &size);
        else if (is_fatbin(rest))
            scan_fatbin(s, rest, &size);
        at += (size + ALIGN - 1) / ALIGN * ALIGN;
    }
}

static void scan_object(struct scan *s, const struct elf_file *e)
{
    struct scan_object object = {.bytes = e->file, .cuda = cuda_is(e), .first = s->set->count};
    char name[TARGET_MAX];
    (object.cuda ? cuda_target : amd_target)(e, name);
    if (!takes_alone(s, name))
        return;
    (object.cuda ? cuda_code : amd_code)(e, s->mask, s->set);
    if (s->hook)
        s->hook->fn(s->hook->arg, &object, s->set);
}

static void scan_elf(struct scan *s, struct span file)
{
    struct elf_file e;
    struct elf_section section;
    if (!elf_open(&e, file))
        return;
    if (amd_is(&e) || cuda_is(&e)) {
        scan_object(s, &e);
        return;
    }
    for (size_t i = 0; i < e.sections; i++)
        if (elf_section(&e, i, &section) &&
            (strcmp(section.name, ".hip_fatbin") == 0 || strcmp(section.name, ".nv_fatbin") == 0))
            scan_section(s, section.data);
}

static void scan_archive(struct scan *s, struct span file)
{
    struct span member;
    for (size_t at = 0; archive_next(file, &at, &member);)
        scan_any(s, member);
}

static void scan_any(struct scan *s, struct span file)
{
    size_t ignored;
    if (s->depth == DEPTH_MAX || s->set->why.kind != ERR_NONE)
        return;
    s->depth++;
    if (elf_is(file))
        scan_elf(s, file);
    else if (archive_is(file))
        scan_archive(s, file);
    else if (is_bundle(file) || is_compressed(file))
        scan_section(s, file);
    else if (is_fatbin(file))
        scan_fatbin(s, file, &ignored);
    s->depth--;
}

void scan_device(struct span file, const struct mask *mask, const struct scan_hook *hook,
                 struct code_set *set)
{
    struct scan s = {.mask = mask, .hook = hook, .set = set};
    scan_any(&s, file);
}
