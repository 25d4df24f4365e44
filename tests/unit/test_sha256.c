/* sha256: test vectors of the standard, pieces of any size, limits on files. */
#include "tests/unit/support.h"

#include "common/base/sha256.h"

static const struct {
    const char *text, *hex;
} vectors[] = {
    {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
     "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
};

static const char million_a[] = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";

TEST(hashes_match_the_standard_vectors)
{
    char hex[SHA256_HEX_LEN + 1];
    for (size_t i = 0; i < COUNT(vectors); i++) {
        sha256_of(vectors[i].text, strlen(vectors[i].text), hex);
        assert_string_equal(hex, vectors[i].hex);
    }
}

TEST(pieces_make_the_same_hash)
{
    char hex[SHA256_HEX_LEN + 1], piece[257];
    memset(piece, 'a', sizeof piece);
    struct sha256 h;
    sha256_begin(&h);
    for (size_t done = 0, n = 0; done < 1000000; done += n) {
        n = (n + 1) % sizeof piece;
        n = n < 1000000 - done ? n : 1000000 - done;
        sha256_add(&h, piece, n);
    }
    sha256_end(&h, hex);
    assert_string_equal(hex, million_a);
}

TEST(file_is_hashed_within_its_maximum)
{
    struct err err = {0};
    char hex[SHA256_HEX_LEN + 1] = "untouched";
    size_t size = 7;
    char *a = malloc(1000000);
    memset(a, 'a', 1000000);
    const char *path = put_bytes("a", a, 1000000);
    free(a);
    assert_err(sha256_of_file(path, 999999, hex, &size, &err), &err, ERR_INPUT, path, "999999 bytes");
    assert_string_equal(hex, "untouched");
    assert_int_equal(size, 7);
    assert_ok(sha256_of_file(path, 1000000, hex, &size, &err), &err);
    assert_string_equal(hex, million_a);
    assert_int_equal(size, 1000000);
    assert_ok(sha256_of_file(put("empty", ""), 0, hex, NULL, &err), &err);
    assert_string_equal(hex, vectors[0].hex);
}

TEST(only_regular_files)
{
    struct err err = {0};
    char hex[SHA256_HEX_LEN + 1];
    put("target", "x");
    assert_int_equal(symlink("target", in_scratch("link")), 0);
    assert_int_equal(mkfifo(in_scratch("fifo"), 0600), 0);
    assert_err(sha256_of_file(in_scratch("link"), 9, hex, NULL, &err), &err, ERR_STORAGE, "link");
    assert_err(sha256_of_file(in_scratch("fifo"), 9, hex, NULL, &err), &err, ERR_INPUT, "not a regular file");
    assert_err(sha256_of_file(scratch, 9, hex, NULL, &err), &err, ERR_INPUT, "not a regular file");
    assert_err(sha256_of_file(in_scratch("none"), 9, hex, NULL, &err), &err, ERR_STORAGE, "No such file");
}

TEST(hex_is_64_lower_case_digits)
{
    char hex[SHA256_HEX_LEN + 2];
    sha256_of("", 0, hex);
    assert_true(sha256_is_hex(hex));
    hex[0] = 'E';
    assert_false(sha256_is_hex(hex));
    hex[0] = 'g';
    assert_false(sha256_is_hex(hex));
    hex[0] = 'e';
    hex[SHA256_HEX_LEN] = '0';
    hex[SHA256_HEX_LEN + 1] = '\0';
    assert_false(sha256_is_hex(hex));
    hex[SHA256_HEX_LEN - 1] = '\0';
    assert_false(sha256_is_hex(hex));
    assert_false(sha256_is_hex(""));
}

GROUP(scratch_make, scratch_remove);
