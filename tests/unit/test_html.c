/* Long tables of a page, which are parsed in parts. */
#include "tests/unit/support.h"

#include "common/base/buf.h"
#include "reports/render/html.h"

#include <string.h>

static int occurrences(const char *text, const char *what)
{
    int n = 0;
    for (; (text = strstr(text, what)) != NULL; text++)
        n++;
    return n;
}

static void add_rows(struct buf *b, int count)
{
    for (int i = 0; i < count; i++)
        buf_printf(b, "| %d | one \\| two |\n", i);
}

TEST(a_long_table_is_one)
{
    static struct figure_set none;
    struct err err;
    const int rows[] = {3, 998, 999, 1998, 2500};
    for (size_t k = 0; k < COUNT(rows); k++) {
        AUTO(buf_release) struct buf text, page;
        buf_init(&text, 1 << 20);
        buf_init(&page, 4 << 20);
        buf_puts(&text, "# Title\n\n## First\n\nBefore.\n\n| a | b |\n| --- | --- |\n");
        add_rows(&text, rows[k]);
        buf_puts(&text, "\nBetween.\n\n| c | d |\n| --- | --- |\n");
        add_rows(&text, rows[k]);
        buf_puts(&text, "\n```\n");
        add_rows(&text, 1500);
        buf_puts(&text, "```\n\n## Second\n\nAfter.\n");
        assert_int_equal(html_render(&text, &none, REPORT_EN, "t", &page, &err), 0);
        const char *html = buf_str(&page), *main = strstr(html, "<main");
        assert_int_equal(occurrences(main, "<table>"), 2);
        assert_int_equal(occurrences(main, "<thead>"), 2);
        assert_int_equal(occurrences(main, "</tbody>\n</table>\n</div>\n"), 2);
        assert_int_equal(occurrences(main, "<tr>"), 2 * (rows[k] + 1));
        assert_int_equal(occurrences(main, "class=\"scroll"), 2);
        assert_int_equal(occurrences(main, "<td>one | two</td>"), 2 * rows[k]);
        assert_int_equal(occurrences(main, "one \\| two"), 1500);
        assert_true(strstr(main, "<th>c</th>") > strstr(main, "Between.") && strstr(main, "After."));
    }
}

TEST(long_text_that_is_no_table_stays_as_it_is)
{
    static struct figure_set none;
    struct err err;
    static const char *const heads[] = {"", "| a | b |\n|  |  |\n", "| a | b |\n| : | - |\n",
                                        "| a | b |\n| - - | - |\n", "| a |\n|\n"};
    for (size_t k = 0; k < COUNT(heads); k++) {
        AUTO(buf_release) struct buf text, page;
        buf_init(&text, 1 << 20);
        buf_init(&page, 4 << 20);
        buf_printf(&text, "# Title\n\n## First\n\n%s", heads[k]);
        add_rows(&text, 2500);
        assert_int_equal(html_render(&text, &none, REPORT_EN, "t", &page, &err), 0);
        assert_int_equal(occurrences(strstr(buf_str(&page), "<main"), "<p>| "), 1);
        assert_int_equal(occurrences(buf_str(&page), "| one | two |"), 2500);
    }
}
