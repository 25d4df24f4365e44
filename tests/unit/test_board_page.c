/* The nights' page: nothing that a store says becomes markup. */
#include "tests/unit/support.h"

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
