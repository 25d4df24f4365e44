/* The nights' page: nothing that a store says becomes markup. */
#include "tests/unit/support.h"

#include "common/base/alloc.h"
#include "harness/nightly/board_page.h"

#include <string.h>

/* Each text is at most as long as a date, which is all that is shown of one. */
static const char boards_text[] =
    "[{\"ticket\": \"<b>\", \"node\": \"<i>\", \"metric\": \"<u>\", \"unit\": \"<s>\","
    " \"nights\": [{\"date\": \"<img src=x\", \"run_id\": \"r\", \"commit\": \"<em>\"},"
    "              {\"date\": \"<svg on=y>\", \"run_id\": \"r\", \"commit\": \"\"}],"
    " \"cells\": [{\"variant\": \"<q>\", \"context\": 1, \"verdict\": \"regressed\", \"since\": \"<a "
    "href=z>\","
    "            \"note\": \"<p>\", \"values\": [1, 2], \"changes\": [{\"at\": 0, \"ratio\": 1.5}]}]}]";

TEST(texts_of_the_store_are_escaped)
{
    static const char *const tags[] = {"<b>r", "<i>",     "<u>", "<s>",      "<img",
                                       "<em>", "<svg on", "<q>", "<a href=z"};
    json_t *boards = json_loads(boards_text, 0, NULL);
    struct buf out;
    assert_non_null(boards);
    buf_init(&out, 1 << 20);
    assert_int_equal(board_page_findings(boards, &out), 1);
    board_page_inconclusive(boards, &out);
    board_page_cells(boards, &out);
    for (size_t i = 0; i < COUNT(tags); i++)
        if (strstr(buf_str(&out), tags[i]))
            fail_msg("%s is markup in: %s", tags[i], buf_str(&out));
    assert_non_null(strstr(buf_str(&out), "since &lt;a href=z"));
    assert_non_null(strstr(buf_str(&out), "&lt;img src=x"));
    buf_release(&out);
    json_decref(boards);
}

static void page_of(const char *cell, size_t findings, const char *words)
{
    AUTO(buf_release) struct buf text = {.max = 4096}, out = {.max = 1 << 20};
    buf_printf(&text,
               "[{\"ticket\": \"t\", \"node\": \"n\", \"nights\": [], \"cells\": [{\"variant\": \"v\","
               " \"context\": 64, %s}]}]",
               cell);
    json_t *boards = json_loads(buf_str(&text), 0, NULL);
    assert_non_null(boards);
    assert_int_equal(board_page_findings(boards, &out), findings);
    board_page_suspects(boards, &out);
    board_page_inconclusive(boards, &out);
    board_page_cells(boards, &out);
    if (!strstr(buf_str(&out), words))
        fail_msg("\"%s\" is not in: %s", words, buf_str(&out));
    json_decref(boards);
}

TEST(suspects_have_a_section_of_their_own)
{
    const char *suspect = "\"verdict\": \"suspected\", \"ratio\": 1.08, \"settles\": \"another night\"";
    const char *gone = "\"verdict\": \"unchanged\", \"gone\": \"2025-10-29\"";
    page_of(suspect, 0,
            "<span class=\"news warn\">suspected +8.0 %</span> <b><a href=\"#cell-0-0\">v at 64</a></b> "
            "<span class=\"place\">t on n; another night</span>");
    page_of(gone, 0,
            "<span class=\"news none\">gone </span> <b><a href=\"#cell-0-0\">v at 64</a></b> "
            "<span class=\"place\">t on n, suspected on 2025-10-29</span>");
}

TEST(what_still_fails_is_open_since_its_first_night)
{
    const char *failing = "\"verdict\": \"failing\", \"since\": \"2025-10-29\"";
    page_of(failing, 1,
            "<span class=\"news bad\">still failing </span> <b><a href=\"#cell-0-0\">v at 64</a></b> "
            "<span class=\"place\">t on n, since 2025-10-29");
    page_of(failing, 1, "<li id=\"cell-0-0\" class=\"cell bad\">");
    page_of("\"verdict\": \"noisy\", \"since\": \"2025-10-29\"", 1, "inconclusive, still open");
}
