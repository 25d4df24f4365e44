#include "harness/nightly/nights.h"

#include "common/base/alloc.h"
#include "common/base/escape.h"
#include "common/base/json.h"
#include "common/base/text.h"
#include "reports/render/html_page.h"
#include "reports/render/markdown.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const size_t page_max = 64u << 20;

int nights_open(struct night *n, const char *root, const char *date, const char *name, struct err *err)
{
    char day[FS_PATH_MAX];
    if (fs_join(day, err, root, date) != 0 || fs_join(n->dir, err, day, name) != 0 ||
        fs_join(n->markdown, err, n->dir, "report.md") != 0 ||
        fs_join(n->html, err, n->dir, "report.html") != 0)
        return -1;
    return fs_mkdir_p(n->dir, 0755, err);
}

/* Keys of the summary that the index shows, in this order, besides whether there is a report. */
static const char *const shown[] = {"night", "ticket", "node", "news", "headline"};

struct entry {
    char *path;      /* of the run's folder below root */
    json_t *summary; /* only what is shown: there may be years of nightly runs */
};

struct index {
    struct entry *items;
    size_t count, room;
};

static json_t *only_shown(const json_t *whole)
{
    json_t *out = json_object();
    for (size_t k = 0; k < sizeof shown / sizeof *shown; k++)
        json_object_set(out, shown[k], json_object_get(whole, shown[k]));
    json_object_set(out, "has_report", json_object_get(whole, "has_report"));
    return out;
}

static int collect_night(const char *rel, const char *full, void *arg, struct err *err)
{
    struct index *x = arg;
    const char *base = strrchr(rel, '/');
    if (!base || strcmp(base + 1, "summary.json") != 0)
        return 0;
    if (!ALLOC_GROW(x->items, x->count + 1, x->room))
        return err_set(err, ERR_INTERNAL, "%s: no memory for the index", full);
    struct entry *e = &x->items[x->count];
    json_t *whole = json_load(full, 1 << 20, err);
    if (!whole)
        return -1;
    if (!json_object_get(whole, "night")) { /* that of a bundle, if both are kept in one folder */
        json_decref(whole);
        return 0;
    }
    *e = (struct entry){.path = strndup(rel, (size_t)(base - rel)), .summary = only_shown(whole)};
    x->count++;
    json_decref(whole);
    return e->path && e->summary ? 0 : err_set(err, ERR_INTERNAL, "%s: no memory for the index", full);
}

static const char *text_of(const json_t *obj, const char *key)
{
    const char *s = json_string_value(json_object_get(obj, key));
    return s ? s : "";
}

static int by_start(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    int order = strcmp(text_of(y->summary, "night"), text_of(x->summary, "night"));
    return order ? order : strcmp(y->path, x->path);
}

/* "2026-11-21 12:19" of an ISO 8601 time. */
static void short_time(const char *iso, char *out, size_t size)
{
    if (strlen(iso) >= 16 && iso[10] == 'T')
        snprintf(out, size, "%.10s %.5s", iso, iso + 11);
    else
        snprintf(out, size, "%.40s", iso);
}

static bool link_to(const struct entry *e, const char *page, char *out, size_t size)
{
    snprintf(out, size, "%s/%s", e->path, page);
    return json_is_true(json_object_get(e->summary, "has_report"));
}

static void write_row(struct md *w, const struct entry *e)
{
    const json_t *s = e->summary;
    char href[FS_PATH_MAX + 16], when[64];
    short_time(text_of(s, "night"), when, sizeof when);
    for (size_t k = 0; k < sizeof shown / sizeof *shown; k++) {
        buf_puts(w->out, "| ");
        md_text(w, k == 0 ? when : text_of(s, shown[k]));
        buf_putc(w->out, ' ');
    }
    buf_puts(w->out, "| ");
    if (link_to(e, "report.md", href, sizeof href))
        md_link(w, "report", href);
    else
        md_text(w, "none");
    buf_puts(w->out, " |\n");
}

