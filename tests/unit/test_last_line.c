/* last_line: the last line that says anything, however the output arrives. */
#include "tests/unit/support.h"

#include "common/base/last_line.h"

static void expect(const char *const *pieces, const char *last)
{
    struct last_line l = {0};
    for (; *pieces; pieces++)
        last_line_feed(&l, *pieces, strlen(*pieces));
    assert_string_equal(last_line_text(&l), last);
}

TEST(the_last_line_that_is_not_empty_counts)
{
    expect((const char *[]){NULL}, "");
    expect((const char *[]){"\n\n", NULL}, "");
    expect((const char *[]){"one\ntwo\n\n  \n", NULL}, "two");
    expect((const char *[]){"one\ntw", "o", NULL}, "two");
    expect((const char *[]){"one\n", "\r\n", "th", "ree\nfo", "ur", "\n", NULL}, "four");
}

TEST(a_long_line_is_cut)
{
    struct last_line l = {0};
    char piece[1000];
    memset(piece, 'x', sizeof piece);
    for (int i = 0; i < 5; i++)
        last_line_feed(&l, piece, sizeof piece);
    assert_int_equal(strlen(last_line_text(&l)), LAST_LINE_MAX);
    last_line_feed(&l, "\nshort", 6);
    assert_string_equal(last_line_text(&l), "short");
}
