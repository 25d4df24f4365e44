/* The code identity: of made-up files, of parts of them, of damaged ones. */
#include "common/base/alloc.h"
#include "executor/code/built_file.h"
#include "executor/code/scan.h"
#include "executor/code/target.h"
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

static size_t add(struct made *m, const void *data, size_t len)
{
    size_t at = m->len;
    assert_true(len <= sizeof m->data - m->len);
    memcpy(m->data + at, data, len);
    m->len += len;
    return at;
}

static size_t add_number(struct made *m, uint64_t n, size_t size)
{
    return add(m, &n, size); /* these tests run on little-endian machines, as the executor does */
}

static struct span span_of(const struct made *m)
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
static void make_elf(struct made *m, uint16_t type, uint16_t machine, const struct part *part, size_t count)
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
static void make_code_object(struct made *m, size_t gap, uint32_t first, uint32_t value)
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

static const struct mask no_mask = {.folder = {NULL}};

/* The identity of what lies in these files. */
static struct code code_of(const struct span *file, size_t count)
{
    AUTO(code_set_release) struct code_set set = {.item = NULL};
    struct err err = {0};
    struct code code;
    for (size_t i = 0; i < count; i++)
        scan_device(file[i], &no_mask, NULL, &set);
    assert_ok(code_set_check(&set, &err), &err);
    assert_ok(code_of_set(&set, &code, &err), &err);
    return code;
}

static struct code code_of_one(const struct made *m)
{
    struct span file = span_of(m);
    return code_of(&file, 1);
}

static void assert_kernels(const struct code *x, const struct code *y, bool a_same, bool b_same)
{
    assert_int_equal(x->kernels, 2);
    assert_int_equal(y->kernels, 2);
    assert_string_equal(x->kernel[0].name, "a");
    assert_string_equal(x->kernel[1].name, "b");
    assert_true((strcmp(x->kernel[0].sha256, y->kernel[0].sha256) == 0) == a_same);
    assert_true((strcmp(x->kernel[1].sha256, y->kernel[1].sha256) == 0) == b_same);
}

TEST(a_kernel_that_moves_keeps_its_hash)
{
    struct made m;
    make_code_object(&m, 0, 0xbf800000, 7);
    struct code base = code_of_one(&m);
    make_code_object(&m, 256, 0xbf800000, 7);
    struct code moved = code_of_one(&m);
    make_code_object(&m, 0, 0xbf800001, 7);
    struct code changed = code_of_one(&m);
    make_code_object(&m, 0, 0xbf800000, 8);
    struct code data = code_of_one(&m);
    assert_true(base.of_device);
    assert_kernels(&base, &moved, true, true);
    assert_string_equal(base.sha256, moved.sha256);
    assert_kernels(&base, &changed, false, true);
    assert_string_not_equal(base.sha256, changed.sha256);
    assert_kernels(&base, &data, true, true);
    assert_string_not_equal(base.sha256, data.sha256);
    code_release(&base);
    code_release(&moved);
    code_release(&changed);
    code_release(&data);
}

TEST(the_metadata_has_the_resources_of_kernels)
{
    struct made m;
    make_code_object(&m, 0, 0xbf800000, 7);
    struct code code = code_of_one(&m);
    const int64_t *a = code.kernel[0].facts.resource, *b = code.kernel[1].facts.resource;
    assert_string_equal(code.kernel[0].gpu, "gfx942:xnack-");
    assert_int_equal(a[KERNEL_VGPRS], 8);
    assert_int_equal(a[KERNEL_AGPRS], KERNEL_FACT_UNKNOWN);
    assert_int_equal(a[KERNEL_SCRATCH_BYTES], KERNEL_FACT_UNKNOWN);
    assert_int_equal(b[KERNEL_VGPRS], 260 - 128); /* the metadata counts AGPRs with them */
    assert_int_equal(b[KERNEL_AGPRS], 128);
    assert_int_equal(b[KERNEL_SCRATCH_BYTES], KERNEL_FACT_UNKNOWN); /* no kernel has 2 GiB */
    code_release(&code);
}

