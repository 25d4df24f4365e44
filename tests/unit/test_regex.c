/* regex: groups and their names, positions of errors, limits on matching. */
#include "tests/unit/support.h"

#include "common/base/alloc.h"
#include "common/base/clock.h"
#include "common/base/regex.h"

#include <stdlib.h>

static struct regex compiled(const char *pattern)
{
    struct regex re;
    struct err err = {0};
    if (regex_compile(&re, pattern, &err) != 0)
        fail_msg("%s: %s", pattern, err.msg);
    return re;
}

/* The text of a group; "-" if it did not participate, "none" without a match. */
static const char *group_of(const char *pattern, const char *text, size_t group)
{
    static char out[200];
    struct regex re = compiled(pattern);
    size_t at = 0, len = 0;
    int rc = regex_match(&re, text, strlen(text), 0, NULL);
    assert_true(rc >= 0);
    if (rc == 0)
        snprintf(out, sizeof out, "none");
    else if (!regex_group(&re, group, &at, &len))
        snprintf(out, sizeof out, "-");
    else
        snprintf(out, sizeof out, "%.*s", (int)len, text + at);
    regex_release(&re);
    return out;
}

TEST(what_plans_use_means_what_it_did)
{
    assert_string_equal(group_of("took ([0-9]+[.]?[0-9]*) ms|by ([a-z_]+)", "x took 1.5 ms", 1), "1.5");
    assert_string_equal(group_of("took ([0-9]+[.]?[0-9]*) ms|by ([a-z_]+)", "by flash", 1), "-");
    assert_string_equal(group_of("took ([0-9]+[.]?[0-9]*) ms|by ([a-z_]+)", "by flash", 2), "flash");
    assert_string_equal(group_of("[](x]=([[:digit:]]+)", "(=12", 1), "12");
    assert_string_equal(group_of("b[^]]=(.*)", "bb=0.5", 1), "0.5");
    assert_string_equal(group_of("\\d+\\.\\d+", "at 12.75 s", 0), "12.75");
    assert_string_equal(group_of("^#define N +([0-9]+)$", "#define N  2048", 1), "2048");
    assert_string_equal(group_of("\\(([^)]+)\\)", "f(x)", 1), "x");
    assert_string_equal(group_of("a.b", "a\nb", 0), "a\nb");
    assert_string_equal(group_of("a$", "a\n", 0), "none");
}

TEST(groups_have_names)
{
    size_t group = 0;
    struct regex re = compiled("(x)?(?<b_s>\\d)|(?:y)(?<a>.)|z(?<b_s>.)");
    assert_int_equal(regex_groups(&re), 4);
    assert_int_equal(regex_names(&re), 3);
    assert_string_equal(regex_name(&re, 0, &group), "a");
    assert_int_equal(group, 3);
    assert_string_equal(regex_name(&re, 1, &group), "b_s");
    assert_int_equal(group, 2);
    assert_string_equal(regex_name(&re, 2, &group), "b_s");
    assert_int_equal(group, 4);
    regex_release(&re);
    regex_release(&re);
}

TEST(a_mistake_has_a_place)
{
    static const struct {
        const char *pattern, *says;
    } bad[] = {
        {"took (?<a>[0-9]+", "missing closing parenthesis, at byte 16"},
        {"[x", "missing terminating ] for character class, at byte 2"},
        {"(?<1a>x)", "must start with a non-digit"},
        {"(?<../a>.)", "at byte 3"},
        {"a{4294967295}", "number too big in {} quantifier"},
        {"((a|bc){1,255}){1,999}", "regular expression is too large"},
        {"(*UTF)x", "using UTF is disabled"},
    };
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct regex re;
        struct err err = {0};
        int rc = regex_compile(&re, bad[i].pattern, &err);
        assert_err(rc, &err, ERR_INPUT, bad[i].says);
        assert_null(re.code);
    }
}

TEST(matches_have_byte_offsets)
{
    struct regex re = compiled("^a|\\x00(b)|\\xff");
    size_t at, len;
    assert_int_equal(regex_match(&re, "aa\0b", 4, 0, NULL), 1);
    assert_int_equal(regex_match(&re, "aa\0b", 4, 1, NULL), 1);
    assert_true(regex_group(&re, 1, &at, &len));
    assert_int_equal(at, 3);
    assert_int_equal(len, 1);
    assert_false(regex_group(&re, 2, &at, &len));
    assert_int_equal(regex_match(&re, "aa\0b", 3, 1, NULL), 0);
    assert_int_equal(regex_match(&re, "\xc3\xff", 2, 0, NULL), 1);
    regex_release(&re);
}

TEST(no_pattern_runs_away)
{
    enum { LINE = 64 << 10 };
    static const char *const evil[] = {"(a+)+$",          "(a|aa)+$",     "(a*)*b", "((a{0,50}){0,50}){0,9}b",
                                       "(?1)(a?(?1)a)|x", "([a-z]+)*\\1b"};
    AUTO_FREE char *line = malloc(LINE);
    memset(line, 'a', LINE);
    line[LINE - 1] = '!';
    int64_t before = clock_mono_ns();
    for (size_t i = 0; i < COUNT(evil); i++) {
        AUTO(regex_release) struct regex re = {0};
        struct err err = {0};
        if (regex_compile(&re, evil[i], &err) != 0)
            continue;
        assert_true(regex_match(&re, line, LINE, 0, &err) <= 0);
    }
    assert_true(clock_mono_ns() - before < 20000000000);
    struct regex re = compiled("x.*y.*!");
    line[0] = 'x';
    line[LINE / 2] = 'y';
    assert_int_equal(regex_match(&re, line, LINE, 0, NULL), 1);
    regex_release(&re);
}
