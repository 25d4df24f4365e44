#include "reports/render/markdown.h"

#include "tests/unit/support.h"

struct sheet {
    struct buf buf;
    struct md md;
};

static void sheet_init(struct sheet *s)
{
    buf_init(&s->buf, 1 << 20);
    s->md = (struct md){.out = &s->buf, .lang = REPORT_EN};
}

/* Compares what was written and releases it. */
static void sheet_is(struct sheet *s, const char *want)
{
    assert_true(buf_ok(&s->buf));
    assert_string_equal(buf_str(&s->buf), want);
    buf_release(&s->buf);
}

static void text_is(const char *in, const char *want)
{
    struct sheet s;
    sheet_init(&s);
    buf_putc(&s.buf, ' ');
    md_text(&s.md, in);
    buf_consume(&s.buf, 1);
    sheet_is(&s, want);
}

static void code_is(const char *in, const char *want)
{
    struct sheet s;
    sheet_init(&s);
    md_code(&s.md, in);
    sheet_is(&s, want);
}

TEST(punctuation_that_markdown_reads_is_quoted)
{
    text_is("<script>alert(1)</script>", "\\<script\\>alert(1)\\</script\\>");
    text_is("a|b", "a\\|b");
    text_is("*x* `y` ~z~ [l](u) &amp; $m$", "\\*x\\* \\`y\\` \\~z\\~ \\[l\\](u) \\&amp; \\$m\\$");
    text_is("back\\slash", "back\\\\slash");
    text_is("_under_ score", "\\_under\\_ score");
    text_is("flash_v2_naive", "flash_v2_naive");
    text_is("http://x.example/ www.x.example", "http\\://x.example/ www\\.x.example");
    text_is("3.53 times, +7.3 %, 1.00x", "3.53 times, +7.3 %, 1.00x");
}

TEST(what_starts_a_block_is_quoted_at_a_line_start_only)
{
    static const char *const cases[][2] = {
        {"# no heading", "\\# no heading"}, {"- no item", "\\- no item"}, {"12. no list", "12\\. no list"},
        {"1) no list", "1\\) no list"},     {"3.5 s", "3.5 s"},           {"=====", "\\====="}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sheet s;
        sheet_init(&s);
        md_text(&s.md, cases[i][0]);
        sheet_is(&s, cases[i][1]);
    }
    text_is("- 1. #", "- 1. #");
}

TEST(invisible_characters_become_visible)
{
    text_is("a\nb\r\tc\x1b[31m", "a\\\\x0ab\\\\x0d\\\\x09c\\\\x1b\\[31m");
    text_is("v3\xe2\x80\xaegpj", "v3\\\\u{202e}gpj");
    text_is("bad \xff utf", "bad \\\\xff utf");
    text_is("café ² ×", "café ² ×");
    code_is("a\nb", "`a\\x0ab`");
}

TEST(code_spans_are_longer_than_the_backticks_inside)
{
    code_is("v3", "`v3`");
    code_is("a`b", "``a`b``");
    code_is("``", "``` `` ```");
    code_is("`x", "`` `x ``");
    code_is("", "\\-");
    code_is("<script>", "`<script>`");
}

TEST(fences_are_longer_than_the_backticks_inside)
{
    struct sheet s;
    static const char text[] = "one\n```\n<b>\x1b[0m";
    sheet_init(&s);
    md_code_block(&s.md, "text", text, sizeof text - 1);
    sheet_is(&s, "````text\none\n```\n<b>\\x1b[0m\n````\n\n");
}

TEST(bars_do_not_split_cells)
{
    struct table t;
    struct sheet s;
    table_init(&t);
    sheet_init(&s);
    table_column(&t, "Name", false);
    table_column(&t, "N", true);
    table_code(&t, "a|b");
    table_text(&t, "1");
    table_code(&t, "a\\|b");
    table_text(&t, "2");
    table_text(&t, "c|d");
    table_marked(&t, "3", MARK_BAD);
    md_table(&s.md, &t);
    table_release(&t);
    sheet_is(&s, "| Name   |     N |\n"
                 "| ------ | ----: |\n"
                 "| `a\\|b` |     1 |\n"
                 "| a\\\\\\|b |     2 |\n"
                 "| c\\|d   | **3** |\n\n");
}

TEST(links_hold_no_markup)
{
    struct sheet s;
    sheet_init(&s);
    md_link(&s.md, "a]b", "dir/a b)(\"<.txt");
    sheet_is(&s, "[`a]b`](dir/a%20b%29%28%22%3C.txt)");
}

TEST(columns_without_a_word_are_taken_out)
{
    AUTO(table_release) struct table t = {0};
    AUTO(buf_release) struct buf out = {.max = 4096};
    table_init(&t);
    table_column(&t, "A", false);
    table_column(&t, "B", false);
    table_column(&t, "C", true);
    table_column(&t, "D", true);
    for (int row = 0; row < 2; row++) {
        table_text(&t, "-");
        table_text(&t, row ? "-" : "");
        table_link(&t, "x", "y");
        table_text(&t, row ? "1" : "-");
    }
    table_drop_empty(&t, 1);
    assert_true(table_ok(&t));
    assert_int_equal(t.n_cols, 3);
    table_write_text(&t, (struct screen){0}, &out);
    assert_string_equal(buf_str(&out), "A  C  D\n-  x  -\n-  x  1\n");
    table_drop_empty(&t, 0);
    assert_int_equal(t.n_cols, 2);
    assert_string_equal(t.cols[0].title, "C");
}

TEST(a_crooked_table_is_an_error)
{
    struct table t;
    struct sheet s;
    table_init(&t);
    sheet_init(&s);
    table_column(&t, "A", false);
    table_column(&t, "B", false);
    table_text(&t, "only one");
    md_table(&s.md, &t);
    assert_false(buf_ok(&s.buf));
    table_release(&t);
    buf_release(&s.buf);
}

