/* document: plans as JSON with comments and as YAML: what is read, what is refused, and where errors are. */
#include "common/base/alloc.h"
#include "harness/plan/document.h"
#include "harness/plan/plan.h"
#include "harness/plan/yaml.h"
#include "tests/unit/support.h"

static struct json_problems none;

static struct plan_document load(const char *name, const char *text)
{
    struct plan_document d;
    struct err err = {0};
    assert_ok(plan_document_load(&d, put(name, text), &none, &err), &err);
    return d;
}

static void assert_reads_as(const char *name, const char *text, const char *json)
{
    struct plan_document d = load(name, text);
    struct err err = {0};
    json_auto_t *expected = json_parse(json, strlen(json), "expected", &err);
    assert_non_null(expected);
    if (!json_equal(d.root, expected)) {
        char *found = json_dumps(d.root, JSON_ENCODE_ANY);
        fail_msg("%s: is %s, expected %s", text, found, json);
    }
    plan_document_release(&d);
}

static void assert_fails(const char *name, const char *text, const char *says)
{
    struct plan_document d;
    struct err err = {0};
    if (plan_document_load(&d, put(name, text), &none, &err) == 0)
        fail_msg("accepted: %.80s", text);
    assert_err(-1, &err, ERR_INPUT, name, says);
}

TEST(json_may_have_comments_and_trailing_commas)
{
    assert_reads_as("p.json", "// a\n{\"a\": 1, /* b, } */ \"b\": [1, 2, // c\n ],\n}\n// end",
                    "{\"a\":1,\"b\":[1,2]}");
    assert_reads_as("p.json", "{\"a\": \"// no /* comment */\", \"b\": \"x\\\"//,}\"}",
                    "{\"a\":\"// no /* comment */\",\"b\":\"x\\\"//,}\"}");
    assert_reads_as("p.json", "[1, /* a */ // b\n ]", "[1]");
    assert_reads_as("p.json", "[/**/]", "[]");
    assert_fails("p.json", "[1] /* ", "p.json:1:5: the comment that begins here does not end");
    assert_fails("p.json", "[,]", "p.json:1:2: not valid JSON: expected a value, found ,");
    assert_fails("p.json", "[1,,]", "expected a value, found ,");
    assert_fails("p.json", "{\"a\":,}", "expected a value, found ,");
    assert_fails("p.json", "[1] / 2", "found /");
    assert_fails("p.json", "", "expected a value, found the end of the file");
}

TEST(comments_do_not_move_errors)
{
    assert_fails("p.json", "/* one\ntwo */ {\"a\": 1 \"b\": 2}",
                 "p.json:2:16: not valid JSON: expected ',' or '}'");
    assert_fails("p.json", "{ // \xc3\xa4\xc3\xb6\n \"\xc3\xa4\": x}", "p.json:2:7: not valid JSON");
    assert_fails("p.json", "{\"a\": 1,\n // c\n \"a\": 2}",
                 "p.json:3:2: not valid JSON: the key \"a\" is duplicated");
    assert_fails("p.json", "{\n \"a\": [1,\n 2", "the '[' of line 2, column 7 is never closed");
}

TEST(yaml_is_typed_by_the_core_schema)
{
    static const struct {
        const char *yaml, *json;
    } table[] = {
        {"no", "\"no\""},
        {"on", "\"on\""},
        {"Yes", "\"Yes\""},
        {"NO", "\"NO\""},
        {"true", "true"},
        {"False", "false"},
        {"null", "null"},
        {"~", "null"},
        {"12", "12"},
        {"-7", "-7"},
        {"+7", "7"},
        {"010", "10"},
        {"0x1F", "31"},
        {"0o17", "15"},
        {"0b11", "\"0b11\""},
        {"1_000", "\"1_000\""},
        {"1:30", "\"1:30\""},
        {"2026-02-14", "\"2026-02-14\""},
        {"1.5", "1.5"},
        {".5", "0.5"},
        {"1e3", "1000.0"},
        {"1.", "1.0"},
        {".", "\".\""},
        {"1.2.3", "\"1.2.3\""},
        {"e3", "\"e3\""},
        {"'12'", "\"12\""},
        {"\"true\"", "\"true\""},
        {"'it''s'", "\"it's\""},
        {"\"a\\tb\"", "\"a\\tb\""},
        {"|\n  a\n  b\n", "\"a\\nb\\n\""},
        {">\n  a\n  b\n", "\"a b\\n\""},
        {"[a, {b: c}]", "[\"a\",{\"b\":\"c\"}]"},
        {"a:\n  - 1\n  - b: {}\n", "{\"a\":[1,{\"b\":{}}]}"},
        {"4096: x", "{\"4096\":\"x\"}"},
        {"a:\n", "{\"a\":null}"},
        {"x: &a [1, 2]\ny: *a\nz: [*a]\n", "{\"x\":[1,2],\"y\":[1,2],\"z\":[[1,2]]}"},
        {"# comment\n---\na: 1 # more\n...\n", "{\"a\":1}"},
    };
    for (size_t i = 0; i < COUNT(table); i++)
        assert_reads_as("p.yaml", table[i].yaml, table[i].json);
}

