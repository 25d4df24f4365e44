/* words: commands in one text, as a shell would split them. */
#include "harness/commands/base/words.h"
#include "tests/unit/support.h"

TEST(words_are_split_as_by_a_shell)
{
    static const struct {
        const char *text;
        const char *words[6];
    } table[] = {
        {"a", {"a"}},
        {"  a  b\tc ", {"a", "b", "c"}},
        {"a 'b c' \"d e\"", {"a", "b c", "d e"}},
        {"a '' b", {"a", "", "b"}},
        {"a\\ b 'c\\d' \"e\\\"f\\g\"", {"a b", "c\\d", "e\"f\\g"}},
        {"--n='4 5'x", {"--n=4 5x"}},
    };
    for (size_t i = 0; i < COUNT(table); i++) {
        struct strvec words = {0};
        struct err err = {0};
        assert_ok(words_split(table[i].text, &words, &err), &err);
        size_t n = 0;
        for (; table[i].words[n]; n++)
            assert_string_equal(n < words.n ? words.v[n] : "(none)", table[i].words[n]);
        assert_int_equal(words.n, n);
        strvec_release(&words);
    }
}

TEST(what_is_no_command_is_refused)
{
    static const char *const bad[] = {"", "  ", "a 'b", "a \"b"};
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct strvec words = {0};
        struct err err = {0};
        assert_int_equal(words_split(bad[i], &words, &err), -1);
        assert_int_equal(err.kind, ERR_INPUT);
        strvec_release(&words);
    }
}

TEST(what_needs_a_shell_is_told)
{
    static const char *const shell[] = {"a | b", "a; b",  "a $HOME", "a \"$x\"", "a `b`",
                                        "a *.c", "a > b", "a && b",  "~/a"},
                             *const plain[] = {"a b",     "a '| $x'",        "a \"b | c\"",
                                               "a \\| b", "a --x={context}", "a 5$"};
    for (size_t i = 0; i < COUNT(shell); i++)
        assert_true(words_need_shell(shell[i]));
    for (size_t i = 0; i < COUNT(plain); i++)
        assert_false(words_need_shell(plain[i]));
}

TEST(braces_stay_what_they_are)
{
    struct strvec words = {0};
    words_push_literal(&words, "{context}", true);
    words_push_literal(&words, "{context}", false);
    words_push_literal(&words, "{x}", true);
    words_push_literal(&words, "a{1..3}", false);
    words_push_literal(&words, "{{\"a\": 1}}", true); /* a plan would make one brace of two */
    words_push_literal(&words, "{{x}, {context}", true);
    assert_string_equal(words.v[0], "{context}");
    assert_string_equal(words.v[1], "{{context}");
    assert_string_equal(words.v[2], "{{x}");
    assert_string_equal(words.v[3], "a{{1..3}");
    assert_string_equal(words.v[4], "{{{{\"a\": 1}}");
    assert_string_equal(words.v[5], "{{x}, {context}");
    strvec_release(&words);
}
