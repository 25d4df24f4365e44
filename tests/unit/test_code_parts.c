/* What the code identity stands on: masks, MessagePack, decompression. */
#include "common/base/alloc.h"
#include "executor/code/mask.h"
#include "executor/code/msgpack.h"
#include "executor/code/unpack.h"
#include "tests/unit/support.h"

#include <zlib.h>
#include <zstd.h>

/* A frame of a text that repeats itself, cut to its size for the sanitizer. */
static struct span pack_zstd(size_t len)
{
    AUTO_FREE char *text = xmalloc(len);
    size_t most = ZSTD_compressBound(len);
    uint8_t *out = xmalloc(most);
    for (size_t i = 0; i < len; i++)
        text[i] = "v_mfma_f32_32x32x8_bf16"[i * i % 23];
    size_t size = ZSTD_compress(out, most, text, len, 19);
    assert_false(ZSTD_isError(size));
    return (struct span){xrealloc(out, size), size};
}

TEST(zstandard_is_decoded_up_to_its_size)
{
    enum { LEN = 3 << 20 };
    size_t len;
    struct span packed = pack_zstd(LEN);
    AUTO_FREE uint8_t *whole = unpack_zstd(packed, LEN, &len);
    assert_non_null(whole);
    assert_int_equal(len, LEN);
    for (size_t i = 0; i < len; i++)
        assert_true(whole[i] == (uint8_t) "v_mfma_f32_32x32x8_bf16"[i * i % 23]);
    assert_null(unpack_zstd(packed, LEN - 1, &len));
    assert_null(unpack_zstd(packed, 0, &len));
    free((void *)packed.data);
}

TEST(damaged_zstandard_is_refused)
{
    /* A window of 3.75 TiB, and a raw block in a frame that does not say its size: the size that the
     * container says limits both. */
    static const uint8_t wide[] = {0x28, 0xb5, 0x2f, 0xfd, 0, 0xff, 0x09, 0, 0, 'x'};
    static const uint8_t raw[] = {0x28, 0xb5, 0x2f, 0xfd, 0, 0x58, 0x19, 0, 0, 'x', 'y', 'z'};
    struct span packed = pack_zstd(4096);
    size_t size;
    for (size_t len = 0; len < packed.len; len++) {
        AUTO_FREE uint8_t *copy = xmemdup(packed.data, len);
        assert_null(unpack_zstd((struct span){copy, len}, 1 << 20, &size));
    }
    AUTO_FREE uint8_t *longer = xcalloc(1, packed.len + 1);
    memcpy(longer, packed.data, packed.len);
    assert_null(unpack_zstd((struct span){longer, packed.len + 1}, 1 << 20, &size));
    free((void *)packed.data);
    assert_null(unpack_zstd((struct span){wide, sizeof wide}, 1 << 20, &size));
    assert_null(unpack_zstd((struct span){raw, sizeof raw}, 2, &size));
    AUTO_FREE uint8_t *text = unpack_zstd((struct span){raw, sizeof raw}, 3, &size);
    assert_non_null(text);
    assert_int_equal(size, 3);
    assert_memory_equal(text, "xyz", 3);
}

TEST(zlib_is_decoded_up_to_its_size)
{
    enum { LEN = 1 << 20 };
    uLongf size = compressBound(LEN);
    size_t len;
    AUTO_FREE uint8_t *zeros = xcalloc(1, LEN), *packed = xmalloc(size);
    assert_int_equal(compress(packed, &size, zeros, LEN), Z_OK);
    AUTO_FREE uint8_t *whole = unpack_zlib((struct span){packed, size}, LEN, &len);
    assert_non_null(whole);
    assert_int_equal(len, LEN);
    assert_memory_equal(whole, zeros, LEN);
    assert_null(unpack_zlib((struct span){packed, size}, LEN - 1, &len));
    assert_null(unpack_zlib((struct span){packed, size}, 0, &len));
    for (size_t cut = 0; cut < size; cut++) {
        AUTO_FREE uint8_t *copy = xmemdup(packed, cut);
        assert_null(unpack_zlib((struct span){copy, cut}, LEN, &len));
    }
    AUTO_FREE uint8_t *longer = xcalloc(1, size + 1);
    memcpy(longer, packed, size);
    assert_null(unpack_zlib((struct span){longer, size + 1}, LEN, &len));
}

TEST(lz4_is_decoded)
{
    static const uint8_t good[] = {0x44, 'a', 'b', 'c', 'd', 4, 0, 0x10, 'e'};
    static const uint8_t before_the_begin[] = {0x14, 'a', 2, 0, 0x10, 'e'};
    size_t len;
    AUTO_FREE uint8_t *text = unpack_lz4((struct span){good, sizeof good}, 100, &len);
    assert_non_null(text);
    assert_int_equal(len, 13);
    assert_memory_equal(text, "abcdabcdabcde", 13);
    assert_null(unpack_lz4((struct span){good, sizeof good}, 12, &len));
    assert_null(unpack_lz4((struct span){before_the_begin, sizeof before_the_begin}, 100, &len));
}

static void hash_masked(const struct mask *m, const char *text, char *out)
{
    struct sha256 h;
    sha256_begin(&h);
    mask_add(m, &h, (struct span){(const uint8_t *)text, strlen(text)});
    sha256_end(&h, out);
}

TEST(folders_dates_and_generated_digits_are_masked)
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
    for (size_t i = 0; i < COUNT(cases); i++) {
        char a[SHA256_HEX_LEN + 1], b[SHA256_HEX_LEN + 1];
        hash_masked(&m, cases[i].a, a);
        hash_masked(&m, cases[i].b, b);
        if ((strcmp(a, b) == 0) != cases[i].same)
            fail_msg("%s and %s", cases[i].a, cases[i].b);
    }
}

TEST(a_long_name_is_cut_and_stays_distinct)
{
    static char name[MASK_NAME_MAX + 1000], a[MASK_NAME_MAX], b[MASK_NAME_MAX];
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = '\0';
    mask_name(name, a);
    name[sizeof name - 2] = 'y';
    mask_name(name, b);
    assert_int_equal(strlen(a), MASK_NAME_MAX - 1);
    assert_string_not_equal(a, b);
}

TEST(messagepack_is_walked_within_its_bytes)
{
    static const uint8_t good[] = {0x82, 0xa1, 'a', 0x93, 1,    0xc0, 0xcb, 0, 0,   0,  0,
                                   0,    0,    0,   0,    0xa1, 'b',  0xd9, 2, 'o', 'k'};
    static const uint8_t endless[] = {0xdd, 0xff, 0xff, 0xff, 0xff, 0xdd, 0xff, 0xff, 0xff, 0xff};
    struct msgpack m;
    size_t at;
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