TEST(bad_yaml_is_refused_with_its_place)
{
    static const struct {
        const char *yaml, *says;
    } table[] = {
        {"", "the file is empty"},
        {"# nothing\n", "the file is empty"},
        {"a: 1\na: 2\n", "p.yaml:2:1: not valid YAML: the key \"a\" is duplicated"},
        {"a:\n  b: 1\n\tc: 2\n", "p.yaml:3:1: not valid YAML"},
        {"a: [1\nb: 2\n", "p.yaml:2:"},
        {"a: *x\n", "p.yaml:1:4: not valid YAML: the alias *x has no anchor &x before it"},
        {"a: &a [*a]\n", "the alias *a has no anchor"},
        {"a: !!int '3'\n", "p.yaml:1:4: not valid YAML: tags such as"},
        {"a: !python/object x\n", "tags such as"},
        {"a: 1\n---\nb: 2\n", "a second document"},
        {"<<: {a: 1}\n", "merge keys"},
        {"? [a]\n: b\n", "p.yaml:1:3: not valid YAML: a key must be a string"},
        {"a: .inf\n", "infinite"},
        {"a: -.INF\n", "infinite"},
        {"a: .nan\n", "infinite"},
        {"a: 1e999\n", "too large"},
        {"a: 9223372036854775808\n", "64 bits"},
        {"a: \"x\\0y\"\n", "NUL"},
        {"a: \"\xff\"\n", "p.yaml:1:"},
        {"a: @x\n", "p.yaml:1:4"},
        {"a: 'x\n", "p.yaml:"},
    };
    for (size_t i = 0; i < COUNT(table); i++)
        assert_fails("p.yaml", table[i].yaml, table[i].says);
}

