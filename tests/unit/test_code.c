/* The code identity: of made-up files, of parts of them, of damaged ones. */
#include "common/base/alloc.h"
#include "executor/code/built_file.h"
#include "executor/code/scan.h"
#include "executor/code/target.h"
#include "tests/unit/code_support.h"

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
