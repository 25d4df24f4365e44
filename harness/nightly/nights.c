#include "harness/nightly/nights.h"

#include "common/base/alloc.h"
#include "common/base/json.h"
#include "harness/nightly/board.h"
#include "harness/nightly/nights_page.h"
#include "reports/render/markdown.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const size_t page_max = 64u << 20, board_max = 16u << 20;

int nights_open(struct night *n, const char *root, const char *date, const char *name, struct err *err)
{
    char day[FS_PATH_MAX];
    if (fs_join(day, err, root, date) != 0 || fs_join(n->dir, err, day, name) != 0 ||
        fs_join(n->markdown, err, n->dir, "report.md") != 0 ||
        fs_join(n->html, err, n->dir, "report.html") != 0)
        return -1;
    return fs_mkdir_p(n->dir, 0755, err);
}

/* Keys of the summary that index.md shows, in this order, besides whether there is a report. */
static const char *const shown[] = {"night", "ticket", "node", "news", "headline"};

static json_t *only_shown(const json_t *whole)
{
    json_t *out = json_object();
    for (size_t k = 0; k < sizeof shown / sizeof *shown; k++)
        json_object_set(out, shown[k], json_object_get(whole, shown[k]));
    json_object_set(out, "has_report", json_object_get(whole, "has_report"));
    json_object_set(out, "commit", json_object_get(whole, "commit"));
    const json_t *night = json_object_get(whole, "commits_of_night");
    json_object_set(out, "commits",
                    json_is_object(night) ? (json_t *)night : json_object_get(whole, "commits"));
    return out;
}

/* A board that cannot be read is left out: the next nightly run of its plan writes it anew. */
static void collect_board(struct nights_index *x, const char *full)
{
    struct err unreadable = {0};
    json_auto_t *board = json_load(full, board_max, &unreadable);
    if (strcmp(json_text(board, "schema"), BOARD_SCHEMA) == 0)
        json_array_append(x->boards, board);
}

static int collect_night(const char *rel, const char *full, void *arg, struct err *err)
{
    struct nights_index *x = arg;
    const char *base = strrchr(rel, '/');
    if (base && strncmp(rel, BOARD_FOLDER "/", sizeof BOARD_FOLDER) == 0) {
        collect_board(x, full);
        return 0;
    }
    if (!base || strcmp(base + 1, "summary.json") != 0)
        return 0;
    json_auto_t *whole = json_load(full, 1 << 20, err);
    if (!whole)
        return -1;
    if (!json_object_get(whole, "night")) /* that of a bundle, if both are kept in one folder */
        return 0;
    ALLOC_GROW(x->items, x->count + 1, x->room);
    x->items[x->count++] =
        (struct nights_entry){.path = xstrndup(rel, (size_t)(base - rel)), .summary = only_shown(whole)};
    return 0;
}

static int by_start(const void *a, const void *b)
{
    const struct nights_entry *x = a, *y = b;
    int order = strcmp(json_text(y->summary, "night"), json_text(x->summary, "night"));
    return order ? order : strcmp(y->path, x->path);
}

static bool link_to(const struct nights_entry *e, const char *page, char *out, size_t size)
{
    snprintf(out, size, "%s/%s", e->path, page);
    return json_is_true(json_object_get(e->summary, "has_report"));
}

static void write_row(struct md *w, const struct nights_entry *e)
{
    const json_t *s = e->summary;
    char href[FS_PATH_MAX + 16], when[64];
    nights_short_time(json_text(s, "night"), when, sizeof when);
    for (size_t k = 0; k < sizeof shown / sizeof *shown; k++) {
        buf_puts(w->out, "| ");
        md_text(w, k == 0 ? when : json_text(s, shown[k]));
        buf_putc(w->out, ' ');
    }
    buf_puts(w->out, "| ");
    if (link_to(e, "report.md", href, sizeof href))
        md_link(w, "report", href);
    else
        md_text(w, "none");
    buf_puts(w->out, " |\n");
}

static void write_markdown(const struct nights_index *x, struct buf *out)
{
    struct md w = {.out = out, .lang = REPORT_EN};
    md_title(&w, 1, "Nightly runs");
    buf_puts(out,
             "| Started (UTC) | Plan | Node | News | Summary | Report |\n| --- | --- | --- | --- | --- | --- "
             "|\n");
    for (size_t i = 0; i < x->count; i++)
        write_row(&w, &x->items[i]);
}

static int write_pages(const struct nights_index *x, const char *root, struct err *err)
{
    char md[FS_PATH_MAX], html[FS_PATH_MAX];
    AUTO(buf_release) struct buf text = {.max = page_max};
    AUTO(buf_release) struct buf page = {.max = page_max};
    write_markdown(x, &text);
    nights_page_write(x, &page);
    if (fs_join(md, err, root, "index.md") != 0 || fs_join(html, err, root, "index.html") != 0)
        return -1;
    if (!buf_ok(&text) || !buf_ok(&page))
        return err_set(err, ERR_INTERNAL, "%s: the index is too long", root);
    return fs_write_file(md, buf_str(&text), text.len, 0644, err) != 0
               ? -1
               : fs_write_file(html, buf_str(&page), page.len, 0644, err);
}

static void release(struct nights_index *x)
{
    for (size_t i = 0; i < x->count; i++) {
        json_decref(x->items[i].summary);
        free(x->items[i].path);
    }
    free(x->items);
    json_decref(x->boards);
}

int nights_close(const struct night *n, const char *root, const json_t *summary, const json_t *board,
                 struct err *err)
{
    char path[FS_PATH_MAX];
    AUTO(release) struct nights_index x = {.boards = json_array()};
    if (fs_join(path, err, n->dir, "summary.json") != 0 || json_save(path, summary, err) != 0 ||
        (board && board_save(root, board, err) != 0) || fs_walk(root, true, collect_night, &x, err) != 0)
        return -1;
    if (x.count > 0)
        qsort(x.items, x.count, sizeof *x.items, by_start);
    return write_pages(&x, root, err);
}
