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
    assert_int_equal(pairs.items[1].state, KERNEL_CHANGED);
    assert_string_equal(kernel_pair_name(&pairs.items[1]), "b");
    assert_int_equal(pairs.items[2].state, KERNEL_IDENTICAL);
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

static struct run_kernel_code with_body(const char *name, char digit)
{
    struct run_kernel_code k = kernel(0, name, digit, 8);
    memset(k.facts.body, digit, KERNEL_BODY_LEN);
    k.sha256[0] = name[3]; /* the name is part of it */
    return k;
}

/* a::one moves to b, two becomes three, and of two twins each is paired once. */
TEST(a_kernel_with_another_name_is_recognised)
{
    struct run_variant variants[] = {{.name = "v"}};
    struct run_data run = {.variants = variants, .n_variants = 1};
    struct run_kernel_code was[] = {with_body("_ZN1a3oneEPf", '1'), with_body("_Z3twoPf", '2'),
                                    with_body("_Z3zooPf", '1'), kernel(0, "bare", '4', 8)};
    struct run_kernel_code is[] = {with_body("_ZN1b3oneEPf", '1'), with_body("_Z5threePf", '2'),
                                   with_body("_Z5threePd", '2'), kernel(0, "other", '4', 8)};
    struct run_details before = {.kernels = was, .n_kernels = 4}, now = {.kernels = is, .n_kernels = 4};
    const struct kernel_side x = {&run, &before, "v"}, y = {&run, &now, "v"};
    size_t of[KERNEL_STATES] = {0};
    struct kernel_pairs pairs;
    kernel_pairs_make(&x, &y, &pairs);
    for (size_t i = 0; i < pairs.count; i++)
        of[pairs.items[i].state]++;
    assert_int_equal(of[KERNEL_MOVED], 1);
    assert_int_equal(of[KERNEL_RENAMED], 1);
    assert_int_equal(of[KERNEL_NEW], 2);
    assert_int_equal(of[KERNEL_GONE], 2); /* without a body nothing is known of its name */
    assert_int_equal(pairs.changed, 4);
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
