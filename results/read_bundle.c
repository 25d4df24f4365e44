#include "results/manifest.h"
#include "results/readers.h"
#include "results/when.h"

#include "common/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What goes through all steps of reading one bundle. */
struct reading {
    const char *dir;
    const struct ingest_options *options;
    struct draft *d;
    bool closed; /* manifest.json is there and holds */
};

static json_t *load(const char *dir, const char *name, char *path, struct err *err)
{
    if (fs_join(path, err, dir, name) != 0)
        return NULL;
    return json_load(path, LIMIT_JSON_BYTES, err);
}

static bool has(const char *dir, const char *name)
{
    char path[FS_PATH_MAX];
    return fs_join(path, NULL, dir, name) == 0 && fs_exists(path);
}

static int hash_perf(const char *rel, const char *full, void *arg, struct err *err)
{
    const char *base = strrchr(rel, '/');
    char hex[SHA256_HEX_LEN + 1];
    if (!base || strcmp(base, "/perf.json") != 0)
        return 0;
    if (sha256_of_file(full, LIMIT_JSON_BYTES, hex, NULL, err) != 0)
        return -1;
    sha256_add(arg, rel, strlen(rel) + 1);
    sha256_add(arg, hex, sizeof hex);
    return 0;
}

/* manifest.json names every byte; a run that is still open is what it has measured so far. */
static int hash_contents(const char *dir, char *out, struct err *err)
{
    char path[FS_PATH_MAX];
    if (fs_join(path, err, dir, "manifest.json") != 0)
        return -1;
    if (fs_exists(path))
        return sha256_of_file(path, (size_t)64 << 20, out, NULL, err);
    struct sha256 h;
    sha256_begin(&h);
    if (fs_walk(dir, true, hash_perf, &h, err) != 0)
        return -1;
    sha256_end(&h, out);
    return 0;
}

int bundle_identity(const char *dir, struct run_info *out, struct err *err)
{
    char path[FS_PATH_MAX];
    json_t *job = load(dir, "job.json", path, err);
    if (!job)
        return -1;
    struct json_at root = json_root(job, path);
    int rc = artifact_name(&root, "run_id", out->run_id, RUN_NAME_MAX, err);
    json_decref(job);
    return rc == 0 ? hash_contents(dir, out->content_sha256, err) : -1;
}

static int read_job_head(const struct json_at *job, struct run_info *r, struct err *err)
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
        artifact_sha256(job, "plan_sha256", r->plan_sha256, err) != 0)
        return -1;
    if (json_is_object(source.value) && artifact_sha256(&source, "sha256", r->source_sha256, err) != 0)
        return -1;
    if (!when_is_date(r->date))
        return json_fail(job, err, "date is \"%s\", expected a day as 2026-02-14", r->date);
    if (strcmp(r->mode, "perf") != 0 && strcmp(r->mode, "debug") != 0)
        return json_fail(job, err, "mode is \"%s\", expected \"perf\" or \"debug\"", r->mode);
    if (*r->tag && !text_is_name(r->tag))
        return json_fail(job, err, "tag is not a name");
    return 0;
}

static int read_job_variants(const struct json_at *job, struct draft *d, struct err *err)
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
            return json_fail(&at, err, "a second variant named \"%s\"", name);
        struct run_variant *v = draft_add_variant(d, name, err);
        if (!v || artifact_text(&at, "attn_impl", v->attn_impl, sizeof v->attn_impl, err) != 0)
            return -1;
    }
    return 0;
}

static int read_variant_state(const struct json_at *at, struct draft *d, struct err *err)
{
    char name[RUN_NAME_MAX];
    const char *status = status_name(STATUS_OK);
    if (artifact_name(at, "name", name, sizeof name, err) != 0)
        return -1;
    size_t i = draft_variant(d, name);
    if (i == d->n_variants)
        return json_fail(at, err, "variant \"%s\" is not in job.json", name);
    struct run_variant *v = &d->variants[i];
    if (json_get_str_def(at, "status", &status, err) != 0 ||
        artifact_num(at, "build_wall_s", 0, 1e9, &v->build_wall_s, err) != 0 ||
        json_get_bool_def(at, "build_cached", &v->build_cached, err) != 0)
        return -1;
    if (!status_from_name(status, &v->status))
        return json_fail(at, err, "unknown status \"%.40s\"", status);
    return artifact_cut(at, "reason", v->reason, sizeof v->reason, err);
}