static void write_markdown(const struct index *x, struct buf *out)
{
    struct md w = {.out = out, .lang = REPORT_EN};
    md_title(&w, 1, "Nightly runs");
    buf_puts(out,
             "| Started (UTC) | Plan | Node | News | Summary | Report |\n| --- | --- | --- | --- | --- | --- "
             "|\n");
    for (size_t i = 0; i < x->count; i++)
        write_row(&w, &x->items[i]);
}

/* The colour of the news: the worst of its words. */
static const char *news_class(const char *news)
{
    if (strstr(news, "regression") || strstr(news, "failure") || strstr(news, "blocked"))
        return "bad";
    if (strstr(news, "inconclusive"))
        return "warn";
    return strstr(news, "recovered") ? "good" : "none";
}

static void write_cell(struct buf *out, const char *class, const char *text)
{
    char visible[1024];
    text_printable_fixed(visible, sizeof visible, text, strlen(text));
    buf_printf(out, "<td class=\"%s\">", class);
    escape_xml(out, visible);
    buf_puts(out, "</td>");
}

static void write_page_row(const struct entry *e, struct buf *out)
{
    const json_t *s = e->summary;
    const char *news = text_of(s, "news");
    char href[FS_PATH_MAX + 16], when[64];
    short_time(text_of(s, "night"), when, sizeof when);
    buf_puts(out, "<tr>");
    write_cell(out, "when", when);
    write_cell(out, "plan", text_of(s, "ticket"));
    write_cell(out, "node", text_of(s, "node"));
    buf_printf(out, "<td><span class=\"news %s\">", news_class(news));
    escape_xml(out, news);
    buf_puts(out, "</span></td>");
    write_cell(out, "headline", text_of(s, "headline"));
    if (link_to(e, "report.html", href, sizeof href)) {
        buf_puts(out, "<td class=\"link\"><a href=\"./");
        escape_xml(out, href);
        buf_puts(out, "\">report</a></td>");
    } else
        buf_puts(out, "<td class=\"link\">none</td>");
    buf_puts(out, "</tr>\n");
}

static void write_page(const struct index *x, struct buf *out)
{
    html_page_begin(out, REPORT_EN, "kernsweep nightly runs");
    buf_puts(out, "<main id=\"content\">\n<h1>Nightly runs</h1>\n"
                  "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"Nightly runs\">\n"
                  "<table class=\"nights\">\n<thead><tr><th>Started (UTC)</th><th>Plan</th><th>Node</th>"
                  "<th>News</th><th>Summary</th><th>Report</th></tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < x->count; i++)
        write_page_row(&x->items[i], out);
    buf_puts(out, "</tbody>\n</table>\n</div>\n</main>\n");
    html_page_end(out);
}

static int write_pages(const struct index *x, const char *root, struct err *err)
{
    char md[FS_PATH_MAX], html[FS_PATH_MAX];
    struct buf text, page;
    buf_init(&text, page_max);
    buf_init(&page, page_max);
    write_markdown(x, &text);
    write_page(x, &page);
    int rc = fs_join(md, err, root, "index.md") || fs_join(html, err, root, "index.html") ? -1 : 0;
    if (rc == 0 && (!buf_ok(&text) || !buf_ok(&page)))
        rc = err_set(err, ERR_INTERNAL, "%s: no memory for the index", root);
    if (rc == 0)
        rc = fs_write_file(md, buf_str(&text), text.len, 0644, err) ||
                     fs_write_file(html, buf_str(&page), page.len, 0644, err)
                 ? -1
                 : 0;
    buf_release(&text);
    buf_release(&page);
    return rc;
}

int nights_close(const struct night *n, const char *root, const json_t *summary, struct err *err)
{
    char path[FS_PATH_MAX];
    struct index x = {0};
    if (fs_join(path, err, n->dir, "summary.json") != 0 || json_save(path, summary, err) != 0)
        return -1;
    int rc = fs_walk(root, true, collect_night, &x, err);
    if (rc == 0) {
        qsort(x.items, x.count, sizeof *x.items, by_start);
        rc = write_pages(&x, root, err);
    }
    for (size_t i = 0; i < x.count; i++) {
        json_decref(x.items[i].summary);
        free(x.items[i].path);
    }
    free(x.items);
    return rc;
}