/* Ten lines that would be ten million values; and what is nested too deep, directly or through aliases. */
TEST(yaml_is_bounded)
{
    static char text[1 << 16];
    size_t n = (size_t)snprintf(text, sizeof text, "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for (int i = 1; i < 8; i++)
        n += (size_t)snprintf(text + n, sizeof text - n,
                              "a%d: &a%d [*a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d]\n", i,
                              i, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
    assert_fails("p.yaml", text, "more than 100000 values, aliases included");
    memset(text, '[', 5000);
    text[5000] = '\0';
    assert_fails("p.yaml", text, "nested more than 32 levels deep");
    n = (size_t)snprintf(text, sizeof text, "a0: &a0 [x]\n");
    for (int i = 1; i < 40; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "a%d: &a%d [*a%d]\n", i, i, i - 1);
    assert_fails("p.yaml", text, "nested more than 32 levels deep");
    n = 0;
    for (int i = 0; i < 300; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "a%d: &a%d x\n", i, i);
    assert_fails("p.yaml", text, "more than 256 anchors");
}

static struct json_mark mark_of(const struct plan_document *d, const char *path, bool key)
{
    struct json_mark m;
    assert_true(d->source.locate(&d->source, path, key, &m));
    return m;
}

/* A file of half a megabyte that would be a gigabyte, in texts and in keys. */
TEST(aliases_of_long_texts_are_bounded)
{
    static const char *const first[] = {"- &t ", "- &t {? "}, *const last[] = {"\n", "\n: 1}\n"};
    for (size_t k = 0; k < COUNT(first); k++) {
        struct buf text;
        buf_init(&text, LIMIT_PLAN_BYTES);
        buf_puts(&text, first[k]);
        for (int i = 0; i < 500000; i++)
            buf_putc(&text, 'x');
        buf_puts(&text, last[k]);
        for (int i = 0; i < 2000; i++)
            buf_puts(&text, "- *t\n");
        assert_true(buf_ok(&text));
        assert_fails("p.yaml", buf_str(&text), "more than 100000 values, aliases included");
        buf_release(&text);
    }
}

TEST(values_are_located_by_their_path)
{
    static const struct {
        const char *name, *text;
    } forms[] = {
        {"p.json", "{ // c\n  \"a\": {\"b\": [10, {\"c.d\": 1}],\n    \"x.c\": 2}, \"z\": [1]\n}\n"},
        {"p.yaml", "# c\na  : {\"b\": [10, {\"c.d\": 1}],\n    \"x.c\": 2}\nz: [1]\n"},
    };
    static const struct {
        const char *path;
        bool key;
        struct json_mark at[2];
    } table[] = {
        {"$.a.b", false, {{2, 14}, {2, 12}}},    {"$.a.b", true, {{2, 9}, {2, 7}}},
        {"$.a.b[0]", false, {{2, 15}, {2, 13}}}, {"$.a.b[1].c.d", false, {{2, 27}, {2, 25}}},
        {"$.a.x.c", false, {{3, 12}, {3, 12}}},  {"$.a.b[7]", false, {{2, 14}, {2, 12}}},
        {"$.a.none", false, {{2, 8}, {2, 6}}},   {"$.none", true, {{1, 1}, {2, 1}}},
        {"$.z[0]", false, {{3, 22}, {4, 5}}},    {"$", false, {{1, 1}, {2, 1}}},
    };
    for (size_t f = 0; f < COUNT(forms); f++) {
        struct plan_document d = load(forms[f].name, forms[f].text);
        for (size_t i = 0; i < COUNT(table); i++) {
            struct json_mark m = mark_of(&d, table[i].path, table[i].key), e = table[i].at[f];
            if (m.line != e.line || m.column != e.column)
                fail_msg("%s: %s is at %u:%u, expected %u:%u", forms[f].name, table[i].path, m.line, m.column,
                         e.line, e.column);
        }
        plan_document_release(&d);
    }
}

TEST(within_an_alias_the_alias_is_named)
{
    struct plan_document d = load("p.yaml", "a: &x {b: 1}\nc: *x\n");
    struct json_mark m = mark_of(&d, "$.c.b", false);
    assert_int_equal(m.line, 2);
    assert_int_equal(m.column, 4);
    plan_document_release(&d);
}

static void hash_of(const char *name, const char *text, char *out)
{
    struct plan_document d = load(name, text);
    memcpy(out, d.sha256, sizeof d.sha256);
    plan_document_release(&d);
}

/* Old plans keep theirs; a comment does not make another plan, and YAML is what it stands for. */
TEST(the_hash_is_of_what_is_read)
{
    static const char plain[] = "{\"b\": 1, \"a\": [2]}";
    char strict[65], bytes[65], commented[65], other[65], yaml[65];
    hash_of("p.json", plain, strict);
    sha256_of(plain, strlen(plain), bytes);
    assert_string_equal(strict, bytes);
    hash_of("p.json", "{\"b\": 1, \"a\": [2]} // one", commented);
    hash_of("p.json", "// two\n{\"a\": [2,],\n \"b\": 1}", other);
    hash_of("p.yaml", "b: 1\na: [2]\n", yaml);
    assert_string_equal(commented, other);
    assert_string_equal(commented, yaml);
    assert_string_not_equal(commented, strict);
}

TEST(all_errors_are_found_in_the_order_of_their_lines)
{
    static const char text[] = "schema: kernsweep.plan/1\n"
                               "ticket: a b\n"
                               "contexts: [16, 16, x]\n"
                               "timeouts: {default: 5}\n"
                               "gates: []\n"
                               "env: {OK: a, 1X: b}\n"
                               "variants:\n"
                               "  - {name: v, run: [a, \"{contxt}\", 3]}\n"
                               "  - {name: w, run: [a], runn: 1}\n"
                               "  - {name: x, run: [a], build: [[b, \"{context}\"]]}\n"
                               "timings: {kind: regex, pattern: '('}\n"
                               "metrics: [{name: m, better: up}]\n";
    static const char *const expected[] = {
        ":2:9: $.ticket: ",
        ":3:16: $.contexts[1]: ",
        ":3:20: $.contexts[2]: ",
        ":5:8: $.gates: belongs",
        ":6:18: $.env.1X: ",
        ":8:24: $.variants[0].run[1]: ",
        ":8:36: $.variants[0].run[2]: ",
        ":9:25: $.variants[1]: unknown",

        ":10:37: $.variants[2].build[0][1]: ",
        ":11:33: $.timings.pattern: ",
        ":12:29: $.metrics[0].better: ",
    };
    struct plan p;
    struct err err = {0};
    AUTO(problems_release) struct json_problems all = {0};
    assert_int_equal(plan_load_all(&p, put("p.yaml", text), &all, &err), -1);
    for (size_t i = 0; i < all.count && i < COUNT(expected); i++)
        if (!strstr(all.item[i].text, expected[i]))
            fail_msg("error %zu is %s, expected %s", i, all.item[i].text, expected[i]);
    assert_int_equal(all.count, COUNT(expected));
}

TEST(errors_are_bounded)
{
    AUTO(buf_release) struct buf text = {.max = 1 << 20};
    struct plan p;
    struct err err = {0};
    AUTO(problems_release) struct json_problems all = {0};
    buf_puts(&text, "{\"schema\": 1");
    for (int i = 0; i < 1000; i++)
        buf_printf(&text, ", \"k%d\": 1", i);
    buf_puts(&text, "}");
    assert_int_equal(plan_load_all(&p, put("p.json", buf_str(&text)), &all, &err), -1);
    assert_int_equal(all.count, PROBLEMS_MAX);
    assert_true(all.more);
}

TEST(names_of_plans)
{
    assert_true(plan_document_is_named("a.yml") && plan_document_is_named("x/a.jsonc"));
    assert_false(plan_document_is_named(".json") || plan_document_is_named("mi300x") ||
                 plan_document_is_named("a.txt"));
}

GROUP(scratch_make, scratch_remove);
