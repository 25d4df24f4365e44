/* The size of regular expressions: what regcomp() would blow up is refused, what people write is not. */
#include "tests/unit/support.h"

#include "common/contract/pattern.h"

#include <regex.h>
#include <string.h>

static void ordinary_ones_pass(void **state)
{
    (void)state;
    static const char *const fine[] = {
        "",
        "a",
        "took ([0-9]+[.]?[0-9]*) ms|by ([a-z_]+)",
        "^(([^:]+):)?([0-9]+)$",
        "[[:digit:]]+[^]]{3}",
        "\\+\\{99\\(",
        "(([0-9]{1,3}[.]){3}[0-9]{1,3})",
        "]",
        ")",
        "x{2000}",
    };
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++) {
        if (pattern_is_too_large(fine[i]))
            fail_msg("refused: %s", fine[i]);
    }
}

static void what_multiplies_is_refused(void **state)
{
    (void)state;
    static const char *const large[] = {
        "a++++++++++++++++++++++++++++++",
        "((((((((((((a+)+)+)+)+)+)+)+)+)+)+)+",
        "(a{1,255}){1,255}",
        "a{4294967295}",
        "a{99999999999999999999}",
        "(ab{30,}){80}",
        "x{1000}y{1000}z{1000}",
        "[[:digit:]]++++++++++++",
    };
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        if (!pattern_is_too_large(large[i]))
            fail_msg("accepted: %s", large[i]);
    }
}

static void nesting_has_a_limit(void **state)
{
    (void)state;
    char nested[2 * (PATTERN_DEPTH_MAX + 2)];
    memset(nested, '(', sizeof nested - 1);
    nested[PATTERN_DEPTH_MAX] = '\0';
    assert_false(pattern_is_too_large(nested));
    nested[PATTERN_DEPTH_MAX] = '(';
    nested[PATTERN_DEPTH_MAX + 1] = '\0';
    assert_true(pattern_is_too_large(nested));
}

/* The largest that passes is still no burden for the library. */
static void the_library_takes_what_passes(void **state)
{
    (void)state;
    static const char *const most[] = {"a++++++++++", "((((((((a+)+)+)+)+)+)+)+)+", "(a{1,40}){1,40}",
                                       "x{2000}"};
    for (size_t i = 0; i < sizeof most / sizeof *most; i++) {
        regex_t re;
        assert_false(pattern_is_too_large(most[i]));
        assert_int_equal(regcomp(&re, most[i], REG_EXTENDED), 0);
        regfree(&re);
    }
}

static void a_bracket_ends_where_it_ends(void **state)
{
    (void)state;
    assert_int_equal(pattern_bracket_length("[]+]+"), 4);
    assert_int_equal(pattern_bracket_length("[^]]x"), 4);
    assert_int_equal(pattern_bracket_length("[[:digit:]+]*"), 12);
    assert_int_equal(pattern_bracket_length("[abc"), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ordinary_ones_pass),           cmocka_unit_test(what_multiplies_is_refused),
        cmocka_unit_test(nesting_has_a_limit),          cmocka_unit_test(the_library_takes_what_passes),
        cmocka_unit_test(a_bracket_ends_where_it_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
