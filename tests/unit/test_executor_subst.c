/* subst: placeholders, and text that only resembles them. */
#include "tests/unit/support.h"

#include "common/base/alloc.h"
#include "common/contract/subst.h"

static const struct subst values = {
    .text = {[SUBST_SRC] = "/s", [SUBST_BUILD] = "/b", [SUBST_VARIANT] = "v3"},
    .context = 4096,
    .repetition = 2};

static void becomes(const char *template, const char *want)
{
    struct err err = {.kind = ERR_NONE};
    AUTO(buf_release) struct buf out = {.max = 200};
    assert_ok(subst_expand(template, &values, &out, &err), &err);
    assert_string_equal(buf_str(&out), want);
}

static void fails(const char *template, const char *word)
{
    struct err err = {.kind = ERR_NONE};
    AUTO(buf_release) struct buf out = {.max = 200};
    int rc = subst_expand(template, &values, &out, &err);
    assert_err(rc, &err, ERR_INPUT, word);
}

TEST(every_placeholder_becomes_its_value)
{
    becomes("", "");
    becomes("plain", "plain");
    becomes("{src}/kernels", "/s/kernels");
    becomes("O={build}:{variant}", "O=/b:v3");
    becomes("{context}", "4096");
    becomes("{context+8}x{repetition}", "4104x2");
}

TEST(braces_that_are_no_placeholder_are_kept)
{
    becomes("{\"a\": {\"b\": 1}}", "{\"a\": {\"b\": 1}}");
    becomes("{{context}", "{context}");
    becomes("${{HOME}", "${HOME}");
    becomes("{}", "{}");
    becomes("{", "{");
    becomes("{context", "{context");
    becomes("}", "}");
    becomes("${HOME} ${X-1} ${X*2}", "${HOME} ${X-1} ${X*2}");
    becomes("awk '{print $1}'", "awk '{print $1}'");
    becomes("awk '{s+=$1} {n++} END {print s/n}'", "awk '{s+=$1} {n++} END {print s/n}'");
    becomes("a{3} a{1,2} {1..9} {a,b} { ls; }", "a{3} a{1,2} {1..9} {a,b} { ls; }");
    becomes("{{Context} {{context*2}", "{Context} {context*2}");
}

TEST(text_that_looks_like_a_placeholder_is_refused)
{
    fails("{Context}", "did you mean {context}");
    fails("{SRC}/x", "did you mean {src}");
    fails("{ context }", "did you mean {context}");
    fails("{contxt}", "did you mean {context}");
    fails("{X}", "write {{X} for the literal text {X}");
    fails("{v3}", "unknown placeholder {v3}");
    fails("{context*2}", "{context*2}: only {context+N}");
    fails("{context-1}", "only {context+N}");
    fails("{context / 2}", "only {context+N}");
    fails("{context+}", "only {context+N}");
    fails("{context+batch}", "only {context+N}");
    fails("{context:05d}", "only {context+N}");
    fails("{Context+8}", "did you mean {context}");
    fails("{ctx*2}", "unknown placeholder {ctx*2}");
    fails("{repetition-1}", "only {context+N}");
}

TEST(unknown_or_valueless_placeholders_are_refused)
{
    fails("{nonsense}", "{nonsense}");
    fails("{src+1}", "{src+1}: only {context+N}");
    fails("{out}", "{out} has no value");
    fails("{run_id}", "no value");
    char text[] = "{src}{src}";
    AUTO(buf_release) struct buf small = {.max = 3};
    struct err err = {.kind = ERR_NONE};
    int rc = subst_expand(text, &values, &small, &err);
    assert_err(rc, &err, ERR_INPUT, "longer than 3");
}

TEST(scanning_finds_the_placeholders_in_use)
{
    struct err err = {.kind = ERR_NONE};
    unsigned used;
    assert_ok(subst_scan("{src} {context+1} {{out}", &used, &err), &err);
    assert_int_equal(used, SUBST_BIT(SUBST_SRC) | SUBST_BIT(SUBST_CONTEXT));
    assert_int_equal(subst_scan("{what}", &used, &err), -1);
    assert_int_equal(SUBST_FOR_BUILD & SUBST_BIT(SUBST_RUN_ID), 0);
}
