/* gguf: files that follow the specification; scalars set in place; hostile lengths rejected. */
#include "tests/unit/support.h"

#include "common/base/buf.h"
#include "common/gguf/gguf.h"

static void put_u32(struct buf *b, uint32_t v)
{
    buf_add(b, &v, sizeof v);
}

static void put_u64(struct buf *b, uint64_t v)
{
    buf_add(b, &v, sizeof v);
}

static void put_string(struct buf *b, const char *s)
{
    put_u64(b, strlen(s));
    buf_puts(b, s);
}

static void put_header(struct buf *b, uint32_t version, uint64_t entries)
{
    buf_init(b, 1 << 20);
    buf_puts(b, "GGUF");
    put_u32(b, version);
    put_u64(b, 0);
    put_u64(b, entries);
}

/* A model with a name, a context length, a vocabulary and a float. */
static void write_model(struct buf *b, uint32_t version)
{
    put_header(b, version, 5);
    put_string(b, "general.architecture");
    put_u32(b, GGUF_STRING);
    put_string(b, "llama");
    put_string(b, "tokenizer.ggml.tokens");
    put_u32(b, GGUF_ARRAY);
    put_u32(b, GGUF_STRING);
    put_u64(b, 3);
    put_string(b, "<s>");
    put_string(b, "a");
    put_string(b, "");
    put_string(b, "tokenizer.ggml.scores");
    put_u32(b, GGUF_ARRAY);
    put_u32(b, GGUF_F32);
    put_u64(b, 2);
    put_u64(b, 0);
    put_string(b, "llama.context_length");
    put_u32(b, GGUF_U32);
    put_u32(b, 2048);
    put_string(b, "llama.rope.scale");
    put_u32(b, GGUF_I8);
    buf_putc(b, (char)-3);
}

/* Writes the file of the test; returns its path. */
static const char *save(const struct buf *b)
{
    assert_true(buf_ok(b));
    return put_bytes("model.gguf", b->data, b->len);
}

static struct gguf must_open(const struct buf *b, bool writable)
{
    struct gguf g;
    struct err err = {0};
    assert_ok(gguf_open(&g, save(b), writable, &err), &err);
    return g;
}

static struct gguf_entry must_find(struct gguf *g, const char *key, const char *text)
{
    struct gguf_entry e;
    struct err err = {0};
    assert_ok(gguf_find(g, key, &e, &err), &err);
    if (text)
        assert_string_equal(e.text, text);
    return e;
}

TEST(reads_both_versions)
{
    for (uint32_t version = 2; version <= 3; version++) {
        AUTO(buf_release) struct buf b;
        struct gguf_entry e;
        struct err err = {0};
        write_model(&b, version);
        AUTO(gguf_close) struct gguf g = must_open(&b, false);
        assert_int_equal(g.version, version);
        must_find(&g, "general.architecture", "llama");
        assert_int_equal(must_find(&g, "tokenizer.ggml.tokens", NULL).count, 3);
        must_find(&g, "llama.context_length", "2048");
        must_find(&g, "llama.rope.scale", "-3");
        assert_int_equal(gguf_find(&g, "absent", &e, &err), -1);
    }
}

TEST(sets_a_scalar_and_nothing_else)
{
    AUTO(buf_release) struct buf b, after = {.max = 1 << 20};
    struct err err = {0};
    write_model(&b, 3);
    struct gguf g = must_open(&b, true);
    struct gguf_entry e = must_find(&g, "llama.context_length", NULL);
    assert_int_equal(gguf_set(&g, &e, "32768", &err), 0);
    e = must_find(&g, "llama.context_length", "32768");
    assert_int_equal(gguf_set(&g, &e, "4294967296", &err), -1);
    assert_int_equal(gguf_set(&g, &e, "-1", &err), -1);
    assert_int_equal(gguf_set(&g, &e, "12x", &err), -1);
    e = must_find(&g, "llama.rope.scale", NULL);
    assert_int_equal(gguf_set(&g, &e, "-129", &err), -1);
    assert_int_equal(gguf_set(&g, &e, "-128", &err), 0);
    e = must_find(&g, "general.architecture", NULL);
    assert_int_equal(gguf_set(&g, &e, "x", &err), -1);
    gguf_close(&g);
    assert_int_equal(fs_read_file(in_scratch("model.gguf"), 1 << 20, &after, &err), 0);
    assert_int_equal(after.len, b.len);
    size_t differ = 0;
    for (size_t i = 0; i < b.len; i++)
        differ += after.data[i] != b.data[i];
    assert_int_equal(differ, 2); /* 00 08 -> 00 80 in the length, fd -> 80 in the scale */
}

static int stop_never(const struct gguf_entry *e, void *arg, struct err *err)
{
    (void)e;
    (void)arg;
    (void)err;
    return 0;
}

/* Reads all of `b` as a file; returns the error message. */
static int read_all(const struct buf *b, struct err *err)
{
    struct gguf g;
    if (gguf_open(&g, save(b), false, err) != 0)
        return -1;
    int rc = gguf_each(&g, stop_never, NULL, err);
    gguf_close(&g);
    return rc;
}

TEST(every_truncation_is_named_with_its_offset)
{
    AUTO(buf_release) struct buf b;
    write_model(&b, 3);
    for (size_t len = b.len; len-- > 0;) {
        struct err err = {0};
        struct buf cut = b;
        cut.len = len;
        if (read_all(&cut, &err) == 0)
            fail_msg("cut to %zu bytes was accepted", len);
        assert_int_equal(err.kind, ERR_INPUT);
        assert_non_null(strstr(err.msg, "offset "));
    }
}

