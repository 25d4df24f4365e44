/* The index of the nightly runs, and what is told of one. */
#include "tests/unit/support.h"

#include "harness/nightly/nights.h"
#include "harness/nightly/notify.h"

#include <jansson.h>
#include <string.h>

static void close_one(const char *root, const char *name, const char *night, const char *news,
                      const char *headline)
{
    struct err err = {0};
    struct night n;
    json_t *summary = json_pack("{s:s, s:s, s:s, s:s, s:s, s:b}", "night", night, "ticket", "attention",
                                "node", "mi300x", "news", news, "headline", headline, "has_report", 1);
    assert_ok(nights_open(&n, root, "2026-11-21", name, &err), &err);
    assert_ok(nights_close(&n, root, summary, &err), &err);
    json_decref(summary);
}

static char *read_page(const char *root, const char *name)
{
    struct err err = {0};
    struct buf text;
    char path[FS_PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", root, name);
    buf_init(&text, 1 << 20);
    assert_ok(fs_read_file(path, text.max, &text, &err), &err);
    return buf_steal(&text);
}

static void holds(const char *text, const char *words)
{
    if (!strstr(text, words))
        fail_msg("\"%s\" is missing in:\n%s", words, text);
}

static void the_index_names_times_briefly_and_colours_the_news(void **state)
{
    char root[FS_PATH_MAX];
    (void)state;
    snprintf(root, sizeof root, "%s", in_scratch("nights"));
    close_one(root, "run-1", "2026-11-21T02:30:09.608Z", "regression", "1 regressed <b>");
    close_one(root, "run-2", "2026-11-22T02:30:01.000Z", "inconclusive", "8 inconclusive");
    close_one(root, "run-3", "2026-11-23T02:30:01.000Z", "recovered", "8 unchanged");
    char *page = read_page(root, "index.html"), *text = read_page(root, "index.md");
    holds(page, "<td class=\"when\">2026-11-21 02:30</td>");
    holds(page, "<span class=\"news bad\">regression</span>");
    holds(page, "<span class=\"news warn\">inconclusive</span>");
    holds(page, "<span class=\"news good\">recovered</span>");
    holds(page, "1 regressed &lt;b&gt;");
    holds(page, "<a href=\"./2026-11-21/run-1/report.html\">report</a>");
    holds(page, "Content-Security-Policy");
    assert_true(strstr(page, "2026-11-23") < strstr(page, "2026-11-22"));
    holds(text, "| 2026-11-21 02:30 |");
    assert_null(strstr(text, ".608Z"));
    free(page);
    free(text);
}

static void news_are_words(void **state)
{
    char text[64];
    (void)state;
    notify_news_text(NEWS_INCONCLUSIVE, text);
    assert_string_equal(text, "inconclusive");
    notify_news_text(NEWS_REGRESSION | NEWS_FAILURE, text);
    assert_string_equal(text, "regression,failure");
    notify_news_text(0, text);
    assert_string_equal(text, "quiet");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_index_names_times_briefly_and_colours_the_news),
        cmocka_unit_test(news_are_words),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