static void add_kernel(struct code_set *set, const char *gpu, char digit, int64_t bytes)
{
    struct code_item kernel = {.kind = CODE_ITEM_KERNEL};
    memset(kernel.sha256, digit, SHA256_HEX_LEN);
    snprintf(kernel.gpu, sizeof kernel.gpu, "%s", gpu);
    kernel_facts_init(&kernel.facts);
    kernel.facts.resource[KERNEL_SCRATCH_BYTES] = bytes;
    code_set_add_kernel(set, "k", &kernel);
}

TEST(the_facts_of_several_copies_are_of_what_needs_most)
{
    AUTO(code_set_release) struct code_set set = {.item = NULL};
    struct err err = {0};
    struct code code;
    add_kernel(&set, "gfx90a", '1', 0);
    add_kernel(&set, "gfx942", '2', 528);
    add_kernel(&set, "gfx908", '3', 16);
    add_kernel(&set, "gfx908", '3', 16);
    assert_ok(code_of_set(&set, &code, &err), &err);
    assert_int_equal(code.kernels, 1);
    assert_string_equal(code.kernel[0].gpu, "gfx942");
    code_release(&code);
    code_kernels(&set, &code);
    assert_int_equal(code.kernels, 3);
    assert_string_equal(code.kernel[0].gpu, "gfx908");
    code_release(&code);
}

/* The object in an offload bundle, in the section of a host's program. */
static void make_program(struct made *out, const struct made *object)
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

static void make_bundle(struct made *out, const struct image *image, size_t count)
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
static void make_images(struct made *out, const struct image *image, size_t count)
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

/* The identity for a GPU ("": unknown), and whether the code is for others only. */
static bool identity_for(const char *gpu, const struct made *m, char sha256[SHA256_HEX_LEN + 1])
{
    AUTO(code_set_release) struct code_set set = {.item = NULL};
    struct err err = {0};
    struct code code;
    if (*gpu)
        targets_add(&set.gpus, gpu);
    scan_device(span_of(m), &no_mask, NULL, &set);
    sha256[0] = '\0';
    if (set.count == 0)
        return set.others.count > 0;
    assert_ok(code_of_set(&set, &code, &err), &err);
    memcpy(sha256, code.sha256, SHA256_HEX_LEN + 1);
    code_release(&code);
    return false;
}

/* Which of the images decide the identity on a GPU: one that is changed changes it. */
static void assert_decides(const char *gpu, void (*make)(struct made *, const struct image *, size_t),
                           struct image *image, size_t count, const char *wanted)
{
    char found[256] = "", base[SHA256_HEX_LEN + 1], changed[SHA256_HEX_LEN + 1];
    struct made m;
    make(&m, image, count);
    identity_for(gpu, &m, base);
    for (size_t i = 0; i < count; i++) {
        const char *kept = image[i].code;
        image[i].code = "changed;\n";
        make(&m, image, count);
        image[i].code = kept;
        identity_for(gpu, &m, changed);
        if (strcmp(base, changed) != 0)
            snprintf(found + strlen(found), sizeof found - strlen(found), "%s%s", *found ? " " : "",
                     image[i].name);
    }
    assert_string_equal(found, wanted);
}

/* Neither a cubin nor a code object is needed for this: SPIR-V and PTX are hashed as they are. */
TEST(the_image_that_a_gpu_takes_decides_the_identity)
{
    struct image fat[] = {{"compute_80", ".a;\n"},
                          {"compute_90", ".b;\n"},
                          {"compute_90a", ".c;\n"},
                          {"compute_100f", ".d;\n"}};
    struct image amd[] = {{"amdgcnspirv", "s;\n"}};
    assert_decides("sm_80", make_images, fat, COUNT(fat), "compute_80");
    assert_decides("sm_90", make_images, fat, COUNT(fat), "compute_90a");
    assert_decides("sm_103", make_images, fat, COUNT(fat), "compute_100f");
    assert_decides("sm_120", make_images, fat, COUNT(fat), "compute_90");
    assert_decides("", make_images, fat, COUNT(fat), "compute_80 compute_90 compute_90a compute_100f");
    assert_decides("gfx1250", make_bundle, amd, COUNT(amd), "amdgcnspirv");
}

