/* What the code identity stands on: masks, MessagePack, decompression. */
#include "executor/code/mask.h"
#include "executor/code/msgpack.h"
#include "executor/code/unpack.h"
#include "tests/unit/support.h"

/* 1104 bytes of made-up assembly, by `zstd -19`: Huffman-coded literals, described tables, repeated offsets.
 */
static const uint8_t packed[] = {
    0x28, 0xb5, 0x2f, 0xfd, 0x64, 0x50, 0x03, 0x45, 0x09, 0x00, 0x22, 0x4b, 0x1e, 0x16, 0x80, 0x6d, 0x0e,
    0x70, 0xa9, 0xc7, 0xb8, 0x45, 0x81, 0x4e, 0x13, 0xd8, 0xa1, 0xa7, 0x4d, 0x52, 0x52, 0x21, 0x6e, 0x5c,
    0x53, 0x23, 0xa9, 0xf5, 0xb5, 0x7b, 0xe7, 0xed, 0x7e, 0x07, 0xef, 0xdf, 0xc0, 0xf7, 0x73, 0xd6, 0x5d,
    0xad, 0xae, 0xee, 0x3d, 0x93, 0xd9, 0xad, 0xd9, 0x7b, 0x5b, 0xda, 0x76, 0x6e, 0xeb, 0xd5, 0xeb, 0xff,
    0x73, 0x5b, 0x59, 0x17, 0xd8, 0xfe, 0x6b, 0x32, 0xc6, 0xfc, 0xdb, 0xa5, 0x1b, 0x95, 0x72, 0x34, 0xc5,
    0x62, 0xc0, 0xa7, 0xad, 0xa5, 0xe0, 0x36, 0x1c, 0xf8, 0x14, 0xe9, 0xaf, 0x2b, 0x6b, 0x54, 0xc0, 0x8a,
    0x0a, 0x5a, 0x08, 0x08, 0x11, 0x22, 0xf8, 0xa4, 0x17, 0x15, 0x90, 0x8f, 0xaa, 0x10, 0x98, 0x04, 0x26,
    0xc2, 0xc0, 0x24, 0x47, 0x6a, 0x51, 0x01, 0xaf, 0x51, 0xf9, 0x03, 0x8c, 0x8c, 0x02, 0x63, 0x61, 0xa8,
    0xe1, 0xac, 0xbc, 0x33, 0xed, 0x6f, 0xc0, 0x24, 0x22, 0x23, 0xdb, 0x71, 0x3c, 0x48, 0x88, 0xd0, 0x30,
    0xcb, 0xa4, 0x74, 0x3d, 0x03, 0xe3, 0x53, 0x1f, 0x23, 0xab, 0x45, 0x30, 0x7a, 0x96, 0x9a, 0x46, 0xd3,
    0x0a, 0xde, 0x59, 0x79, 0x67, 0x73, 0x63, 0x6b, 0x49, 0xb9, 0xd1, 0x8e, 0x76, 0x76, 0xac, 0xe1, 0x3b,
    0x42, 0x83, 0xfb, 0x4f, 0xa2, 0x39, 0xfe, 0x5f, 0xa8, 0x81, 0x59, 0xea, 0x99, 0x5e, 0x00, 0x44, 0xa2,
    0x8b, 0x60, 0x1c, 0x32, 0x25, 0xda, 0xa4, 0x0a, 0xe7, 0xdb, 0xc8, 0xec, 0x27, 0x86, 0x5d, 0xeb, 0x58,
    0x9e, 0x8a, 0xb1, 0xd5, 0xa9, 0x80, 0xda, 0x76, 0x3d, 0x3a, 0xf9, 0xab, 0xe6, 0xaa, 0xba, 0x4b, 0xcd,
    0xf6, 0xa4, 0xe0, 0xe1, 0x54, 0x7d, 0x80, 0x71, 0xd4, 0xb8, 0x87, 0xc2, 0x55, 0x17, 0x8d, 0xd1, 0x65,
    0x1c, 0x24, 0xec, 0x26, 0xe0, 0x29, 0x60, 0x12, 0x44, 0x90, 0xfd, 0xc9, 0x75, 0xd9, 0xcb, 0xc1, 0x1c,
    0x84, 0x89, 0xe3, 0x26, 0x91, 0x10, 0x8b, 0x46, 0x61, 0x3e, 0xf3, 0x02, 0x30, 0x1a, 0x6f, 0x31, 0x21,
    0xfa, 0x52, 0x43, 0xd1, 0x9c, 0xd7, 0xbb, 0x9f, 0x59, 0xb9, 0x52, 0xb7, 0x68, 0x0c, 0x49, 0xbe, 0x0a,
    0x7c, 0xf3, 0xe5, 0x50};
static const char unpacked_sha256[] = "68dfe80efa1128641b3ab2127c63132e5bc089b56b8c2cece90d7cc942b9ebe3";

enum { UNPACKED_LEN = 1104 };

static void zstandard_is_decoded(void **state)
{
    struct unpacked u;
    char sha256[SHA256_HEX_LEN + 1];
    (void)state;
    assert_true(unpack_zstd((struct span){packed, sizeof packed}, UNPACKED_LEN, &u));
    assert_int_equal(u.len, UNPACKED_LEN);
    sha256_of(u.data, u.len, sha256);
    assert_string_equal(sha256, unpacked_sha256);
    free(u.data);
    assert_false(unpack_zstd((struct span){packed, sizeof packed}, UNPACKED_LEN - 1, &u));
    free(u.data);
}

