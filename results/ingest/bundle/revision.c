#include "results/ingest/bundle/revision.h"

#include "common/base/alloc.h"
#include "common/base/text.h"
#include "results/ingest/bundle/artifact.h"
#include "results/store/when.h"

#include <stdio.h>
#include <string.h>

static int read_id(const struct json_at *at, const char *key, char out[COMMIT_ID_MAX], struct err *err)
{
    if (artifact_text(at, key, out, COMMIT_ID_MAX, err) != 0)
        return -1;
    return commit_is_id(out) ? 0 : json_fail(at, err, "\"%s\" is not the id of a commit", key);
}

/* Text of a repository, safe to print wherever it is shown. */
static int read_text(const struct json_at *at, const char *key, char *out, size_t size, struct err *err)
{
    const char *text = "";
    if (json_get_str_def(at, key, &text, err) != 0)
        return -1;
    text_printable_fixed(out, size, text, strlen(text));
    return 0;
}

/* "" for a time that is not one. */
static int read_time(const struct json_at *at, char out[CLOCK_ISO_LEN + 1], struct err *err)
{
    if (artifact_text(at, "authored_at", out, CLOCK_ISO_LEN + 1, err) != 0)
        return -1;
    if (when_parse(out) == WHEN_UNKNOWN)
        *out = '\0';
    return 0;
}

/* Whole lines only; where some do not fit, the last line is "...". */
static void add_file(char *list, size_t size, const char *path, bool last)
{
    static const char more[] = "\n...";
    size_t used = strlen(list), need = strlen(path) + (used > 0) + (last ? 0 : sizeof more);
    if (used >= 3 && strcmp(list + used - 3, "...") == 0)
        return;
    bool fits = used + need < size;
    snprintf(list + used, size - used, "%s%s", used ? "\n" : "", fits ? path : "...");
}

static int read_files(const struct json_at *at, struct run_revision *r, struct err *err)
{
    struct json_at files = json_member(at, "dirty_files");
    size_t n = json_array_size(files.value);
    int64_t count = (int64_t)n;
    if (json_get_bool_def(at, "dirty", &r->dirty, err) != 0 ||
        json_get_int_def(at, "dirty_count", 0, INT32_MAX, &count, err) != 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        const char *path = json_string_value(json_array_get(files.value, i));
        char clean[RUN_FACT_MAX] = "...";
        if (path)
            text_printable_fixed(clean, sizeof clean, path, strlen(path));
        add_file(r->dirty_files, sizeof r->dirty_files, clean, (int64_t)i + 1 == count);
    }
    if (count > (int64_t)n)
        add_file(r->dirty_files, sizeof r->dirty_files, "...", true);
    return 0;
}

static int read_parents(const struct json_at *at, struct commit *c, struct err *err)
{
    struct json_at parents = json_member(at, "parents");
    size_t used = 0;
    if (json_array_size(parents.value) > COMMIT_PARENTS_MAX)
        return json_fail(&parents, err, "more than %d parents", COMMIT_PARENTS_MAX);
    for (size_t i = 0; i < json_array_size(parents.value); i++) {
        const char *id = json_string_value(json_array_get(parents.value, i));
        if (!id || !commit_is_id(id))
            return json_fail(&parents, err, "expected ids of commits");
        used += (size_t)snprintf(c->parents + used, sizeof c->parents - used, "%s%s", i ? " " : "", id);
    }
    return 0;
}

static int read_commit(const struct json_at *at, struct commit_list *log, struct err *err)
{
    ALLOC_GROW(log->items, log->count + 1, log->cap);
    struct commit *c = &log->items[log->count];
    *c = (struct commit){0};
    if (read_id(at, "id", c->id, err) != 0 || read_parents(at, c, err) != 0 ||
        read_text(at, "subject", c->subject, sizeof c->subject, err) != 0 ||
        read_text(at, "author", c->author, sizeof c->author, err) != 0 ||
        read_time(at, c->authored_at, err) != 0)
        return -1;
    log->count++;
    return 0;
}

static int read_log(const struct json_at *at, struct draft *d, struct err *err)
{
    struct json_at log = json_member(at, "log");
    size_t n = json_array_size(log.value);
    for (size_t i = 0; i < n && i < COMMIT_LOG_MAX; i++) {
        struct json_at commit = json_element(&log, i);
        if (read_commit(&commit, &d->commits, err) != 0 && draft_leave_out(d, err) != 0)
            return -1;
    }
    return 0;
}

static int read_head(const struct json_at *at, struct run_revision *r, struct err *err)
{
    return read_id(at, "commit", r->commit, err) != 0 ||
                   read_text(at, "branch", r->branch, sizeof r->branch, err) != 0 ||
                   read_text(at, "subject", r->subject, sizeof r->subject, err) != 0 ||
                   read_time(at, r->authored_at, err) != 0 || read_files(at, r, err) != 0
               ? -1
               : 0;
}

int revision_read_job(const struct json_at *at, struct draft *d, struct err *err)
{
    if (!at->value || json_is_null(at->value))
        return 0;
    if (read_head(at, &d->info.revision, err) == 0)
        return read_log(at, d, err);
    d->info.revision = (struct run_revision){0};
    return draft_leave_out(d, err);
}
