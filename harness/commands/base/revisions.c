#include "harness/commands/base/revisions.h"

#include "common/base/alloc.h"

#include <string.h>

static json_t *encode_files(const struct run_revision *r)
{
    json_t *files = json_array();
    for (const char *at = r->dirty_files; *at;) {
        size_t len = strcspn(at, "\n");
        json_array_append_new(files, json_stringn(at, len));
        at += len + (at[len] == '\n');
    }
    return files;
}

json_t *revision_encode(const struct run_revision *r)
{
    if (!*r->commit)
        return json_null();
    return json_pack("{s:s, s:s, s:s, s:s, s:b, s:o}", "id", r->commit, "branch", r->branch, "subject",
                     r->subject, "authored_at", r->authored_at, "dirty", r->dirty, "dirty_files",
                     encode_files(r));
}

static json_t *encode_listed(const struct commit_range *r)
{
    json_t *list = json_array();
    for (size_t i = 0; i < r->n_listed; i++) {
        const struct listed_commit *c = &r->listed[i];
        json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s}", "id", c->id, "subject", c->subject,
                                              "author", c->author, "authored_at", c->authored_at));
    }
    return list;
}

json_t *range_encode(const struct commit_range *r)
{
    AUTO(buf_release) struct buf text = {.max = 1024};
    if (r->kind == RANGE_NONE)
        return json_null();
    range_phrase(r, REPORT_EN, &text);
    json_t *o = json_pack("{s:s, s:s, s:s, s:s, s:I, s:b, s:s, s:b, s:b, s:o}", "text", buf_str(&text),
                          "kind", range_kind_name(r->kind), "from", r->from.commit, "to", r->to.commit,
                          "count", (json_int_t)r->count, "exact", r->exact, "merge_base", r->base,
                          "from_dirty", r->from.dirty, "to_dirty", r->to.dirty, "commits", encode_listed(r));
    return o;
}

void range_or_commit(const struct commit_range *r, struct buf *out)
{
    if (r->kind == RANGE_NONE || r->kind == RANGE_SAME)
        buf_puts(out, commit_short(r->to.commit, r->to.dirty).s);
    else
        range_phrase(r, REPORT_EN, out);
}

void range_print_head(const struct commit_range *r, const char *word, struct buf *out)
{
    if (r->kind == RANGE_NONE)
        return;
    buf_printf(out, "%s: ", word);
    range_phrase(r, REPORT_EN, out);
    buf_putc(out, '\n');
}

void range_print(const struct commit_range *r, const char *word, struct buf *out)
{
    range_print_head(r, word, out);
    for (size_t i = 0; i < r->n_listed; i++)
        buf_printf(out, "    %s %s\n", commit_short(r->listed[i].id, false).s, r->listed[i].subject);
    if (r->count > r->n_listed)
        buf_printf(out, "    %zu more\n", r->count - r->n_listed);
}

void revision_print(const struct run_revision *r, struct buf *out)
{
    char files[RUN_FACT_MAX + 64];
    if (!*r->commit)
        return;
    buf_printf(out, "commit %.12s%s%s, %.10s: %s\n", r->commit, *r->branch ? " on " : "", r->branch,
               *r->authored_at ? r->authored_at : "date unknown", r->subject);
    dirty_phrase(r, files, sizeof files);
    if (r->dirty)
        buf_printf(out, "local changes in %s\n", *files ? files : "files that are not named");
}
