/* err: messages are a single line, truncated at a character boundary, with context in front. */
#include "tests/unit/support.h"

#include "common/base/err.h"
#include "common/base/text.h"

#include <errno.h>

TEST(set_keeps_kind_and_message)
{
    struct err err = {0};
    assert_int_equal(err_set(&err, ERR_NODE, "%s:%d: refused", "host", 22), -1);
    assert_int_equal(err.kind, ERR_NODE);
    assert_string_equal(err.msg, "host:22: refused");
    assert_int_equal(err_set(&err, ERR_INPUT, "again"), -1);
    assert_int_equal(err.kind, ERR_INPUT);
    assert_string_equal(err.msg, "again");
}

TEST(a_null_error_is_allowed)
{
    assert_int_equal(err_set(NULL, ERR_INPUT, "x"), -1);
    assert_int_equal(err_set_errno(NULL, ERR_INPUT, ENOENT, "x"), -1);
    assert_int_equal(err_wrap(NULL, "x"), -1);
}

TEST(errno_is_said_in_words)
{
    struct err err = {0};
    assert_int_equal(err_set_errno(&err, ERR_STORAGE, ENOSPC, "%s: cannot write", "f"), -1);
    assert_int_equal(err.kind, ERR_STORAGE);
    assert_string_equal(err.msg, "f: cannot write: No space left on device");
    err_set_errno(&err, ERR_STORAGE, 99999, "f");
    assert_string_equal(err.msg, "f: unknown error");
}

TEST(wrap_puts_context_in_front)
{
    struct err err = {0};
    err_set(&err, ERR_STORAGE, "disk full");
    assert_int_equal(err_wrap(&err, "variant %s", "v3"), -1);
    assert_int_equal(err_wrap(&err, "run r1"), -1);
    assert_int_equal(err.kind, ERR_STORAGE);
    assert_string_equal(err.msg, "run r1: variant v3: disk full");
}

TEST(foreign_text_stays_in_one_line)
{
    struct err err = {0};
    err_set(&err, ERR_NODE, "node said: %s", "a\nb\r\033[2Jc\t\x7f\xff \xe2\x80\xae");
    assert_string_equal(err.msg, "node said: a\\x0ab\\x0d\\x1b[2Jc\\x09\\x7f\\xff \\u{202e}");
    err_wrap(&err, "x\ny");
    assert_non_null(strstr(err.msg, "x\\x0ay: node said: a\\x0ab"));
}

/* The longest message, with two- and three-byte characters at every offset from the limit. */
TEST(long_text_is_cut_at_a_whole_character)
{
    static const char *const units[] = {"\xc3\xa9", "\xe2\x82\xac", "\n", "\xff", "\xe2\x80\xae"};
    char text[3 * ERR_MSG_MAX];
    for (size_t u = 0; u < COUNT(units); u++) {
        for (size_t lead = 0; lead < 9; lead++) {
            struct err err = {0};
            size_t n = lead, unit = strlen(units[u]);
            memset(text, 'x', lead);
            for (; n + unit < sizeof text; n += unit)
                memcpy(text + n, units[u], unit);
            text[n] = '\0';
            err_set(&err, ERR_INPUT, "%s", text);
            assert_true(strlen(err.msg) > ERR_MSG_MAX - 16);
            assert_true(text_is_utf8(err.msg, strlen(err.msg)));
            assert_null(strchr(err.msg, '\n'));
            err_wrap(&err, "context");
            assert_memory_equal(err.msg, "context: x", lead ? 10 : 9);
            assert_true(text_is_utf8(err.msg, strlen(err.msg)));
            err_set_errno(&err, ERR_STORAGE, ENOSPC, "%s", text);
            assert_true(text_is_utf8(err.msg, strlen(err.msg)));
            if (u < 2) /* text that needs no escaping does not displace the reason */
                assert_non_null(strstr(err.msg, ": No space left on device"));
        }
    }
}
