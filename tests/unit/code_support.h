/* code_support: files with device code that are put together piece by piece: ELF files, code objects, and
 * what holds them. Everything is inline.
 */
#pragma once

#include "executor/code/span.h"
#include "tests/unit/support.h"

#include <elf.h>
#include <zlib.h>
#include <zstd.h>

enum { FILE_MAX = 16384, EM_AMD = 224 };

/* A file that is put together piece by piece. */
struct made {
    uint8_t data[FILE_MAX];
    size_t len;
};

static inline size_t add(struct made *m, const void *data, size_t len)
{
    size_t at = m->len;
    assert_true(len <= sizeof m->data - m->len);
    memcpy(m->data + at, data, len);
    m->len += len;
    return at;
}

static inline size_t add_number(struct made *m, uint64_t n, size_t size)
{
    return add(m, &n, size); /* these tests run on little-endian machines, as the executor does */
}

static inline struct span span_of(const struct made *m)
{
    return (struct span){m->data, m->len};
}

struct part {
    const char *name;
    uint32_t type;
    uint64_t flags, addr;
    uint32_t link, info;
    const void *data;
    size_t len;
};

/* An ELF file of these sections, the first of which is section 1, and of their names. */
static inline void make_elf(struct made *m, uint16_t type, uint16_t machine, const struct part *part,
                            size_t count)
{
    Elf64_Shdr header[16] = {{0}};
    char names[256] = "";
    size_t names_len = 1;
    assert_true(count + 2 <= COUNT(header));
    *m = (struct made){.len = sizeof(Elf64_Ehdr)};
    for (size_t i = 0; i <= count; i++) {
        static const struct part last = {.name = ".shstrtab", .type = SHT_STRTAB};
        const struct part *p = i < count ? &part[i] : &last;
        Elf64_Shdr *h = &header[i + 1];
        h->sh_name = (Elf64_Word)names_len;
        memcpy(names + names_len, p->name, strlen(p->name) + 1);
        names_len += strlen(p->name) + 1;
        h->sh_type = p->type;
        h->sh_flags = p->flags;
        h->sh_addr = p->addr;
        h->sh_link = p->link;
        h->sh_info = p->info;
        h->sh_size = i < count ? p->len : names_len;
        h->sh_offset =
            i < count ? add(m, p->data ? p->data : "", p->data ? p->len : 0) : add(m, names, names_len);
    }
    Elf64_Ehdr e = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                    .e_type = type,
                    .e_machine = machine,
                    .e_shentsize = sizeof *header,
                    .e_shnum = (Elf64_Half)(count + 2),
                    .e_shstrndx = (Elf64_Half)(count + 1)};
    e.e_shoff = add(m, header, (count + 2) * sizeof *header);
    memcpy(m->data, &e, sizeof e);
}

/* A code object with the kernels a and b: b adds the distance to the variable v to its program counter. gap:
 * what lies between the kernels; first: an instruction of a; value: of v. */