static void must_fail(struct buf *b)
{
    struct err err = {0};
    assert_int_equal(read_all(b, &err), -1);
    buf_release(b);
}

TEST(hostile_lengths_are_refused)
{
    static const uint64_t huge[] = {UINT64_MAX, INT64_MAX, 1ull << 40, 1ull << 62};
    for (size_t i = 0; i < COUNT(huge); i++) {
        struct buf b;
        put_header(&b, 3, 1);
        put_string(&b, "k");
        put_u32(&b, GGUF_STRING);
        put_u64(&b, huge[i]);
        must_fail(&b);
        put_header(&b, 3, 1);
        put_string(&b, "k");
        put_u32(&b, GGUF_ARRAY);
        put_u32(&b, GGUF_U64);
        put_u64(&b, huge[i]);
        must_fail(&b);
        put_header(&b, 3, huge[i]);
        must_fail(&b);
    }
}

TEST(arrays_of_arrays_are_skipped)
{
    AUTO(buf_release) struct buf b;
    put_header(&b, 3, 2);
    put_string(&b, "nested");
    put_u32(&b, GGUF_ARRAY);
    put_u32(&b, GGUF_ARRAY);
    put_u64(&b, 2);
    put_u32(&b, GGUF_U16);
    put_u64(&b, 3);
    buf_add(&b, "abcdef", 6);
    put_u32(&b, GGUF_STRING);
    put_u64(&b, 1);
    put_string(&b, "x");
    put_string(&b, "after");
    put_u32(&b, GGUF_BOOL);
    buf_putc(&b, 1);
    AUTO(gguf_close) struct gguf g = must_open(&b, false);
    struct gguf_entry e = must_find(&g, "nested", NULL);
    assert_int_equal(e.element, GGUF_ARRAY);
    assert_int_equal(e.count, 2);
    must_find(&g, "after", "true");
}

TEST(arrays_nested_too_deeply_are_refused)
{
    AUTO(buf_release) struct buf b;
    struct err err = {0};
    put_header(&b, 3, 1);
    put_string(&b, "deep");
    put_u32(&b, GGUF_ARRAY);
    for (int i = 0; i < 1000; i++) {
        put_u32(&b, GGUF_ARRAY);
        put_u64(&b, 1);
    }
    assert_err(read_all(&b, &err), &err, ERR_INPUT, "nested");
}

struct tensor_case {
    uint32_t dims, alignment;
    uint64_t ne[2], offset;
    const char *wrong; /* NULL: valid */
};

/* A padding entry, so that the end of the table is not aligned by accident; then 64 bytes of data. */
static void write_tensor(struct buf *b, const struct tensor_case *c)
{
    put_header(b, 3, 1);
    memcpy(b->data + 8, &(uint64_t){1}, 8);
    put_string(b, "general.alignment");
    put_u32(b, GGUF_U32);
    put_u32(b, c->alignment);
    put_string(b, "weight");
    put_u32(b, c->dims);
    for (uint32_t i = 0; i < c->dims && i < 8; i++)
        put_u64(b, c->ne[i % 2]);
    put_u32(b, 8);
    put_u64(b, c->offset);
    while (c->alignment && b->len % c->alignment != 0)
        buf_putc(b, 0);
    for (int i = 0; i < 64; i++)
        buf_putc(b, (char)i);
}

static int take_tensor(const struct gguf_tensor *t, void *arg, struct err *err)
{
    (void)err;
    *(struct gguf_tensor *)arg = *t;
    return 0;
}

TEST(tensors_are_placed_and_checked)
{
    static const struct tensor_case cases[] = {
        {2, 32, {4, 2}, 0, NULL},
        {1, 64, {8, 1}, 0, NULL},
        {2, 8, {4, 2}, 56, NULL},
        {2, 32, {4, 2}, 8, "aligned"},
        {2, 32, {4, 2}, 64, "after the end"},
        {2, 32, {4, 2}, UINT64_MAX - 31, "after the end"},
        {0, 32, {4, 2}, 0, "dimensions"},
        {5, 32, {1, 1}, 0, "dimensions"},
        {2, 32, {4, 0}, 0, "dimension is 0"},
        {2, 32, {1ull << 32, 1ull << 31}, 0, "63 bits"},
        {2, 12, {4, 2}, 0, "general.alignment"},
        {2, 0, {4, 2}, 0, "general.alignment"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct tensor_case *c = &cases[i];
        AUTO(buf_release) struct buf b;
        struct gguf_tensor t = {0};
        struct err err = {0};
        write_tensor(&b, c);
        AUTO(gguf_close) struct gguf g = must_open(&b, false);
        assert_int_equal(gguf_each_tensor(&g, take_tensor, &t, &err), c->wrong ? -1 : 0);
        if (c->wrong && !strstr(err.msg, c->wrong))
            fail_msg("case %zu: %s", i, err.msg);
        if (!c->wrong) {
            assert_string_equal(t.name, "weight");
            assert_int_equal(t.offset, b.len - 64 + c->offset);
            assert_int_equal(t.type, 8);
            assert_int_equal(t.ne[0], c->ne[0]);
            assert_int_equal(t.ne[1], c->ne[1]);
            assert_int_equal(t.ne[3], 1);
        }
    }
}

GROUP(scratch_make, scratch_remove);
