#include "harness/nightly/nights_page.h"

#include "common/base/escape.h"
#include "common/base/json.h"
#include "common/base/text.h"
#include "harness/nightly/board_page.h"
#include "reports/render/html_page.h"

#include <stdio.h>
#include <string.h>

/* index.md has every night; a page of years of them would only be slow. */
enum { PAGE_NIGHTS_MAX = 200, NIGHTS_WITH_SUBJECTS = 14, SUBJECTS_MAX = 4, COMMIT_LEN = 10 };

void nights_short_time(const char *iso, char *out, size_t size)
{
    if (strlen(iso) >= 16 && iso[10] == 'T')
        snprintf(out, size, "%.10s %.5s", iso, iso + 11);
    else
        snprintf(out, size, "%.40s", iso);
}

static void put_text(struct buf *out, const char *text)
{
    char visible[1024];
    text_printable_fixed(visible, sizeof visible, text, strlen(text));
    escape_xml(out, visible);
}

static void write_cell(struct buf *out, const char *class, const char *text)
{
    buf_printf(out, "<td class=\"%s\">", class);
    put_text(out, text);
    buf_puts(out, "</td>");
}

static void write_link(const struct nights_entry *e, struct buf *out)
{
    if (!json_is_true(json_object_get(e->summary, "has_report"))) {
        buf_puts(out, "none");
        return;
    }
    buf_puts(out, "<a href=\"./");
    escape_xml(out, e->path);
    buf_puts(out, "/report.html\">report</a>");
}

static void write_news(struct buf *out, const char *news)
{
    buf_printf(out, "<span class=\"news %s\">", board_news_class(news));
    put_text(out, news);
    buf_puts(out, "</span>");
}

/* git lists the newest commit first. */
static void write_subjects(const json_t *commits, struct buf *out)
{
    const json_t *list = json_object_get(commits, "commits");
    size_t n = json_array_size(list);
    if (n == 0)
        return;
    buf_puts(out, "<ul class=\"subjects\">");
    for (size_t i = 0; i < n && i < SUBJECTS_MAX; i++) {
        buf_puts(out, "<li>");
        put_text(out, json_text(json_array_get(list, i), "subject"));
        buf_puts(out, "</li>");
    }
    if (n > SUBJECTS_MAX)
        buf_printf(out, "<li>and %zu more</li>", n - SUBJECTS_MAX);
    buf_puts(out, "</ul>");
}

static void write_commits(const json_t *summary, bool subjects, struct buf *out)
{
    const json_t *commits = json_object_get(summary, "commits");
    char id[COMMIT_LEN + 1];
    buf_puts(out, "<td class=\"commits\">");
    if (json_is_object(commits)) {
        put_text(out, json_text(commits, "text"));
        if (subjects)
            write_subjects(commits, out);
    } else {
        snprintf(id, sizeof id, "%s", json_text(json_object_get(summary, "commit"), "id"));
        put_text(out, id);
    }
    buf_puts(out, "</td>");
}

static void write_row(const struct nights_entry *e, bool subjects, struct buf *out)
{
    char when[64];
    nights_short_time(json_text(e->summary, "night"), when, sizeof when);
    buf_puts(out, "<tr>");
    write_cell(out, "when", when);
    write_cell(out, "plan", json_text(e->summary, "ticket"));
    write_cell(out, "node", json_text(e->summary, "node"));
    buf_puts(out, "<td>");
    write_news(out, json_text(e->summary, "news"));
    buf_puts(out, "</td>");
    write_cell(out, "headline", json_text(e->summary, "headline"));
    write_commits(e->summary, subjects, out);
    buf_puts(out, "<td class=\"link\">");
    write_link(e, out);
    buf_puts(out, "</td></tr>\n");
}

static void write_nights(const struct nights_index *x, struct buf *out)
{
    size_t shown = x->count < PAGE_NIGHTS_MAX ? x->count : PAGE_NIGHTS_MAX;
    buf_puts(out, "<h2 id=\"nights\">Nights</h2>\n"
                  "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"Nightly runs\">\n"
                  "<table class=\"nights\">\n<thead><tr><th>Started (UTC)</th><th>Plan</th><th>Node</th>"
                  "<th>News</th><th>Summary</th><th>Commits</th><th>Report</th></tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < shown; i++)
        write_row(&x->items[i], i < NIGHTS_WITH_SUBJECTS, out);
    buf_puts(out, "</tbody>\n</table>\n</div>\n");
    if (shown < x->count)
        buf_printf(out,
                   "<p class=\"note\">%zu older nights are in <a href=\"./index.md\">index.md</a>.</p>\n",
                   x->count - shown);
}

static bool same_plan(const struct nights_entry *a, const struct nights_entry *b)
{
    return strcmp(json_text(a->summary, "ticket"), json_text(b->summary, "ticket")) == 0 &&
           strcmp(json_text(a->summary, "node"), json_text(b->summary, "node")) == 0;
}

/* Entries are newest first: the first of a plan is its last night. */
static bool is_last_night(const struct nights_index *x, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (same_plan(&x->items[k], &x->items[i]))
            return false;
    return true;
}

/* Lists what a board cannot say: that the last night was blocked, or that its tests failed. */
static size_t write_bad_nights(const struct nights_index *x, struct buf *out)
{
    size_t found = 0;
    for (size_t i = 0; i < x->count && i < PAGE_NIGHTS_MAX; i++) {
        const json_t *s = x->items[i].summary;
        if (strcmp(board_news_class(json_text(s, "news")), "bad") != 0 || !is_last_night(x, i))
            continue;
        buf_puts(out, found++ ? "<li class=\"bad\">" : "<ul class=\"findings\">\n<li class=\"bad\">");
        write_news(out, json_text(s, "news"));
        buf_puts(out, " <b>");
        put_text(out, json_text(s, "ticket"));
        buf_puts(out, " on ");
        put_text(out, json_text(s, "node"));
        buf_puts(out, "</b>: ");
        put_text(out, json_text(s, "headline"));
        buf_puts(out, " (");
        write_link(&x->items[i], out);
        buf_puts(out, ")</li>\n");
    }
    buf_puts(out, found ? "</ul>\n" : "");
    return found;
}

static void write_state(const struct nights_index *x, struct buf *out)
{
    buf_puts(out, "<h2 id=\"findings\">Open findings</h2>\n");
    size_t found = write_bad_nights(x, out);
    found += board_page_findings(x->boards, out);
    if (found == 0)
        buf_puts(out, "<p class=\"none\">None.</p>\n");
    board_page_accepted(x->boards, out);
    board_page_suspects(x->boards, out);
    board_page_inconclusive(x->boards, out);
}

void nights_page_write(const struct nights_index *x, struct buf *out)
{
    html_page_begin(out, REPORT_EN, "kernsweep nightly runs");
    buf_puts(out, "<main id=\"content\" class=\"board\">\n<h1>Nightly runs</h1>\n");
    write_state(x, out);
    board_page_cells(x->boards, out);
    write_nights(x, out);
    buf_puts(out, "</main>\n");
    html_page_end(out);
}