TEST(code_for_other_gpus_only_is_told)
{
    char sha256[SHA256_HEX_LEN + 1];
    const struct image amd[] = {{"gfx90a", "x"}, {"gfx942:xnack+", "x"}},
                       nvidia[] = {{"sm_80", "x"}, {"sm_100a", "x"}};
    struct made m;
    make_bundle(&m, amd, COUNT(amd));
    assert_true(identity_for("gfx950", &m, sha256));
    assert_true(identity_for("gfx942:xnack-", &m, sha256));
    assert_true(identity_for("sm_90", &m, sha256));
    make_images(&m, nvidia, COUNT(nvidia));
    assert_true(identity_for("sm_103", &m, sha256));
    assert_true(identity_for("gfx942", &m, sha256));
    make_code_object(&m, 0, 0xbf800000, 7);
    assert_true(identity_for("gfx90a", &m, sha256));
    assert_false(identity_for("gfx942", &m, sha256));
    assert_false(identity_for("gfx942:xnack-", &m, sha256));
    assert_true(identity_for("gfx942:xnack+", &m, sha256));
}

static void ptx_identity(const char *text, char sha256[SHA256_HEX_LEN + 1])
{
    struct made m;
    const struct image image = {"compute_90", text};
    make_images(&m, &image, 1);
    identity_for("sm_90", &m, sha256);
}

TEST(lines_and_comments_of_ptx_do_not_count)
{
    char base[SHA256_HEX_LEN + 1], lines[SHA256_HEX_LEN + 1], other[SHA256_HEX_LEN + 1];
    ptx_identity("a;\n\tb \"//\";\n", base);
    ptx_identity("// x\na;\n.loc 1 2 3\n b \"//\"; // y\n", lines);
    assert_string_equal(base, lines);
    ptx_identity("a;\n.file 1 \"x\"\n.section .d\n{\nc;\n}\nb \"//\";\n", lines);
    assert_string_equal(base, lines);
    ptx_identity("a;\nb \"/\";\n", other);
    assert_string_not_equal(base, other);
}

static void make_archive(struct made *out, const struct made *member)
{
    char header[61];
    snprintf(header, sizeof header, "%-16s%-12s%-6s%-6s%-8s%-10zu`\n", "member.o/", "1771000000", "0", "0",
             "644", member->len);
    *out = (struct made){.len = 0};
    add(out, "!<arch>\n", 8);
    add(out, header, 60);
    add(out, member->data, member->len);
}

TEST(containers_copies_and_order_do_not_count)
{
    struct made object, program, archive;
    make_code_object(&object, 0, 0xbf800000, 7);
    make_program(&program, &object);
    make_archive(&archive, &program);
    struct span files[] = {span_of(&archive), span_of(&object), span_of(&program), span_of(&object)};
    struct code alone = code_of_one(&object), in_program = code_of_one(&program),
                in_archive = code_of_one(&archive), all = code_of(files, COUNT(files));
    assert_string_equal(alone.sha256, in_program.sha256);
    assert_string_equal(alone.sha256, in_archive.sha256);
    assert_string_equal(alone.sha256, all.sha256);
    assert_kernels(&alone, &all, true, true);
    code_release(&alone);
    code_release(&in_program);
    code_release(&in_archive);
    code_release(&all);
}

/* A compressed bundle; before version 2 it does not say how long it is. */
static void make_compressed(struct made *out, unsigned version, unsigned method, const struct made *bundle)
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

TEST(a_compressed_bundle_counts_as_what_is_in_it)
{
    static const struct image image = {"gfx942", "the code"};
    struct made object, bundle, packed;
    make_code_object(&object, 0, 0xbf800000, 7);
    make_bundle(&bundle, &image, 1);
    *(uint64_t *)(bundle.data + 40) = object.len;
    bundle.len = 4096;
    add(&bundle, object.data, object.len);
    struct code plain = code_of_one(&object);
    for (unsigned version = 1; version <= 3; version++)
        for (unsigned method = 0; method <= 2; method++) {
            make_compressed(&packed, version, method, &bundle);
            struct code code = code_of_one(&packed);
            assert_true(code.of_device);
            assert_int_equal(code.kernels, method == 2 ? 0 : plain.kernels); /* nobody knows method 2 */
            if (method < 2)
                assert_string_equal(code.sha256, plain.sha256);
            code_release(&code);
        }
    code_release(&plain);
}

static void scan_copy(const uint8_t *data, size_t len)
{
    AUTO(code_set_release) struct code_set set = {.item = NULL};
    AUTO_FREE uint8_t *copy = xmemdup(data, len); /* of its exact size, for the sanitizer */
    char sha256[SHA256_HEX_LEN + 1];
    scan_device((struct span){copy, len}, &no_mask, NULL, &set);
    built_file_hash((struct span){copy, len}, &no_mask, sha256);
}