TEST(a_terminal_gets_aligned_columns_and_no_escape_sequences)
{
    AUTO(table_release) struct table t = {0};
    AUTO(buf_release) struct buf out = {.max = 4096};
    table_init(&t);
    table_column(&t, "Variant", false);
    table_column(&t, "Prefill (s)", true);
    table_column(&t, "Status", false);
    table_code(&t, "v3\x1b]0;x\x07");
    table_text(&t, "3540.68");
    table_marked(&t, "Slow", MARK_BAD);
    table_code(&t, "baseline");
    table_text(&t, "403.26 ±");
    table_text(&t, "OK");
    table_write_text(&t, (struct screen){0}, &out);
    assert_string_equal(buf_str(&out), "Variant         Prefill (s)  Status\n"
                                       "v3\\x1b]0;x\\x07      3540.68  Slow\n"
                                       "baseline           403.26 ±  OK\n");
    buf_clear(&out);
    table_write_text(&t, (struct screen){.colour = true}, &out);
    assert_non_null(strstr(buf_str(&out), "\033[1;31mSlow\033[0m"));
}

TEST(a_fold_has_no_markup_of_others)
{
    struct sheet s;
    sheet_init(&s);
    md_fold(&s.md, MSG_CODE_FOLD, "<b>v3</b>", "1", "2");
    md_fold_end(&s.md);
    sheet_is(&s, "<details><summary>&lt;b&gt;v3&lt;/b&gt;: 1 of 2 kernels</summary>\n\n</details>\n\n");
}

static void fill_noted(struct table *t)
{
    table_column(t, "Node", false);
    table_column(t, "Value", true);
    table_note(t, "Evidence");
    const char *rows[][3] = {
        {"a-node-with-a-long-name", "1.00", "n = 3; threshold 5 %"},
        {"a-node-with-a-long-name", "2.00", "n = 3; confirmed in alternation; threshold 5 %"}};
    for (size_t r = 0; r < 2; r++)
        for (size_t c = 0; c < 3; c++)
            table_text(t, rows[r][c]);
}

TEST(a_note_stands_below_its_row_and_what_all_share_once_above)
{
    AUTO(table_release) struct table t = {0};
    AUTO(buf_release) struct buf out = {.max = 4096};
    fill_noted(&t);
    table_write_text(&t, (struct screen){.columns = 50}, &out);
    assert_string_equal(buf_str(&out), "Evidence, in every row:\n    n = 3; threshold 5 %\n\n"
                                       "Node                     Value\n"
                                       "a-node-with-a-long-name   1.00\n"
                                       "a-node-with-a-long-name   2.00\n"
                                       "    confirmed in alternation\n");
    buf_clear(&out);
    table_write_text(&t, (struct screen){.columns = 20}, &out);
    assert_non_null(strstr(buf_str(&out), "Node: a-node-with-a-long-name\n\n"));
    assert_non_null(strstr(buf_str(&out), "Value\n 1.00\n 2.00\n    confirmed in alternation\n"));
    buf_clear(&out);
    table_write_text(&t, (struct screen){0}, &out);
    assert_non_null(strstr(buf_str(&out), "2.00  n = 3; confirmed in alternation; threshold 5 %\n"));
}

static void fill_wide(struct table *t)
{
    table_column(t, "Variant", false);
    table_column(t, "Throughput (tok/s)", true);
    table_column(t, "Step expected", true);
    table_column(t, "Status", false);
    for (int i = 1; i <= 2; i++) {
        table_text(t, i == 1 ? "baseline" : "v3");
        table_text(t, i == 1 ? "180" : "12");
        table_text(t, i == 1 ? "4.0x" : "2.0x");
        table_text(t, i == 1 ? "OK" : "FAIL");
    }
}

TEST(a_grid_that_is_too_wide_breaks_its_titles_and_then_its_rows)
{
    static const struct {
        size_t columns;
        const char *text;
    } cases[] = {{50, "Variant   Throughput (tok/s)  Step expected  Status\n"
                      "baseline                 180           4.0x  OK\n"
                      "v3                        12           2.0x  FAIL\n"},
                 {40, "Variant   Throughput      Step  Status\n"
                      "             (tok/s)  expected\n"
                      "baseline         180      4.0x  OK\n"
                      "v3                12      2.0x  FAIL\n"},
                 {36, "Variant  Throughput     Step Status\n"
                      "            (tok/s) expected\n"
                      "baseline        180     4.0x OK\n"
                      "v3               12     2.0x FAIL\n"},
                 {30, "Variant  Throughput     Step\n"
                      "            (tok/s) expected\n"
                      "    Status\n"
                      "baseline        180     4.0x\n"
                      "    OK\n"
                      "v3               12     2.0x\n"
                      "    FAIL\n"}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        AUTO(table_release) struct table t = {0};
        AUTO(buf_release) struct buf out = {.max = 4096};
        fill_wide(&t);
        table_write_text(&t, (struct screen){.columns = cases[i].columns + (i == 0)}, &out);
        assert_string_equal(buf_str(&out), cases[i].text);
    }
}

TEST(a_note_is_broken_between_words)
{
    AUTO(table_release) struct table t = {0};
    AUTO(buf_release) struct buf out = {.max = 4096};
    table_column(&t, "A", false);
    table_note(&t, "Evidence");
    table_text(&t, "x");
    table_text(&t, "twelve words and more of them which do not fit a line of forty columns");
    table_write_text(&t, (struct screen){.columns = 40}, &out);
    assert_string_equal(buf_str(&out), "A\nx\n    twelve words and more of them which\n"
                                       "    do not fit a line of forty columns\n");
}