static int read_summary_parts(const struct json_at *root, struct draft *d, struct err *err)
{
    struct run_info *r = &d->info;
    const char *status, *id;
    if (json_get_str(root, "status", &status, err) != 0 || json_get_str(root, "run_id", &id, err) != 0 ||
        artifact_text(root, "started_at", r->started_at, sizeof r->started_at, err) != 0 ||
        artifact_text(root, "ended_at", r->ended_at, sizeof r->ended_at, err) != 0 ||
        artifact_num(root, "wall_s", 0, 1e9, &r->wall_s, err) != 0)
        return -1;
    if (!run_status_from_name(status, &r->status))
        return json_fail(root, err, "unknown status \"%.40s\"", status);
    if (strcmp(id, r->run_id) != 0)
        return json_fail(root, err, "is of run \"%.100s\", job.json of \"%s\"", id, r->run_id);
    struct json_at list = json_member(root, "variants");
    for (size_t i = 0; i < json_array_size(list.value); i++) {
        struct json_at at = json_element(&list, i);
        if (read_variant_state(&at, d, err) != 0)
            return -1;
    }
    return 0;
}

static int read_summary(struct reading *r, struct err *err)
{
    char path[FS_PATH_MAX];
    if (!r->closed) {
        r->d->info.status = RUN_PARTIAL;
        if (!has(r->dir, "summary.json"))
            return 0;
    }
    json_t *summary = load(r->dir, "summary.json", path, err);
    if (!summary)
        return -1;
    struct json_at root = json_root(summary, path);
    int rc = read_summary_parts(&root, r->d, err);
    json_decref(summary);
    if (!r->closed)
        r->d->info.status = RUN_PARTIAL;
    return rc;
}

static int read_node(struct reading *r, struct err *err)
{
    char path[FS_PATH_MAX];
    if (!has(r->dir, "node.json"))
        return 0;
    json_t *node = load(r->dir, "node.json", path, err);
    if (!node)
        return -1;
    struct json_at root = json_root(node, path);
    int rc = artifact_node(&root, r->d, err);
    json_decref(node);
    return rc;
}

static int read_plan(struct reading *r, struct err *err)
{
    char path[FS_PATH_MAX];
    if (!has(r->dir, "plan.json"))
        return 0;
    json_t *plan = load(r->dir, "plan.json", path, err);
    if (!plan)
        return -1;
    struct json_at root = json_root(plan, path);
    int rc = json_is_object(plan) ? 0 : json_fail(&root, err, "expected an object");
    if (rc == 0 && !(r->d->plan = json_dumps(plan, JSON_COMPACT | JSON_SORT_KEYS)))
        rc = err_set(err, ERR_INTERNAL, "%s: no memory", path);
    json_decref(plan);
    return rc;
}

static int read_resources(struct reading *r, struct run_variant *v, struct err *err)
{
    char folder[FS_PATH_MAX], path[FS_PATH_MAX];
    if (fs_join(folder, err, r->dir, v->name) != 0)
        return -1;
    if (!has(folder, "resources.json"))
        return 0;
    json_t *resources = load(folder, "resources.json", path, err);
    if (!resources)
        return -1;
    struct json_at root = json_root(resources, path);
    int rc = artifact_resources(&root, v, err);
    json_decref(resources);
    return rc;
}

int read_samples(const char *path, struct draft *d, struct draft_test *t, struct err *err)
{
    struct samples samples;
    int skipped = 0;
    if (!fs_exists(path))
        return 0;
    if (samples_read(path, &samples, &skipped, err) != 0)
        return -1;
    if (skipped)
        draft_warn(d, "%s: %d lines are not samples, left out", path, skipped);
    struct buf packed;
    buf_init(&packed, SIZE_MAX / 2);
    int rc = samples.count ? samples_pack(&samples, &packed, err) : 0;
    if (rc == 0 && samples.count) {
        t->packed_samples = (int)samples.count;
        t->packed_len = packed.len;
        t->packed = buf_steal(&packed);
        if (t->t.samples == RUN_UNKNOWN)
            t->t.samples = (int)samples.count;
    }
    buf_release(&packed);
    samples_release(&samples);
    return rc;
}

/* perf.json says of itself whose it is; it must be who its folder says. */
static int check_owner(const struct json_at *perf, const struct draft *d, const struct run_test *t,
                       struct err *err)
{
    const char *schema, *id, *variant;
    int64_t context, repetition;
    if (json_get_str(perf, "schema", &schema, err) != 0 || json_get_str(perf, "run_id", &id, err) != 0 ||
        json_get_str(perf, "variant", &variant, err) != 0 ||
        json_get_int(perf, "context_len", 0, INT32_MAX, &context, err) != 0 ||
        json_get_int(perf, "repetition", 0, INT32_MAX, &repetition, err) != 0)
        return -1;
    if (strcmp(schema, PROTO_SCHEMA_PERF) != 0)
        return json_fail(perf, err, "schema is \"%.80s\", expected \"%s\"", schema, PROTO_SCHEMA_PERF);
    if (strcmp(id, d->info.run_id) != 0)
        return json_fail(perf, err, "is of run \"%.100s\", the bundle of \"%s\"", id, d->info.run_id);
    if (strcmp(variant, d->variants[t->variant].name) != 0 || context != t->context ||
        repetition != t->repetition)
        return json_fail(perf, err, "is of %.64s, context %lld, repetition %lld: not what its folder says",
                         variant, (long long)context, (long long)repetition);
    return 0;
}

