/* node_name: what names a node, and what does not. */
#include "tests/unit/support.h"

#include "common/contract/node_name.h"

#include <string.h>

TEST(names_have_parts)
{
    static const struct {
        const char *text, *user, *host;
        int port;
    } cases[] = {{"local", "", "local", 0},
                 {"mi300x-a", "", "mi300x-a", 0},
                 {"bench@192.0.2.7:2222", "bench", "192.0.2.7", 2222},
                 {"[2001:db8::7]:22", "", "2001:db8::7", 22},
                 {"2001:db8::7", "", "2001:db8::7", 0},
                 {"a@b@host", "a@b", "host", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct node_name name;
        assert_true(node_name_parse(cases[i].text, &name));
        assert_string_equal(name.user, cases[i].user);
        assert_string_equal(name.host, cases[i].host);
        assert_int_equal(name.port, cases[i].port);
    }
}

TEST(other_text_is_no_name)
{
    static const char *const bad[] = {"",         "-x",     "-oProxyCommand=x", "a b",   "a\nb",
                                      "user@",    "@host",  "host:0",           "host:", "host:65536",
                                      "[::1",     "[::1]x", "host:22x",         "a;b",   "$HOME",
                                      "a b@host", "-l@host"};
    char longest[NODE_NAME_MAX + 2];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (node_name_is_valid(bad[i]))
            fail_msg("\"%s\" was accepted", bad[i]);
    memset(longest, 'x', sizeof longest);
    longest[NODE_NAME_MAX + 1] = '\0';
    assert_false(node_name_is_valid(longest));
    assert_true(node_name_is_valid(longest + 1));
}
