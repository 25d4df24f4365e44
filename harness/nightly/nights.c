#include "harness/nightly/nights.h"

#include "common/base/alloc.h"
#include "common/base/json.h"
#include "common/base/text.h"
#include "reports/render/html.h"
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

static void write_row(struct md *w, const struct entry *e, const char *page)
{
    const json_t *s = e->summary;
    char href[FS_PATH_MAX + 16];
    for (size_t k = 0; k < sizeof shown / sizeof *shown; k++) {
        buf_puts(w->out, "| ");
        md_text(w, text_of(s, shown[k]));
        buf_putc(w->out, ' ');
    }
    buf_puts(w->out, "| ");
    snprintf(href, sizeof href, "%s/%s", e->path, page);
    if (json_is_true(json_object_get(s, "has_report")))
        md_link(w, "report", href);
    else
        md_text(w, "none");
    buf_puts(w->out, " |\n");
}

/* page: the file to link to in each folder, "report.md" or "report.html". */
static void write_index(const struct index *x, const char *page, struct buf *out)
{
    struct md w = {.out = out, .lang = REPORT_EN};
    md_title(&w, 1, "Nightly runs");
    buf_puts(out,
             "| Started | Plan | Node | News | Summary | Report |\n| --- | --- | --- | --- | --- | --- |\n");
    for (size_t i = 0; i < x->count; i++)
        write_row(&w, &x->items[i], page);
}

static int write_pages(const struct index *x, const char *root, struct err *err)
{
    char md[FS_PATH_MAX], html[FS_PATH_MAX];
    struct buf text, links, page;
    struct figure_set no_figures = {0};
    buf_init(&text, page_max);
    buf_init(&links, page_max);
    buf_init(&page, page_max);
    write_index(x, "report.md", &text);
    write_index(x, "report.html", &links);
    int rc = fs_join(md, err, root, "index.md") || fs_join(html, err, root, "index.html") ? -1 : 0;
    if (rc == 0)
        rc = html_render(&links, &no_figures, REPORT_EN, "kernsweep nightly runs", &page, err);
    if (rc == 0 && (!buf_ok(&text) || !buf_ok(&page)))
        rc = err_set(err, ERR_INTERNAL, "%s: no memory for the index", root);
    if (rc == 0)
        rc = fs_write_file(md, buf_str(&text), text.len, 0644, err) ||
                     fs_write_file(html, buf_str(&page), page.len, 0644, err)
                 ? -1
                 : 0;
    buf_release(&text);
    buf_release(&links);
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
