/* The kernels of a variant in two runs, beside each other. */
#include "results/judge/kernel_pairs.h"
#include "tests/unit/support.h"

static struct run_kernel_code kernel(size_t variant, const char *name, char digit, int64_t vgprs)
{
    struct run_kernel_code k = {.variant = variant, .name = (char *)(uintptr_t)name};
    memset(k.sha256, digit, SHA256_HEX_LEN);
    kernel_facts_init(&k.facts);
    k.facts.resource[KERNEL_VGPRS] = vgprs;
    return k;
}

TEST(kernels_are_paired_by_name)
{
    char a[] = "a", b[] = "b", c[] = "c", d[] = "d";
    struct run_variant before_variants[] = {{.name = "v1"}},
                       now_variants[] = {{.name = "v0"}, {.name = "v1"}};
    struct run_kernel_code before_kernels[] = {kernel(0, a, '1', 8), kernel(0, b, '2', 16),
                                               kernel(0, c, '3', 8)};
    struct run_kernel_code now_kernels[] = {kernel(0, b, '9', 99), kernel(1, b, '7', 24),
                                            kernel(1, c, '3', 8), kernel(1, d, '4', 8)};
    struct run_data before = {.variants = before_variants, .n_variants = 1},
                    now = {.variants = now_variants, .n_variants = 2};
    struct run_details before_details = {.kernels = before_kernels, .n_kernels = 3},
                       now_details = {.kernels = now_kernels, .n_kernels = 4};
    const struct kernel_side x = {&before, &before_details, "v1"}, y = {&now, &now_details, "v1"},
                             absent = {&now, &now_details, "v2"};
    struct kernel_pairs pairs;
    kernel_pairs_make(&x, &y, &pairs);
    assert_int_equal(pairs.count, 4);
    assert_int_equal(pairs.changed, 3);
    assert_null(pairs.items[0].now);
    assert_false(pairs.items[1].same);
    assert_string_equal(kernel_pair_name(&pairs.items[1]), "b");
    assert_true(pairs.items[2].same);
    assert_null(pairs.items[3].before);
    assert_string_equal(kernel_pair_name(&pairs.items[3]), "d");
    struct kernel_fact f = kernel_pair_fact(&pairs.items[1], KERNEL_VGPRS);
    assert_string_equal(f.name, "vgprs");
    assert_int_equal(f.before, 16);
    assert_int_equal(f.now, 24);
    f = kernel_pair_fact(&pairs.items[0], KERNEL_FACTS - 1);
    assert_string_equal(f.group, "hot_loop");
    assert_int_equal(f.now, KERNEL_FACT_UNKNOWN);
    kernel_pairs_release(&pairs);
    kernel_pairs_make(&absent, &absent, &pairs);
    assert_int_equal(pairs.count, 0);
    kernel_pairs_release(&pairs);
}

TEST(the_facts_survive_their_json)
{
    struct kernel_facts in, out;
    struct err err = {0};
    kernel_facts_init(&in);
    in.resource[KERNEL_SCRATCH_BYTES] = 0;
    in.instructions[INSTRUCTION_MATRIX] = 24;
    in.hot_loop[INSTRUCTION_OTHER] = 3;
    json_t *text = kernel_facts_encode(&in);
    const struct json_at at = {.value = text, .file = "code.json"};
    assert_ok(kernel_facts_decode(&at, &out, &err), &err);
    assert_memory_equal(&in, &out, sizeof in);
    json_decref(text);
}
