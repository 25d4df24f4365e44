/* json_quick: whatever it takes is what jansson makes of it, and it takes what our own programs write. */
#include "tests/unit/support.h"

#include "common/json_quick.h"

#include <math.h>

static json_t *slow_parse(const char *text, size_t len)
{
    return json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, NULL);
}

/* Returns whether it was taken. */
static bool agrees(const char *text, size_t len)
{
    json_t *quick = json_quick_parse(text, len), *slow = slow_parse(text, len);
    bool taken = quick;
    if (quick && (!slow || !json_equal(quick, slow)))
        fail_msg("%.*s: jansson %s", (int)len, text, slow ? "reads something else" : "refuses it");
    json_decref(quick);
    json_decref(slow);
    return taken;
}

static void plain_documents_are_taken(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{}",
        "[]",
        " [ 1 , 2 ] \n",
        "\"text\"",
        "\"\"",
        "true",
        "null",
        "{\"a\":{\"b\":[false,null,true,\"x y\"]},\"\":0}",
        "[0,-1,10,123456789012345678,0.5,-0.25,1e3,1E-7,2.5e+10,16106127360,22.011295999999998,5.66e-6]",
        "{\"t\":0.22,\"rss\":273924096,\"cpu\":99.2}",
        "1.7976931348623157e308",
        "0.1234567890123456789",
    };
    for (size_t i = 0; i < COUNT(texts); i++)
        if (!agrees(texts[i], strlen(texts[i])))
            fail_msg("%s: not taken", texts[i]);
}

static void what_is_odd_is_left_to_jansson(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        " ",
        "{",
        "}",
        "[1,]",
        "[,1]",
        "{\"a\":1,}",
        "{\"a\"}",
        "{a:1}",
        "[1 2]",
        "[01]",
        "[-]",
        "[1.]",
        "[.5]",
        "[1e]",
        "[-0]",
        "[-0.0]",
        "[0.0e0]",
        "[1e999]",
        "[1e-999]",
        "nul",
        "truex",
        "[tru]",
        "\"a",
        "\"\\n\"",
        "\"\xc3\xa9\"",
        "\"\t\"",
        "\"\x7f\"",
        "{\"a\":1,\"a\":2}",
        "{\"a\":1}x",
        "[1]]",
        "{\"a\" 1}",
        "[12345678901234567890]",
        "[NaN]",
        "[Infinity]",
        "[+1]",
        "[\"a\" \"b\"]",
        "\xff",
        "[1,2",
        "// x\n1",
    };
    for (size_t i = 0; i < COUNT(texts); i++)
        if (agrees(texts[i], strlen(texts[i])))
            fail_msg("%s: taken", texts[i]);
    assert_false(agrees("[1]\0", 4));
    char deep[200];
    memset(deep, '[', 100);
    memset(deep + 100, ']', 100);
    assert_false(agrees(deep, sizeof deep));
}

/* A plain document with bytes of it changed, which is mostly bad and sometimes good. */
static void damaged_documents_agree(void **state)
{
    (void)state;
    static const char good[] = "{\"schema\":\"kernsweep.perf/"
                               "1\",\"n\":[1,-2,3.25,4e-3],\"ok\":true,\"none\":null,\"o\":{\"x\":0.125}}";
    static const char bytes[] = "{}[]\",:0123456789.-+eE tfn\\ax\n\xc3";
    uint64_t seed = 88172645463325252;
    size_t taken = 0;
    for (int i = 0; i < 20000; i++) {
        char text[sizeof good];
        memcpy(text, good, sizeof good);
        for (int k = 0; k <= i % 3; k++) {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            text[seed % (sizeof good - 1)] = bytes[(seed >> 32) % (sizeof bytes - 1)];
        }
        taken += agrees(text, sizeof good - 1);
    }
    assert_true(taken > 100 && taken < 19900);
}

static void decimals_are_exact(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "0.1", "99.7", "123456.789012345", "-3.5", "0.00000000000001", "999999999999999"};
    for (size_t i = 0; i < COUNT(texts); i++) {
        const char *p = texts[i];
        double v;
        assert_true(json_quick_decimal(&p, p + strlen(p), &v));
        assert_true(*p == '\0');
        double expected = strtod(texts[i], NULL);
        if (v < expected || v > expected)
            fail_msg("%s: %.17g", texts[i], v);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_documents_are_taken),
        cmocka_unit_test(what_is_odd_is_left_to_jansson),
        cmocka_unit_test(damaged_documents_agree),
        cmocka_unit_test(decimals_are_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
