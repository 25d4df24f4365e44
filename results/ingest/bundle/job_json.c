#include "results/ingest/bundle/job_json.h"

#include "common/base/alloc.h"
#include "common/base/text.h"
#include "results/ingest/bundle/artifact.h"
#include "results/store/when.h"

#include <stdio.h>
#include <string.h>

static int read_purpose(const struct json_at *job, struct run_info *r, struct err *err)
{
    const char *purpose = run_purpose_name(PURPOSE_SWEEP);
    if (json_get_str_def(job, "purpose", &purpose, err) != 0)
        return -1;
    return run_purpose_from_name(purpose, &r->purpose)
               ? 0
               : json_fail(job, err,
                           "purpose is \"%.80s\", expected sweep, confirm, noise, bisect, ab or search",
                           purpose);
}

int job_read_head(const struct json_at *job, struct run_info *r, struct err *err)
{
    struct json_at source = json_member(job, "source");
    const char *schema;
    if (json_get_str(job, "schema", &schema, err) != 0)
        return -1;
    if (strcmp(schema, PROTO_SCHEMA_JOB) != 0)
        return json_fail(job, err, "schema is \"%.80s\", expected \"%s\"", schema, PROTO_SCHEMA_JOB);
    if (artifact_name(job, "run_id", r->run_id, RUN_NAME_MAX, err) != 0 ||
        artifact_name(job, "ticket", r->ticket, sizeof r->ticket, err) != 0 ||
        artifact_text(job, "tag", r->tag, sizeof r->tag, err) != 0 ||
        artifact_text(job, "date", r->date, sizeof r->date, err) != 0 ||
        artifact_text(job, "mode", r->mode, sizeof r->mode, err) != 0 ||
        artifact_text(job, "node", r->node, sizeof r->node, err) != 0 ||
        artifact_text(job, "sweep", r->sweep, sizeof r->sweep, err) != 0 ||
        artifact_sha256(job, "plan_sha256", r->plan_sha256, err) != 0)
        return -1;
    if (json_is_object(source.value) && artifact_sha256(&source, "sha256", r->source_sha256, err) != 0)
        return -1;
    if (!clock_is_day(r->date))
        return json_fail(job, err, "date is \"%s\", expected a date like 2026-02-14", r->date);
    if (strcmp(r->mode, "perf") != 0 && strcmp(r->mode, "debug") != 0)
        return json_fail(job, err, "mode is \"%s\", expected \"perf\" or \"debug\"", r->mode);
    if (*r->tag && !text_is_name(r->tag))
        return json_fail(job, err, "tag is not a name");
    if (*r->sweep && !text_is_name(r->sweep))
        return json_fail(job, err, "sweep is not a name");
    return read_purpose(job, r, err);
}

/* The variants of a kernel plan are named KERNEL, or KERNEL_SHAPE if there are several shapes. */
static int read_kernel(const struct json_at *at, struct run_variant *v, struct err *err)
{
    if (!json_object_get(at->value, "build_as"))
        return 0;
    if (artifact_name(at, "build_as", v->kernel, sizeof v->kernel, err) != 0)
        return -1;
    size_t len = strlen(v->kernel);
    if (strncmp(v->name, v->kernel, len) == 0 && v->name[len] == '_')
        snprintf(v->shape, sizeof v->shape, "%s", v->name + len + 1);
    return 0;
}

static int read_axes(const struct json_at *at, struct run_variant *v, struct err *err)
{
    struct json_at axes = json_member(at, "axes");
    if (!axes.value || json_is_null(axes.value))
        return 0;
    if (!json_is_object(axes.value))
        return json_fail(&axes, err, "expected an object");
    size_t n = json_dumpb(axes.value, v->axes, sizeof v->axes - 1, JSON_COMPACT | JSON_SORT_KEYS);
    if (n == 0 || n >= sizeof v->axes)
        return json_fail(&axes, err, "longer than %zu bytes", sizeof v->axes - 1);
    v->axes[n] = '\0';
    return 0;
}

int job_read_variants(const struct json_at *job, struct draft *d, struct err *err)
{
    struct json_at list = json_member(job, "variants");
    if (!json_is_array(list.value) || json_array_size(list.value) == 0)
        return json_fail(&list, err, "expected an array of variants");
    for (size_t i = 0; i < json_array_size(list.value); i++) {
        struct json_at at = json_element(&list, i);
        char name[RUN_NAME_MAX];
        if (artifact_name(&at, "name", name, sizeof name, err) != 0)
            return -1;
        if (draft_variant(d, name) < d->n_variants)
            return json_fail(&at, err, "duplicate variant \"%s\"", name);
        struct run_variant *v = draft_add_variant(d, name, err);
        if (!v || artifact_text(&at, "attn_impl", v->attn_impl, sizeof v->attn_impl, err) != 0 ||
            read_kernel(&at, v, err) != 0 || read_axes(&at, v, err) != 0)
            return -1;
    }
    return 0;
}

static int read_id(const struct json_at *at, const char *key, char out[COMMIT_ID_MAX], struct err *err)
{
    if (artifact_text(at, key, out, COMMIT_ID_MAX, err) != 0)
        return -1;
    return commit_is_id(out) ? 0 : json_fail(at, err, "\"%s\" is not the id of a commit", key);
}

/* The text comes from a repository, so it is made safe to print. */
static int read_git_text(const struct json_at *at, const char *key, char *out, size_t size, struct err *err)
{
    const char *text = "";
    if (json_get_str_def(at, key, &text, err) != 0)
        return -1;
    text_printable_fixed(out, size, text, strlen(text));
    return 0;
}

/* A text that is not a time becomes "". */
static int read_time(const struct json_at *at, char out[CLOCK_ISO_LEN + 1], struct err *err)
{
    if (artifact_text(at, "authored_at", out, CLOCK_ISO_LEN + 1, err) != 0)
        return -1;
    if (when_parse(out) == WHEN_UNKNOWN)
        *out = '\0';
    return 0;
}

/* Only whole lines are listed; if some do not fit, the last line is "...". */
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
        read_git_text(at, "subject", c->subject, sizeof c->subject, err) != 0 ||
        read_git_text(at, "author", c->author, sizeof c->author, err) != 0 ||
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

static int read_git_head(const struct json_at *at, struct run_revision *r, struct err *err)
{
    return read_id(at, "commit", r->commit, err) != 0 ||
                   read_git_text(at, "branch", r->branch, sizeof r->branch, err) != 0 ||
                   read_git_text(at, "subject", r->subject, sizeof r->subject, err) != 0 ||
                   read_time(at, r->authored_at, err) != 0 || read_files(at, r, err) != 0
               ? -1
               : 0;
}

int job_read_revision(const struct json_at *at, struct draft *d, struct err *err)
{
    if (!at->value || json_is_null(at->value))
        return 0;
    if (read_git_head(at, &d->info.revision, err) == 0)
        return read_log(at, d, err);
    d->info.revision = (struct run_revision){0};
    return draft_leave_out(d, err);
}
