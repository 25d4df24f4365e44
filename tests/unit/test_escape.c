/* escape: text in CSV, XML and HTML is not interpreted. */
#include "tests/unit/support.h"

#include "common/base/alloc.h"
#include "common/base/escape.h"

typedef void escape_fn(struct buf *out, const char *s);

static void becomes(escape_fn *fn, const char *text, const char *expected)
{
    AUTO(buf_release) struct buf out = {.max = 1000};
    fn(&out, text);
    assert_string_equal(buf_str(&out), expected);
}

TEST(csv_is_quoted_where_it_must_be)
{
    becomes(escape_csv, "", "");
    becomes(escape_csv, "plain text", "plain text");
    becomes(escape_csv, "a,b", "\"a,b\"");
    becomes(escape_csv, "it's \"b\"\n", "\"it's \"\"b\"\"\n\"");
    becomes(escape_csv_quoted, "plain", "\"plain\"");
    becomes(escape_csv_quoted, "\"", "\"\"\"\"");
}

TEST(csv_is_text_where_a_spreadsheet_would_compute)
{
    becomes(escape_csv, "=1+1", "\"'=1+1\"");
    becomes(escape_csv, "@SUM(A1)", "\"'@SUM(A1)\"");
    becomes(escape_csv, "-1+1", "\"'-1+1\"");
    becomes(escape_csv, "+cmd|'/C x'!A0", "\"'+cmd|'/C x'!A0\"");
    becomes(escape_csv, "\t=1+1", "\"'\t=1+1\"");
    becomes(escape_csv_quoted, "\r=1", "\"'\r=1\"");
    becomes(escape_csv, "\n=1", "\"'\n=1\"");
    becomes(escape_csv_quoted, "=1,2", "\"'=1,2\"");
    becomes(escape_csv, "-inf", "\"'-inf\"");
    becomes(escape_csv, "-1.5e-3", "-1.5e-3");
    becomes(escape_csv, "+7", "+7");
    becomes(escape_csv, "-", "-");
    becomes(escape_csv, "a=b", "a=b");
    becomes(escape_csv_quoted, "-4", "\"-4\"");
}

TEST(markup_is_escaped)
{
    becomes(escape_xml, "a < b && c > \"d\"", "a &lt; b &amp;&amp; c &gt; &quot;d&quot;");
    becomes(escape_xml, "tab\there\nline", "tab\there\nline");
    becomes(escape_xml, "bell\a, escape\x1b[m", "bell, escape[m");
    becomes(escape_xml, "\xc3\xa9", "\xc3\xa9");
}