static inline void make_code_object(struct made *m, size_t gap, uint32_t first, uint32_t value)
{
    enum { TEXT = 0x1000, DATA = 0x3000, RODATA = 0x800 };
    struct made text = {.len = 0}, symbols = {.len = 0}, note = {.len = 0}, kd = {.len = 0};
    static const char names[] = "\0a\0b\0a.kd\0b.kd\0v";
    static const uint8_t metadata[] = "\x82\xae"
                                      "amdhsa.kernels"
                                      "\x92"
                                      "\x82\xa7"
                                      ".symbol"
                                      "\xa4"
                                      "a.kd"
                                      "\xab"
                                      ".vgpr_count"
                                      "\x08"
                                      "\x84\xa7"
                                      ".symbol"
                                      "\xa4"
                                      "b.kd"
                                      "\xab"
                                      ".vgpr_count"
                                      "\xcd\x01\x04"
                                      "\xab"
                                      ".agpr_count"
                                      "\xcc\x80"
                                      "\xbb"
                                      ".private_segment_fixed_size"
                                      "\xcf\x00\x00\x00\x00\x80\x00\x00\x00"
                                      "\xad"
                                      "amdhsa.target"
                                      "\xd9\x20"
                                      "amdgcn-amd-amdhsa--gfx942:xnack-";
    add_number(&text, first, 4);
    add_number(&text, 0xbf810000, 4); /* s_endpgm */
    text.len += gap;
    size_t b = add_number(&text, 0xbe821c00, 4); /* s_getpc_b64 s[2:3] */
    add_number(&text, 0x8002ff02, 4);            /* s_add_u32 s2, s2, literal */
    add_number(&text, DATA - (TEXT + b + 4), 4);
    add_number(&text, 0x8203ff03, 4); /* s_addc_u32 s3, s3, literal */
    add_number(&text, 0, 4);
    add_number(&text, 0xbf810000, 4);
    kd.len = 128;
    *(uint64_t *)(kd.data + 16) = TEXT - RODATA;
    *(uint64_t *)(kd.data + 64 + 16) = TEXT + b - (RODATA + 64);
    const Elf64_Sym table[] = {
        {.st_name = 0},
        {1, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 1, TEXT, 8},
        {3, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 1, TEXT + b, text.len - b},
        {5, ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), 0, 2, RODATA, 64},
        {10, ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), 0, 2, RODATA + 64, 64},
        {15, ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), 0, 3, DATA, 4},
    };
    add(&symbols, table, sizeof table);
    add_number(&note, 7, 4);
    add_number(&note, sizeof metadata - 1, 4);
    add_number(&note, 32, 4);
    add(&note, "AMDGPU\0", 8);
    add(&note, metadata, sizeof metadata - 1);
    const struct part parts[] = {
        {".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, TEXT, 0, 0, text.data, text.len},
        {".rodata", SHT_PROGBITS, SHF_ALLOC, RODATA, 0, 0, kd.data, kd.len},
        {".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, DATA, 0, 0, &value, sizeof value},
        {".symtab", SHT_SYMTAB, 0, 0, 5, 0, symbols.data, symbols.len},
        {".strtab", SHT_STRTAB, 0, 0, 0, 0, names, sizeof names},
        {".note", SHT_NOTE, SHF_ALLOC, 0, 0, 0, note.data, note.len},
    };
    make_elf(m, ET_DYN, EM_AMD, parts, COUNT(parts));
}

/* The object in an offload bundle, in the section of a host's program. */
static inline void make_program(struct made *out, const struct made *object)
{
    static const char host[] = "host-x86_64-unknown-linux", gpu[] = "hipv4-amdgcn-amd-amdhsa--gfx942";
    struct made bundle = {.len = 0};
    size_t begin = 4096;
    add(&bundle, "__CLANG_OFFLOAD_BUNDLE__", 24);
    add_number(&bundle, 2, 8);
    add_number(&bundle, begin, 8);
    add_number(&bundle, 0, 8);
    add_number(&bundle, strlen(host), 8);
    add(&bundle, host, strlen(host));
    add_number(&bundle, begin, 8);
    add_number(&bundle, object->len, 8);
    add_number(&bundle, strlen(gpu), 8);
    add(&bundle, gpu, strlen(gpu));
    bundle.len = begin;
    add(&bundle, object->data, object->len);
    const struct part part = {".hip_fatbin", SHT_PROGBITS, SHF_ALLOC, 0x4000, 0, 0, bundle.data, bundle.len};
    make_elf(out, ET_EXEC, EM_X86_64, &part, 1);
}

struct image {
    const char *name, *code;
};

static inline void make_bundle(struct made *out, const struct image *image, size_t count)
{
    size_t begin = 4096;
    *out = (struct made){.len = 0};
    add(out, "__CLANG_OFFLOAD_BUNDLE__", 24);
    add_number(out, count, 8);
    for (size_t i = 0; i < count; i++) {
        char triple[80];
        int len = snprintf(triple, sizeof triple, "hipv4-amdgcn-amd-amdhsa--%s", image[i].name);
        add_number(out, begin + i * 64, 8);
        add_number(out, strlen(image[i].code), 8);
        add_number(out, (size_t)len, 8);
        add(out, triple, (size_t)len);
    }
    for (size_t i = 0; i < count; i++) {
        out->len = begin + i * 64;
        add(out, image[i].code, strlen(image[i].code));
    }
    out->len = begin + count * 64;
}

/* Entries of a fat binary: PTX is text; the others are of a kind that is hashed as it is. */
static inline void make_images(struct made *out, const struct image *image, size_t count)
{
    *out = (struct made){.len = 0};
    add_number(out, 0xba55ed50, 4);
    add_number(out, 1, 2);
    add_number(out, 16, 2);
    size_t size_at = add_number(out, 0, 8);
    for (size_t i = 0; i < count; i++) {
        bool ptx = strncmp(image[i].name, "compute_", 8) == 0;
        char *suffix;
        unsigned long number = strtoul(strchr(image[i].name, '_') + 1, &suffix, 10);
        size_t at = out->len;
        add_number(out, ptx ? 1 : 2, 2);
        add_number(out, 0x101, 2);
        add_number(out, 64, 4);
        add_number(out, 64, 8);
        out->len = at + 28;
        add_number(out, number, 4);
        out->len = at + 40;
        add_number(out, *suffix == 'a' ? 0x100011 : *suffix == 'f' ? 0x200011 : 0x11, 8);
        out->len = at + 64;
        add(out, image[i].code, strlen(image[i].code));
        out->len = at + 128;
    }
    *(uint64_t *)(out->data + size_at) = out->len - 16;
}

static inline void make_archive(struct made *out, const struct made *member)
{
    char header[61];
    snprintf(header, sizeof header, "%-16s%-12s%-6s%-6s%-8s%-10zu`\n", "member.o/", "1771000000", "0", "0",
             "644", member->len);
    *out = (struct made){.len = 0};
    add(out, "!<arch>\n", 8);
    add(out, header, 60);
    add(out, member->data, member->len);
}

/* A compressed bundle; before version 2 it does not say how long it is. */
static inline void make_compressed(struct made *out, unsigned version, unsigned method,
                                   const struct made *bundle)
{
    static uint8_t packed[FILE_MAX];
    uLongf len = sizeof packed;
    size_t wide = version > 2 ? 8 : 4, header = 16 + (version > 2 ? 16 : version > 1 ? 8 : 4);
    if (method == 0)
        assert_int_equal(compress(packed, &len, bundle->data, bundle->len), Z_OK);
    else
        len = ZSTD_compress(packed, sizeof packed, bundle->data, bundle->len, 3);
    *out = (struct made){.len = 0};
    add(out, "CCOB", 4);
    add_number(out, version, 2);
    add_number(out, method, 2);
    if (version > 1)
        add_number(out, header + len, wide);
    add_number(out, bundle->len, wide);
    add_number(out, 0, 8); /* its hash, which nobody checks */
    add(out, packed, len);
}

/* A fat binary of one entry. */
static inline void make_fatbin(struct made *m, uint16_t kind, uint64_t flags, const char *code)
{
    size_t len = strlen(code);
    *m = (struct made){.len = 0};
    add_number(m, 0xba55ed50, 4);
    add_number(m, 1, 2);
    add_number(m, 16, 2);
    add_number(m, 64 + len, 8);
    add_number(m, kind, 2);
    add_number(m, 0x101, 2);
    add_number(m, 64, 4);
    add_number(m, len, 8);
    add_number(m, flags & 0xa000 ? len - 1 : 0, 4); /* one byte of padding */
    m->len += 20;
    add_number(m, flags, 8);
    m->len += 16;
    add(m, code, len);
}
