/* The index of the nightly runs, and what is told of one. */
#include "tests/unit/support.h"

#include "common/base/clock.h"
#include "harness/nightly/board.h"
#include "harness/nightly/lock.h"
#include "harness/nightly/nights.h"
#include "harness/nightly/notify.h"

#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void close_one(const char *root, const char *name, const char *night, const char *news,
                      const char *headline)
{
    struct err err = {0};
    struct night n;
    json_t *summary = json_pack("{s:s, s:s, s:s, s:s, s:s, s:b}", "night", night, "ticket", "attention",
                                "node", "mi300x", "news", news, "headline", headline, "has_report", 1);
    assert_ok(nights_open(&n, root, "2026-11-21", name, &err), &err);
    assert_ok(nights_close(&n, root, summary, NULL, &err), &err);
    json_decref(summary);
}

static char *read_page(const char *root, const char *name)
{
    struct err err = {0};
    struct buf text;
    char path[FS_PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", root, name);
    buf_init(&text, 8 << 20);
    assert_ok(fs_read_file(path, text.max, &text, &err), &err);
    return buf_steal(&text);
}

static void holds(const char *text, const char *words)
{
    if (!strstr(text, words))
        fail_msg("\"%s\" is missing in:\n%s", words, text);
}

TEST(the_index_names_times_briefly_and_colours_the_news)
{
    char root[FS_PATH_MAX];
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

enum { NIGHTS = 90, VARIANTS = 40, CONTEXTS = 5 };

/* 200 cells over 90 nights. */
static json_t *board_of_many(void)
{
    json_t *nights = json_array(), *cells = json_array();
    for (int i = 0; i < NIGHTS; i++)
        json_array_append_new(nights, json_pack("{s:s, s:s}", "date", "2026-11-21", "commit", "a1b2c3d"));
    for (int v = 0; v < VARIANTS * CONTEXTS; v++) {
        json_t *at = json_array(), *values = json_array();
        char name[16];
        for (int i = 0; i < NIGHTS; i++) {
            json_array_append_new(at, json_integer(i));
            json_array_append_new(values, json_real(0.5 + 0.001 * i));
        }
        snprintf(name, sizeof name, "v%d", v / CONTEXTS);
        json_array_append_new(cells,
                              json_pack("{s:s, s:i, s:o, s:o, s:[{s:i, s:f, s:b}], s:[i], s:s, s:f, s:s}",
                                        "variant", name, "context", 4096 << v % CONTEXTS, "at", at, "values",
                                        values, "changes", "at", 40, "ratio", 1.05, "device", 0, "odd", 7,
                                        "verdict", "unchanged", "ratio", 1.001, "note", ""));
    }
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:b, s:o, s:o}", "schema", BOARD_SCHEMA, "ticket",
                     "attention", "node", "mi300x", "mode", "perf", "night", "2026-11-21T02:30:09Z", "metric",
                     "prefill_s", "unit", "s", "more_is_better", 0, "nights", nights, "cells", cells);
}

static json_t *board_cell(const json_t *board, size_t at)
{
    return json_array_get(json_object_get(board, "cells"), at);
}

static char *page_of(const char *root, const json_t *board)
{
    struct err err = {0};
    struct night n;
    json_t *summary =
        json_pack("{s:s, s:s, s:s, s:s, s:s, s:b}", "night", "2026-11-21T02:30:09Z", "ticket", "attention",
                  "node", "mi300x", "news", "quiet", "headline", "h", "has_report", 1);
    assert_ok(nights_open(&n, root, "2026-11-21", "run-1", &err), &err);
    assert_ok(nights_close(&n, root, summary, board, &err), &err);
    json_decref(summary);
    return read_page(root, "index.html");
}

static size_t count(const char *text, const char *word)
{
    size_t n = 0;
    while ((text = strstr(text, word)) != NULL) {
        n++;
        text += strlen(word);
    }
    return n;
}

TEST(a_page_of_many_cells_stays_small)
{
    char root[FS_PATH_MAX];
    json_t *board = board_of_many();
    snprintf(root, sizeof root, "%s", in_scratch("many"));
    char *page = page_of(root, board);
    assert_int_equal(count(page, "<svg"), VARIANTS * CONTEXTS);
    assert_int_equal(count(page, "class=\"change\""), VARIANTS * CONTEXTS);
    assert_true(strlen(page) < 2u << 20);
    holds(page, "<p class=\"none\">None.</p>");
    assert_null(strstr(page, "Inconclusive</h2>"));
    free(page);
    json_decref(board);
}

