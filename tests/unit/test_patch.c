#include "tests/unit/support.h"

#include "common/base/alloc.h"
#include "common/contract/patch.h"

/* The patched text, valid until the next call. */
static const char *apply(const struct patch *p, const char *text, int *rc, struct err *err)
{
    static struct buf out;
    buf_release(&out);
    buf_init(&out, PATCH_FILE_MAX);
    *rc = patch_apply(p, text, strlen(text), &out, err);
    return buf_str(&out);
}

static void assert_patched(struct patch p, const char *text, const char *want)
{
    struct err err = {0};
    int rc;
    const char *found = apply(&p, text, &rc, &err);
    assert_ok(rc, &err);
    assert_string_equal(found, want);
}

TEST(matches_are_replaced_line_by_line)
{
    assert_patched((struct patch){"f", "MAX [0-9]+", "MAX 64", 1}, "#define MAX 32\n", "#define MAX 64\n");
    assert_patched((struct patch){"f", "^a", "b", 2}, "aa\naa", "ba\nba");
    assert_patched((struct patch){"f", "a$", "", 2}, "aa\nxa\n", "a\nx\n");
    assert_patched((struct patch){"f", "a", "aa", 3}, "a aa\n", "aa aaaa\n");
    assert_patched((struct patch){"f", "x.*", "", 1}, "1x2\n3\n\n", "1\n3\n\n");
}

TEST(groups_are_put_in)
{
    assert_patched((struct patch){"f", "(a)(b)?(c)", "\\3\\2\\1", 2}, "abc ac", "cba ca");
    assert_patched((struct patch){"f", "b+", "<\\0>&\\\\", 1}, "abbc", "a<bb>&\\c");
    assert_patched((struct patch){"f", "(x)(x)(x)(x)(x)(x)(x)(x)(y)", "\\9", 1}, "xxxxxxxxy", "y");
}

TEST(bytes_that_are_no_text_stay)
{
    static const char text[] = "\0\xff"
                               "a\0\n\0";
    AUTO(buf_release) struct buf out = {.max = PATCH_FILE_MAX};
    struct err err = {0};
    assert_ok(patch_apply(&(struct patch){"f", "a", "b", 1}, text, sizeof text, &out, &err), &err);
    assert_int_equal(out.len, sizeof text);
    assert_memory_equal(out.data,
                        "\0\xff"
                        "b\0\n\0",
                        sizeof text);
}

TEST(another_number_of_matches_is_an_error)
{
    struct err err = {0};
    int rc;
    apply(&(struct patch){"src/f.h", "a", "b", 2}, "aaa", &rc, &err);
    assert_err(rc, &err, ERR_INPUT, "src/f.h", "\"a\"", "matches 3 times", "expected 2");
    apply(&(struct patch){"f", "a", "b", 1}, "", &rc, &err);
    assert_err(rc, &err, ERR_INPUT, "matches 0 times");
    apply(&(struct patch){"f", "\\b", "x", 1}, "a word", &rc, &err);
    assert_err(rc, &err, ERR_INPUT, "empty string");
    char *many = calloc(3000, 1);
    assert_non_null(many);
    memset(many, 'a', 2999);
    apply(&(struct patch){"f", "a", "b", 1}, many, &rc, &err);
    assert_err(rc, &err, ERR_INPUT, "more than 1000 times");
    free(many);
}

TEST(a_file_that_grows_too_large_is_an_error)
{
    struct err err = {0};
    AUTO(buf_release) struct buf out = {.max = 8};
    assert_err(patch_apply(&(struct patch){"f", "a", "123456789", 1}, "a", 1, &out, &err), &err, ERR_INPUT,
               "f: ", "larger than 8 bytes");
}

static int decode(const char *text, struct patch *out, struct err *err)
{
    static json_t *root;
    json_decref(root);
    root = json_parse(text, strlen(text), "plan.json", err);
    assert_non_null(root);
    struct json_at at = json_root(root, "plan.json");
    return patch_decode(out, &at, err);
}

TEST(what_a_plan_says_is_checked)
{
    struct err err = {0};
    struct patch p;
    assert_ok(
        decode("{\"file\":\"a/b.h\",\"pattern\":\"x{2,3}\",\"replacement\":\"y\",\"count\":7}", &p, &err),
        &err);
    assert_string_equal(p.file, "a/b.h");
    assert_int_equal(p.count, 7);
    static const struct {
        const char *text, *place, *says;
    } bad[] = {
        {"{\"file\":\"a/../b\",\"pattern\":\"x\",\"replacement\":\"\"}", "$.file", "without \"..\""},
        {"{\"file\":\"a\",\"pattern\":\"[x\",\"replacement\":\"\"}", "$.pattern", "regular expression"},
        {"{\"file\":\"a\",\"pattern\":\"x|\",\"replacement\":\"\"}", "$.pattern", "empty string"},
        {"{\"file\":\"a\",\"pattern\":\"((x|yz){1,255}){2,999}\",\"replacement\":\"\"}", "$.pattern",
         "regular expression is too large"},
        {"{\"file\":\"a\",\"pattern\":\"x{99999999999999999999}\",\"replacement\":\"\"}", "$.pattern",
         "number too big"},
        {"{\"file\":\"a\",\"pattern\":\"x\",\"replacement\":\"\\\\\"}", "$.replacement", "backslash"},
        {"{\"file\":\"a\",\"pattern\":\"(x)\",\"replacement\":\"\\\\2\"}", "$.replacement", "1 group"},
        {"{\"file\":\"a\",\"pattern\":\"x\",\"replacement\":\"\",\"count\":0}", "$.count", "1 to 1000"},
        {"[]", "$", "expected an object"},
    };
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_err(decode(bad[i].text, &p, &err), &err, ERR_INPUT, "plan.json", bad[i].place, bad[i].says);
    decode("{}", &p, &err);
}