static void damaged_zstandard_does_no_harm(void **state)
{
    struct unpacked u;
    (void)state;
    for (size_t len = 0; len < sizeof packed; len++) {
        uint8_t *copy = malloc(len + 1); /* of its exact size, for the sanitizer */
        assert_non_null(copy);
        memcpy(copy, packed, len);
        assert_false(unpack_zstd((struct span){copy, len}, 1 << 20, &u));
        free(u.data);
        free(copy);
    }
    for (size_t bit = 0; bit < sizeof packed * 8; bit++) {
        uint8_t copy[sizeof packed];
        memcpy(copy, packed, sizeof copy);
        copy[bit / 8] ^= (uint8_t)(1 << bit % 8);
        unpack_zstd((struct span){copy, sizeof copy}, 1 << 20, &u);
        free(u.data);
    }
}

static void lz4_is_decoded(void **state)
{
    static const uint8_t good[] = {0x44, 'a', 'b', 'c', 'd', 4, 0, 0x10, 'e'};
    static const uint8_t before_the_begin[] = {0x14, 'a', 2, 0, 0x10, 'e'};
    struct unpacked u;
    (void)state;
    assert_true(unpack_lz4((struct span){good, sizeof good}, 100, &u));
    assert_int_equal(u.len, 13);
    assert_memory_equal(u.data, "abcdabcdabcde", 13);
    free(u.data);
    assert_false(unpack_lz4((struct span){good, sizeof good}, 12, &u));
    free(u.data);
    assert_false(unpack_lz4((struct span){before_the_begin, sizeof before_the_begin}, 100, &u));
    free(u.data);
}

static void hash_masked(const struct mask *m, const char *text, char *out)
{
    struct sha256 h;
    sha256_begin(&h);
    mask_add(m, &h, (struct span){(const uint8_t *)text, strlen(text)});
    sha256_end(&h, out);
}

static void folders_dates_and_generated_digits_are_masked(void **state)
{
    static const struct mask m = {.folder = {"/w/build/1", "/w/src"}};
    static const struct {
        const char *a, *b;
        bool same;
    } cases[] = {
        {"x/w/build/1/a.c", "x/a.c", true},
        {"in /w/src/a.c", "in /a.c", true},
        {"in /w/other/a.c", "in /a.c", false},
        {"on Nov 22 2026 at 12:34:56.", "on Jan  1 1999 at 23:59:59.", true},
        {"on Nov 22 2026", "on Nov 22 1x26", false},
        {"_GLOBAL__N__1a2b3c4d_4_k_cu", "_GLOBAL__N__00000000_4_k_cu", true},
        {"_INTERNAL_1a2b3c4d_4_k_cu_5e6f7a8b4anon", "_INTERNAL_00000000_4_k_cu_000000004anon", true},
        {"__hip_cuid_0123456789abcdef", "__hip_cuid_fedcba9876543210", true},
        {"name_1a2b3c4d", "name_00000000", false},
        {"_GLOBAL__N__1a2b3c4d x_1a2b3c4d", "_GLOBAL__N__1a2b3c4d x_00000000", false},
        {"", "x", false},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        char a[SHA256_HEX_LEN + 1], b[SHA256_HEX_LEN + 1];
        hash_masked(&m, cases[i].a, a);
        hash_masked(&m, cases[i].b, b);
        if ((strcmp(a, b) == 0) != cases[i].same)
            fail_msg("%s and %s", cases[i].a, cases[i].b);
    }
}

static void a_long_name_is_cut_and_stays_distinct(void **state)
{
    char name[3000], a[MASK_NAME_MAX], b[MASK_NAME_MAX];
    (void)state;
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = '\0';
    mask_name(name, a);
    name[sizeof name - 2] = 'y';
    mask_name(name, b);
    assert_int_equal(strlen(a), MASK_NAME_MAX - 1);
    assert_string_not_equal(a, b);
}

static void messagepack_is_walked_within_its_bytes(void **state)
{
    static const uint8_t good[] = {0x82, 0xa1, 'a', 0x93, 1,    0xc0, 0xcb, 0, 0,   0,  0,
                                   0,    0,    0,   0,    0xa1, 'b',  0xd9, 2, 'o', 'k'};
    static const uint8_t endless[] = {0xdd, 0xff, 0xff, 0xff, 0xff, 0xdd, 0xff, 0xff, 0xff, 0xff};
    struct msgpack m;
    size_t at;
    (void)state;
    struct span s = {good, sizeof good};
    assert_true(msgpack_at(s, 0, &m));
    assert_int_equal(m.size, sizeof good);
    assert_true(msgpack_find(s, 0, "b", &at));
    assert_true(msgpack_at(s, at, &m));
    assert_int_equal(m.kind, MSGPACK_TEXT);
    assert_memory_equal(m.text.data, "ok", 2);
    assert_false(msgpack_find(s, 0, "c", &at));
    for (size_t len = 0; len < sizeof good; len++)
        assert_false(msgpack_at((struct span){good, len}, 0, &m));
    assert_false(msgpack_at((struct span){endless, sizeof endless}, 0, &m));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zstandard_is_decoded),
        cmocka_unit_test(damaged_zstandard_does_no_harm),
        cmocka_unit_test(lz4_is_decoded),
        cmocka_unit_test(folders_dates_and_generated_digits_are_masked),
        cmocka_unit_test(a_long_name_is_cut_and_stays_distinct),
        cmocka_unit_test(messagepack_is_walked_within_its_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