TEST(cut_and_damaged_files_do_no_harm)
{
    struct made object, program;
    make_code_object(&object, 0, 0xbf800000, 7);
    make_program(&program, &object);
    for (size_t len = 0; len <= object.len; len++)
        scan_copy(object.data, len);
    for (size_t i = 0; i < object.len; i++) {
        uint8_t kept = object.data[i];
        object.data[i] = 0xff;
        scan_copy(object.data, object.len);
        object.data[i] = (uint8_t)(kept ^ 0x80);
        scan_copy(object.data, object.len);
        object.data[i] = kept;
    }
    for (size_t len = 0; len <= program.len; len += 7)
        scan_copy(program.data, len);
}

/* A fat binary of one entry. */
static void make_fatbin(struct made *m, uint16_t kind, uint64_t flags, const char *code)
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

TEST(code_that_cannot_be_read_counts_as_its_bytes)
{
    struct made m;
    make_fatbin(&m, 2, 0x8011, "packedX");
    struct code one = code_of_one(&m);
    make_fatbin(&m, 2, 0x8011, "packedY"); /* in the padding */
    struct code same = code_of_one(&m);
    make_fatbin(&m, 2, 0x8011, "pickedX");
    struct code other = code_of_one(&m);
    assert_true(one.of_device);
    assert_int_equal(one.kernels, 0);
    assert_string_equal(one.sha256, same.sha256);
    assert_string_not_equal(one.sha256, other.sha256);
    code_release(&one);
    code_release(&same);
    code_release(&other);
}

TEST(the_loaded_sections_make_a_host_file)
{
    struct made m;
    char base[SHA256_HEX_LEN + 1], noted[SHA256_HEX_LEN + 1], changed[SHA256_HEX_LEN + 1];
    struct part parts[] = {
        {".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0, 0, 0, "code", 4},
        {".note.gnu.build-id", SHT_NOTE, SHF_ALLOC, 0, 0, 0, "1234", 4},
        {".comment", SHT_PROGBITS, 0, 0, 0, 0, "gcc", 3},
    };
    make_elf(&m, ET_EXEC, EM_X86_64, parts, COUNT(parts));
    built_file_hash(span_of(&m), &no_mask, base);
    parts[1].data = "5678";
    parts[2].data = "icc";
    make_elf(&m, ET_EXEC, EM_X86_64, parts, COUNT(parts));
    built_file_hash(span_of(&m), &no_mask, noted);
    parts[0].data = "coda";
    make_elf(&m, ET_EXEC, EM_X86_64, parts, COUNT(parts));
    built_file_hash(span_of(&m), &no_mask, changed);
    assert_string_equal(base, noted);
    assert_string_not_equal(base, changed);
}

TEST(only_what_was_built_counts)
{
    struct span text = {(const uint8_t *)"x", 1};
    assert_true(built_file_counts("script.py", text));
    assert_true(built_file_counts("sub/folder/data.bin", text));
    assert_false(built_file_counts(".complete", text));
    assert_false(built_file_counts("sub/.ninja_log", text));
    assert_false(built_file_counts("a.o.d", text));
    assert_false(built_file_counts("build.log", text));
    assert_false(built_file_counts("CMakeFiles/x.txt", text));
}

TEST(nothing_has_no_identity)
{
    struct code_set set = {.item = NULL};
    struct code code;
    struct err err = {0};
    assert_err(code_of_set(&set, &code, &err), &err, ERR_INPUT, "no files");
    code_release(&code);
}

TEST(a_bound_that_is_exceeded_is_told_once)
{
    AUTO(code_set_release) struct code_set set = {.item = NULL};
    char sha256[SHA256_HEX_LEN + 1] = "";
    struct err err = {0};
    for (size_t i = 0; i < CODE_ITEMS_MAX; i++)
        code_set_add(&set, CODE_ITEM_FILE, "", sha256);
    assert_ok(code_set_check(&set, &err), &err);
    code_set_add(&set, CODE_ITEM_FILE, "", sha256);
    code_set_refuse(&set, "another");
    assert_err(code_set_check(&set, &err), &err, ERR_INPUT, "more than 200000 kernels, functions and files");
}
