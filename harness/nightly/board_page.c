#include "harness/nightly/board_page.h"

#include "common/base/alloc.h"
#include "common/base/escape.h"
#include "common/base/json.h"
#include "common/base/text.h"
#include "harness/nightly/spark.h"
#include "harness/session/live.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PAGE_CELLS_MAX = 400, FINDINGS_MAX = 50, INCONCLUSIVE_MAX = 60, VALUE_MAX = 64 };

static void put_text(struct buf *out, const char *text)
{
    char visible[512];
    text_printable_fixed(visible, sizeof visible, text, strlen(text));
    escape_xml(out, visible);
}

/* Writes only the day of a date. */
static void put_day(struct buf *out, const char *date)
{
    char day[11];
    snprintf(day, sizeof day, "%.10s", date);
    put_text(out, day);
}

const char *board_news_class(const char *news)
{
    static const char *const bad[] = {"regress", "failure", "failing", "blocked", "broken", "missing"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (strstr(news, bad[i]))
            return "bad";
    if (strstr(news, "inconclusive") || strstr(news, "noisy") || strstr(news, "suspected"))
        return "warn";
    return strstr(news, "recovered") || strstr(news, "improved") || strstr(news, "fixed") ? "good" : "none";
}

/* The store's words are others. */
static const char *verdict_of(const json_t *cell)
{
    const char *verdict = json_text(cell, "verdict");
    if (strcmp(verdict, "failing") == 0)
        return "still failing";
    return strcmp(verdict, "noisy") == 0 ? "inconclusive" : verdict;
}

/* 0: the worst; FINDING_NONE: nothing is open. */
enum { FINDING_OPEN = 4, FINDING_NONE };

static int finding_rank(const json_t *cell)
{
    static const char *const order[FINDING_OPEN] = {"broken", "regressed", "missing", "failing"};
    for (int i = 0; i < FINDING_OPEN; i++)
        if (strcmp(json_text(cell, "verdict"), order[i]) == 0)
            return i;
    return *json_text(cell, "since") ? FINDING_OPEN : FINDING_NONE;
}

/* A change that rounds to 0 has no sign. */
static void put_percent(double ratio, struct buf *out)
{
    double percent = 100 * (ratio - 1);
    if (fabs(percent) < 0.05)
        buf_puts(out, "0.0 %");
    else
        buf_printf(out, "%+.1f %%", percent);
}

static void put_ratio(const json_t *cell, struct buf *out)
{
    const json_t *ratio = json_object_get(cell, "ratio");
    if (json_is_number(ratio))
        put_percent(json_number_value(ratio), out);
}

static void put_value(const json_t *board, double value, char out[VALUE_MAX])
{
    const char *unit = json_text(board, "unit");
    if (strcmp(unit, "s") == 0)
        live_duration(value, out, VALUE_MAX);
    else
        snprintf(out, VALUE_MAX, "%.4g%s%.24s", value, *unit ? " " : "", unit);
}

static void put_place(const json_t *board, struct buf *out)
{
    put_text(out, json_text(board, "ticket"));
    buf_puts(out, " on ");
    put_text(out, json_text(board, "node"));
    if (*json_text(board, "mode") && strcmp(json_text(board, "mode"), "perf") != 0) {
        buf_puts(out, " (");
        put_text(out, json_text(board, "mode"));
        buf_puts(out, ")");
    }
}

/* "v3 at 4096"; a plan without contexts has 0 for all. */
static void cell_name(const json_t *cell, char *out, size_t cap)
{
    json_int_t context = json_integer_value(json_object_get(cell, "context"));
    int n = snprintf(out, cap, "%.80s", json_text(cell, "variant"));
    if (context && n > 0 && (size_t)n < cap)
        snprintf(out + n, cap - (size_t)n, " at %lld", (long long)context);
}

static bool has_card(size_t at)
{
    return at < PAGE_CELLS_MAX;
}

static void put_cell_link(size_t board, size_t at, const json_t *cell, struct buf *out)
{
    char name[160];
    cell_name(cell, name, sizeof name);
    if (has_card(at))
        buf_printf(out, "<a href=\"#cell-%zu-%zu\">", board, at);
    put_text(out, name);
    buf_puts(out, has_card(at) ? "</a>" : "");
}

/* The day alone, where the newest night tells nothing of how the finding began. */
static void put_since(const json_t *cell, struct buf *out)
{
    const char *since = json_text(cell, "since"), *opened = json_text(cell, "opened");
    if (!*since && !*opened)
        return;
    buf_puts(out, *opened ? ", " : ", since ");
    if (*opened)
        put_text(out, opened);
    else
        put_day(out, since);
}

static void write_finding(const json_t *board, size_t b, const json_t *cell, size_t at, struct buf *out)
{
    const char *verdict = verdict_of(cell);
    bool decided = finding_rank(cell) < FINDING_OPEN;
    const char *class = decided ? "bad" : "warn";
    buf_printf(out, "<li class=\"%s\"><span class=\"news %s\">", class, class);
    put_text(out, *verdict ? verdict : "open");
    buf_puts(out, decided || !*verdict ? " " : ", still open ");
    if (decided)
        put_ratio(cell, out);
    buf_puts(out, "</span> <b>");
    put_cell_link(b, at, cell, out);
    buf_puts(out, "</b> <span class=\"place\">");
    put_place(board, out);
    put_text(out, json_text(cell, "note"));
    put_since(cell, out);
    buf_puts(out, "</span></li>\n");
}

size_t board_page_findings(const json_t *boards, struct buf *out)
{
    size_t found = 0, b, i;
    const json_t *board, *cell;
    for (int rank = 0; rank < FINDING_NONE; rank++)
        json_array_foreach(boards, b, board) json_array_foreach(json_object_get(board, "cells"), i, cell)
        {
            if (finding_rank(cell) != rank)
                continue;
            if (found == 0)
                buf_puts(out, "<ul class=\"findings\">\n");
            if (found++ < FINDINGS_MAX)
                write_finding(board, b, cell, i, out);
        }
    if (found > FINDINGS_MAX)
        buf_printf(out, "<li>and %zu more</li>\n", found - FINDINGS_MAX);
    buf_puts(out, found ? "</ul>\n" : "");
    return found;
}

void board_page_accepted(const json_t *boards, struct buf *out)
{
    size_t b, i, found = 0;
    const json_t *board, *cell;
    json_array_foreach(boards, b, board) json_array_foreach(json_object_get(board, "cells"), i, cell)
    {
        if (!*json_text(cell, "accepted") || found++ >= FINDINGS_MAX)
            continue;
        buf_puts(out, "<p class=\"place\"><b>");
        put_cell_link(b, i, cell, out);
        buf_puts(out, "</b> ");
        put_place(board, out);
        buf_puts(out, ": ");
        put_text(out, json_text(cell, "accepted"));
        buf_puts(out, "</p>\n");
    }
}

static bool is_suspected(const json_t *cell)
{
    return strcmp(json_text(cell, "verdict"), "suspected") == 0 && !*json_text(cell, "since");
}

static void write_suspect(const json_t *board, size_t b, const json_t *cell, size_t at, struct buf *out)
{
    const char *gone = json_text(cell, "gone");
    buf_printf(out, "<li class=\"%s\"><span class=\"news %s\">%s ", *gone ? "" : "warn",
               *gone ? "none" : "warn", *gone ? "gone" : "suspected");
    if (!*gone)
        put_ratio(cell, out);
    buf_puts(out, "</span> <b>");
    put_cell_link(b, at, cell, out);
    buf_puts(out, "</b> <span class=\"place\">");
    put_place(board, out);
    buf_puts(out, *gone ? ", suspected on " : "; ");
    put_text(out, *gone ? gone : json_text(cell, "settles"));
    buf_puts(out, "</span></li>\n");
}

void board_page_suspects(const json_t *boards, struct buf *out)
{
    size_t b, i, found = 0;
    const json_t *board, *cell;
    json_array_foreach(boards, b, board) json_array_foreach(json_object_get(board, "cells"), i, cell)
    {
        if (!is_suspected(cell) && !*json_text(cell, "gone"))
            continue;
        if (found == 0)
            buf_puts(out,
                     "<h2 id=\"suspects\">Suspected, so far on one night</h2>\n<ul class=\"findings\">\n");
        if (found++ < FINDINGS_MAX)
            write_suspect(board, b, cell, i, out);
    }
    if (found > FINDINGS_MAX)
        buf_printf(out, "<li>and %zu more</li>\n", found - FINDINGS_MAX);
    buf_puts(out, found ? "</ul>\n" : "");
}

static bool is_inconclusive(const json_t *cell)
{
    return strcmp(json_text(cell, "verdict"), "noisy") == 0 && !*json_text(cell, "since");
}

static void write_inconclusive(const json_t *board, size_t b, struct buf *out)
{
    size_t i, found = 0;
    const json_t *cell;
    json_array_foreach(json_object_get(board, "cells"), i, cell)
    {
        if (!is_inconclusive(cell))
            continue;
        if (found == 0) {
            buf_puts(out, "<p><b>");
            put_place(board, out);
            buf_puts(out, "</b>: ");
        }
        if (found++ < INCONCLUSIVE_MAX) {
            buf_puts(out, found > 1 ? ", " : "");
            put_cell_link(b, i, cell, out);
        }
    }
    if (found > INCONCLUSIVE_MAX)
        buf_printf(out, " and %zu more", found - INCONCLUSIVE_MAX);
    if (found)
        buf_printf(out, " <span class=\"place\">(%zu of %zu cells)</span></p>\n", found,
                   json_array_size(json_object_get(board, "cells")));
}

void board_page_inconclusive(const json_t *boards, struct buf *out)
{
    size_t b, i;
    const json_t *board, *cell;
    bool any = false;
    json_array_foreach(boards, b, board) json_array_foreach(json_object_get(board, "cells"), i, cell) any =
        any || is_inconclusive(cell);
    if (!any)
        return;
    buf_puts(out, "<h2 id=\"inconclusive\">Inconclusive</h2>\n");
    json_array_foreach(boards, b, board) write_inconclusive(board, b, out);
}

static const char *night_text(const json_t *board, json_int_t night, const char *key)
{
    return night < 0 ? "" : json_text(json_array_get(json_object_get(board, "nights"), (size_t)night), key);
}

static const char *date_of(const json_t *board, json_int_t night)
{
    return night_text(board, night, "date");
}

/* Describes the line for people who cannot see it, and as a tooltip. spark_write() escapes it. */
static void describe(const json_t *board, const json_t *cell, const char *name, struct buf *out)
{
    const json_t *values = json_object_get(cell, "values"), *changes = json_object_get(cell, "changes");
    size_t i, n = json_array_size(values);
    double low = INFINITY, high = -INFINITY;
    char from[VALUE_MAX], to[VALUE_MAX];
    const json_t *change;
    for (i = 0; i < n; i++) {
        double value = json_number_value(json_array_get(values, i));
        low = fmin(low, value);
        high = fmax(high, value);
    }
    put_value(board, low, from);
    put_value(board, high, to);
    buf_printf(out, "%s: %zu %s, %s to %s", name, n, n == 1 ? "night" : "nights", from, to);
    json_array_foreach(changes, i, change)
        buf_printf(out, "; %s %+.1f %% on %.10s",
                   json_is_true(json_object_get(change, "device")) ? "another GPU," : "changed by",
                   100 * (json_number_value(json_object_get(change, "ratio")) - 1),
                   date_of(board, json_integer_value(json_object_get(change, "at"))));
}

static void write_verdict(const json_t *cell, struct buf *out)
{
    buf_printf(out, " <span class=\"news %s\">", board_news_class(verdict_of(cell)));
    if (strcmp(verdict_of(cell), "unchanged") != 0) {
        put_text(out, verdict_of(cell));
        buf_putc(out, ' ');
    }
    put_ratio(cell, out);
    buf_puts(out, "</span>");
}

static void write_numbers(const json_t *board, const json_t *cell, struct buf *out)
{
    const json_t *values = json_object_get(cell, "values");
    size_t n = json_array_size(values);
    char value[VALUE_MAX];
    buf_puts(out, "<p class=\"numbers\">");
    if (n) {
        put_value(board, json_number_value(json_array_get(values, n - 1)), value);
        put_text(out, value);
    } else if (!*verdict_of(cell))
        buf_puts(out, "no nights");
    if (*verdict_of(cell))
        write_verdict(cell, out);
    buf_puts(out, "</p>");
}

static void write_last_change(const json_t *board, const json_t *cell, struct buf *out)
{
    const json_t *changes = json_object_get(cell, "changes");
    size_t n = json_array_size(changes);
    if (n == 0)
        return;
    const json_t *last = json_array_get(changes, n - 1);
    json_int_t night = json_integer_value(json_object_get(last, "at"));
    const char *commit = night_text(board, night, "commit");
    buf_puts(out, "<p class=\"place\">level ");
    put_percent(json_number_value(json_object_get(last, "ratio")), out);
    buf_puts(out, " on <span class=\"date\">");
    put_day(out, date_of(board, night));
    buf_puts(out, "</span>");
    if (*commit) {
        buf_puts(out, " at ");
        put_text(out, commit);
    }
    buf_puts(out, "</p>");
}

static void write_card(const json_t *board, size_t b, const json_t *cell, size_t at, struct buf *out)
{
    char name[160];
    cell_name(cell, name, sizeof name);
    AUTO(buf_release) struct buf label = {.max = 8192};
    describe(board, cell, name, &label);
    buf_printf(out, "<li id=\"cell-%zu-%zu\" class=\"cell %s\"><p class=\"name\">", b, at,
               finding_rank(cell) < FINDING_NONE ? "bad" : board_news_class(verdict_of(cell)));
    put_text(out, name);
    buf_puts(out, "</p>");
    spark_write(cell, json_array_size(json_object_get(board, "nights")), buf_str(&label), out);
    write_numbers(board, cell, out);
    write_last_change(board, cell, out);
    buf_puts(out, "</li>\n");
}

static void write_span(const json_t *board, struct buf *out)
{
    const json_t *nights = json_object_get(board, "nights");
    size_t n = json_array_size(nights);
    buf_puts(out, "<p class=\"note\">");
    put_text(out, json_text(board, "metric"));
    buf_printf(out, ", %s is better; %zu %s",
               json_is_true(json_object_get(board, "more_is_better")) ? "higher" : "lower", n,
               n == 1 ? "night" : "nights");
    if (n) {
        buf_puts(out, ", ");
        put_day(out, date_of(board, 0));
        buf_puts(out, " to ");
        put_day(out, date_of(board, (json_int_t)n - 1));
    }
    buf_puts(out, ". A dashed line is a change of level, a ring a single night set aside.</p>\n");
}

void board_page_cells(const json_t *boards, struct buf *out)
{
    size_t b, i;
    const json_t *board, *cell;
    json_array_foreach(boards, b, board)
    {
        const json_t *cells = json_object_get(board, "cells");
        size_t n = json_array_size(cells);
        buf_printf(out, "<h2 id=\"plan-%zu\">", b);
        put_place(board, out);
        buf_puts(out, "</h2>\n");
        write_span(board, out);
        buf_puts(out, "<ul class=\"cells\">\n");
        json_array_foreach(cells, i, cell) if (has_card(i)) write_card(board, b, cell, i, out);
        buf_puts(out, "</ul>\n");
        if (n > PAGE_CELLS_MAX)
            buf_printf(out, "<p class=\"note\">%zu more cells have no graph here.</p>\n", n - PAGE_CELLS_MAX);
    }
}