TEST(open_findings_come_first_the_worst_before_the_others)
{
    char root[FS_PATH_MAX];
    json_t *board = board_of_many();
    snprintf(root, sizeof root, "%s", in_scratch("findings"));
    json_object_set_new(board_cell(board, 7), "verdict", json_string("regressed"));
    json_object_set_new(board_cell(board, 7), "since", json_string("2026-11-03"));
    json_object_set_new(board_cell(board, 7), "note", json_string(", confirmed: <code>"));
    json_object_set_new(board_cell(board, 9), "verdict", json_string("broken"));
    json_object_set_new(board_cell(board, 11), "verdict", json_string("noisy"));
    json_object_set_new(board_cell(board, 12), "verdict", json_string("noisy"));
    json_object_set_new(board_cell(board, 12), "since", json_string("2026-11-01"));
    char *page = page_of(root, board);
    const char *broken = strstr(page, "<a href=\"#cell-0-9\">v1 at 65536</a>"),
               *regressed = strstr(page, "<a href=\"#cell-0-7\">v1 at 16384</a>"),
               *undecided = strstr(page, "inconclusive, still open"),
               *others = strstr(page, "Inconclusive</h2>"), *cells = strstr(page, "<svg");
    assert_true(broken && regressed && undecided && others && cells);
    assert_true(broken < regressed && regressed < undecided && undecided < others && others < cells);
    holds(page, ", confirmed: &lt;code&gt;, since 2026-11-03");
    holds(page, "<a href=\"#cell-0-11\">v2 at 8192</a>");
    free(page);
    json_decref(board);
}

TEST(a_board_that_is_not_one_is_left_out)
{
    char root[FS_PATH_MAX];
    struct err err = {0};
    snprintf(root, sizeof root, "%s", in_scratch("forged"));
    assert_ok(fs_mkdir_p(in_scratch("forged/cells"), 0755, &err), &err);
    assert_ok(fs_write_file(in_scratch("forged/cells/a.json"), "[1, {", 5, 0644, &err), &err);
    const char odd[] = "{\"schema\": \"" BOARD_SCHEMA "\", \"ticket\": 1, \"nights\": 7, \"cells\": "
                       "[3, {\"variant\": [], \"values\": [1], \"at\": []}, {\"values\": {}, \"changes\": "
                       "[{\"at\": -5}], \"odd\": [null]}]}";
    assert_ok(fs_write_file(in_scratch("forged/cells/b.json"), odd, sizeof odd - 1, 0644, &err), &err);
    AUTO_FREE char *page = page_of(root, NULL);
    assert_null(strstr(page, "<svg"));
    holds(page, "<td class=\"plan\">attention</td>");
}

TEST(news_are_words)
{
    char text[64];
    notify_news_text(NEWS_INCONCLUSIVE, text);
    assert_string_equal(text, "inconclusive");
    notify_news_text(NEWS_REGRESSION | NEWS_FAILURE, text);
    assert_string_equal(text, "regression,failure");
    notify_news_text(0, text);
    assert_string_equal(text, "quiet");
}

/* Starts a process that has the lock of a plan for so long. */
static pid_t hold_lock(const char *db, const struct plan *plan, int ms)
{
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct nightly_lock l;
        if (nightly_lock_take(&l, db, plan, NULL) == 0 && write(ready[1], "x", 1) == 1)
            poll(NULL, 0, ms);
        _exit(0);
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return pid;
}

/* What a killed night started, such as its part on one of several nodes, ends a moment after it. */
TEST(a_night_waits_for_the_end_of_a_killed_one)
{
    struct err err = {0};
    struct nightly_lock l = {.fd = -1};
    struct plan plan = {.file = (char *)"/night.json", .settings = {.ticket = "night"}};
    const char *db = in_scratch("results.db");
    pid_t ending = hold_lock(db, &plan, 1000);
    assert_ok(nightly_lock_take(&l, db, &plan, &err), &err);
    nightly_lock_release(&l);
    waitpid(ending, NULL, 0);
    pid_t going_on = hold_lock(db, &plan, 60000);
    int64_t until_ns = clock_deadline_ns(30);
    assert_err(nightly_lock_take(&l, db, &plan, &err), &err, ERR_NODE, "is in progress: pid ", " on ");
    assert_true(clock_left_ms(until_ns) > 0);
    kill(going_on, SIGKILL);
    waitpid(going_on, NULL, 0);
}

GROUP(scratch_make, scratch_remove);
