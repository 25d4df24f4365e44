/* subst: placeholders, and text that only resembles them. */
#include "tests/unit/support.h"

#include "common/contract/subst.h"

static const struct subst values = {
    .text = {[SUBST_SRC] = "/s", [SUBST_BUILD] = "/b", [SUBST_VARIANT] = "v3"},
    .context = 4096,
    .repetition = 2};

static void becomes(const char *template, const char *want)
{
    struct err err = {.kind = ERR_NONE};
    struct buf out;
    buf_init(&out, 200);
    assert_ok(subst_expand(template, &values, &out, &err), &err);
    assert_string_equal(buf_str(&out), want);
    buf_release(&out);
}

static void fails(const char *template, const char *word)
{
    struct err err = {.kind = ERR_NONE};
    struct buf out;
    buf_init(&out, 200);
    int rc = subst_expand(template, &values, &out, &err);
    assert_err(rc, &err, ERR_INPUT, word);
    buf_release(&out);
}

static void placeholders(void **state)
{
    (void)state;
    becomes("", "");
    becomes("plain", "plain");
    becomes("{src}/kernels", "/s/kernels");
    becomes("O={build}:{variant}", "O=/b:v3");
    becomes("{context}", "4096");
    becomes("{context+8}x{repetition}", "4104x2");
}

static void other_braces(void **state)
{
    (void)state;
    becomes("{\"a\": {\"b\": 1}}", "{\"a\": {\"b\": 1}}");
    becomes("{{context}", "{context}");
    becomes("${{HOME}", "${HOME}");
    becomes("{}", "{}");
    becomes("{", "{");
    becomes("{context", "{context");
    becomes("{context+}", "{context+}");
    becomes("{Src}", "{Src}");
    becomes("}", "}");
}

static void errors(void **state)
{
    (void)state;
    fails("{nonsense}", "{nonsense}");
    fails("{src+1}", "{context+N}");
    fails("{out}", "{out} has no value");
    fails("{run_id}", "no value");
    char text[] = "{src}{src}";
    struct buf small;
    struct err err = {.kind = ERR_NONE};
    buf_init(&small, 3);
    int rc = subst_expand(text, &values, &small, &err);
    assert_err(rc, &err, ERR_INPUT, "longer than 3");
    buf_release(&small);
}

static void scanning_tells_what_is_used(void **state)
{
    (void)state;
    struct err err = {.kind = ERR_NONE};
    unsigned used;
    assert_ok(subst_scan("{src} {context+1} {{out}", &used, &err), &err);
    assert_int_equal(used, SUBST_BIT(SUBST_SRC) | SUBST_BIT(SUBST_CONTEXT));
    assert_int_equal(subst_scan("{what}", &used, &err), -1);
    assert_int_equal(SUBST_FOR_BUILD & SUBST_BIT(SUBST_RUN_ID), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(placeholders),
        cmocka_unit_test(other_braces),
        cmocka_unit_test(errors),
        cmocka_unit_test(scanning_tells_what_is_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