static int read_perf(const char *folder, struct draft *d, struct draft_test *t, struct err *err)
{
    char path[FS_PATH_MAX];
    json_t *perf = load(folder, "perf.json", path, err);
    if (!perf)
        return -1;
    struct json_at root = json_root(perf, path);
    int rc = check_owner(&root, d, &t->t, err);
    if (rc == 0)
        rc = artifact_perf(&root, d, t, err);
    json_decref(perf);
    return rc;
}

static int read_test(struct reading *r, const struct json_at *at, struct err *err)
{
    struct draft *d = r->d;
    char name[RUN_NAME_MAX], inner[RUN_NAME_MAX + 64], folder[FS_PATH_MAX], samples[FS_PATH_MAX];
    int64_t context, repetition;
    if (artifact_name(at, "variant", name, sizeof name, err) != 0 ||
        json_get_int(at, "context", 0, INT32_MAX, &context, err) != 0 ||
        json_get_int(at, "repetition", 0, INT32_MAX, &repetition, err) != 0)
        return -1;
    size_t variant = draft_variant(d, name);
    if (variant == d->n_variants)
        return json_fail(at, err, "variant \"%s\" is not among the job's variants", name);
    snprintf(inner, sizeof inner, "%s/ctx_%lld_run%lld", name, (long long)context, (long long)repetition);
    if (fs_join(folder, err, r->dir, inner) != 0 || fs_join(samples, err, folder, "vram_samples.jsonl") != 0)
        return -1;
    if (!has(folder, "perf.json")) {
        if (d->info.status == RUN_COMPLETE) {
            d->info.status = RUN_PARTIAL;
            draft_warn(d, "%s: says COMPLETE, but %s has no perf.json: stored as PARTIAL", r->dir, inner);
        }
        return 0;
    }
    struct draft_test *t = draft_add_test(d, err);
    if (!t)
        return -1;
    t->t.variant = variant;
    t->t.context = (int)context;
    t->t.repetition = (int)repetition;
    if (read_perf(folder, d, t, err) != 0)
        return -1;
    return r->options && r->options->skip_samples ? 0 : read_samples(samples, d, t, err);
}

static int read_job(struct reading *r, const struct json_at *job, struct err *err)
{
    struct draft *d = r->d;
    if (read_job_head(job, &d->info, err) != 0 || read_job_variants(job, d, err) != 0 ||
        artifact_env(job, d, err) != 0 || read_summary(r, err) != 0 || read_node(r, err) != 0 ||
        read_plan(r, err) != 0)
        return -1;
    for (size_t i = 0; i < d->n_variants; i++)
        if (read_resources(r, &d->variants[i], err) != 0)
            return -1;
    struct json_at tests = json_member(job, "tests");
    if (!json_is_array(tests.value))
        return json_fail(&tests, err, "expected an array of tests");
    for (size_t i = 0; i < json_array_size(tests.value); i++) {
        struct json_at at = json_element(&tests, i);
        if (read_test(r, &at, err) != 0)
            return -1;
    }
    return 0;
}

int bundle_read(const char *dir, const struct ingest_options *options, struct draft *d, struct err *err)
{
    char path[FS_PATH_MAX];
    struct reading r = {.dir = dir, .options = options, .d = d, .closed = has(dir, "manifest.json")};
    if (r.closed && manifest_verify(dir, NULL, err) != 0)
        return -1;
    if (hash_contents(dir, d->info.content_sha256, err) != 0)
        return -1;
    json_t *job = load(dir, "job.json", path, err);
    if (!job)
        return -1;
    struct json_at root = json_root(job, path);
    int rc = read_job(&r, &root, err);
    json_decref(job);
    if (rc != 0)
        return -1;
    snprintf(d->info.origin, sizeof d->info.origin, "bundle");
    if (!*d->info.node)
        snprintf(d->info.node, sizeof d->info.node, "%s",
                 options && options->node ? options->node : "unknown");
    if (details_read(dir, d->variants, d->n_variants, &d->details, err) != 0)
        return -1;
    return draft_finish(d, err);
}
