#include "results/ingest/bundle/bundle.h"

#include "results/ingest/bundle/artifact.h"
#include "results/ingest/bundle/counters_csv.h"
#include "results/ingest/bundle/details.h"
#include "results/ingest/bundle/job_json.h"
#include "results/ingest/bundle/witness.h"

#include "common/base/alloc.h"
#include "common/base/text.h"
#include "common/base/word.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bundle_reading {
    struct manifest *files;
    const struct ingest_options *options;
    struct draft *d;
    const json_t *summary; /* NULL if the run is not closed and has none */
    char summary_file[FS_PATH_MAX];
    struct witnesses witnesses;
};

static int hash_perf(const char *rel, const char *full, void *arg, struct err *err)
{
    const char *base = strrchr(rel, '/');
    return base && strcmp(base, "/perf.json") == 0 ? artifact_hash(rel, full, LIMIT_JSON_BYTES, arg, err) : 0;
}

/* manifest.json covers every file; a run that is not closed is identified by the perf.json files it has. */
static int hash_contents(const struct manifest *m, char *out, struct err *err)
{
    if (manifest_is_closed(m)) {
        memcpy(out, m->sha256, sizeof m->sha256);
        return 0;
    }
    struct sha256 h;
    sha256_begin(&h);
    if (fs_walk(m->dir, true, hash_perf, &h, err) != 0)
        return -1;
    sha256_end(&h, out);
    return 0;
}

/* Every bundle must have this file. */
static const json_t *must_keep(struct manifest *m, const char *name, char *full, struct err *err)
{
    const json_t *value;
    if (manifest_keep(m, name, &value, full, err) == 0)
        err_set(err, ERR_INPUT, "%s: No such file: every bundle must have one", full);
    return value;
}

int bundle_open(struct bundle *b, const char *dir, struct run_info *out, struct err *err)
{
    b->job = NULL;
    if (manifest_open(&b->files, dir, err) != 0)
        return -1;
    b->job = must_keep(&b->files, "job.json", b->job_file, err);
    if (!b->job)
        return -1;
    struct json_at root = json_root(b->job, b->job_file);
    if (artifact_name(&root, "run_id", out->run_id, RUN_NAME_MAX, err) != 0)
        return -1;
    return hash_contents(&b->files, out->content_sha256, err);
}

void bundle_release(struct bundle *b)
{
    manifest_release(&b->files);
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

/* A cell that was measured, with a fingerprint that is unknown, has none: the next run measures it too. */
static int read_cell(const struct json_at *at, struct draft *d, struct err *err)
{
    struct draft_fingerprint f = {.variant = ""};
    int64_t context;
    f.carried = json_object_get(at->value, "carried") != NULL;
    f.budget = json_object_get(at->value, "left_out") != NULL;
    bool known = json_is_string(json_object_get(at->value, "fingerprint"));
    if (!known && !f.carried)
        return 0;
    if (artifact_name(at, "variant", f.variant, sizeof f.variant, err) != 0 ||
        json_get_int(at, "context_len", 1, INT32_MAX, &context, err) != 0 ||
        (known && artifact_sha256(at, "fingerprint", f.sha256, err) != 0) ||
        artifact_text(at, "carried", f.measured, sizeof f.measured, err) != 0)
        return -1;
    bool dated = clock_is_day(f.measured), undated = !*f.measured && (f.budget || !f.carried);
    if ((known && !*f.sha256) || (f.budget && !f.carried) || (!dated && !undated))
        return json_fail(at, err, "expected a fingerprint, and a date of what is carried");
    f.context = (int)context;
    *draft_add_fingerprint(d) = f;
    return 0;
}

static int read_cells(const struct json_at *root, struct draft *d, struct err *err)
{
    struct json_at list = json_member(root, "cells");
    for (size_t i = 0; i < json_array_size(list.value); i++) {
        struct json_at at = json_element(&list, i);
        if (read_cell(&at, d, err) != 0)
            return -1;
    }
    return 0;
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
    return read_cells(root, d, err);
}

/* A run is PARTIAL until it is closed, or if its summary is implausible. */
static int read_summary(struct bundle_reading *r, struct err *err)
{
    bool closed = manifest_is_closed(r->files);
    int rc = manifest_keep(r->files, "summary.json", &r->summary, r->summary_file, err);
    if (rc == 0 && closed)
        rc = err_set(err, ERR_INPUT, "%s: No such file in a closed run", r->summary_file);
    else if (rc > 0) {
        struct json_at root = json_root(r->summary, r->summary_file);
        rc = read_summary_parts(&root, r->d, err);
    }
    bool believed = rc == 0;
    if (rc < 0 && draft_leave_out(r->d, err) != 0)
        return -1;
    if (!closed || !believed)
        r->d->info.status = RUN_PARTIAL;
    return 0;
}

typedef int read_fn(const struct json_at *root, struct draft *d, struct err *err);

/* Reads an optional file; an implausible one is left out. */
static int read_if_there(struct bundle_reading *r, const char *name, read_fn *read, struct err *err)
{
    char full[FS_PATH_MAX];
    const json_t *value;
    int rc = manifest_load(r->files, name, &value, full, err);
    if (rc > 0) {
        struct json_at root = json_root(value, full);
        rc = read(&root, r->d, err);
    }
    return rc < 0 ? draft_leave_out(r->d, err) : 0;
}

static int take_plan(const struct json_at *root, struct draft *d, struct err *err)
{
    if (!json_is_object(root->value))
        return json_fail(root, err, "expected an object");
    d->plan = json_dumps(root->value, JSON_COMPACT | JSON_SORT_KEYS);
    return 0;
}

typedef int read_of_variant_fn(const struct json_at *root, size_t variant, struct draft *d, struct err *err);

/* Reads an optional file in a variant's folder in the same way. */
static int read_of_variant(struct bundle_reading *r, size_t variant, const char *name,
                           read_of_variant_fn *read, struct err *err)
{
    char path[RUN_NAME_MAX + 32], full[FS_PATH_MAX];
    const json_t *value;
    snprintf(path, sizeof path, "%s/%s", r->d->variants[variant].name, name);
    int rc = manifest_load(r->files, path, &value, full, err);
    if (rc > 0) {
        struct json_at root = json_root(value, full);
        rc = read(&root, variant, r->d, err);
    }
    return rc < 0 ? draft_leave_out(r->d, err) : 0;
}

static int read_samples(struct bundle_reading *r, const char *path, struct draft_test *t, struct err *err)
{
    AUTO(samples_release) struct samples samples = {0};
    AUTO(buf_release) struct buf text = {.max = SAMPLES_BYTES_MAX};
    int skipped = 0;
    int rc = manifest_read(r->files, path, SAMPLES_BYTES_MAX, &text, err);
    if (rc > 0)
        rc = samples_parse(buf_str(&text), text.len, path, &samples, &skipped, err);
    if (rc < 0)
        return draft_leave_out(r->d, err);
    if (skipped)
        draft_warn(r->d, "%s%s: ignored %d line%s without a sample", r->files->dir, path, skipped,
                   text_plural(skipped));
    if (samples.count)
        draft_set_samples(t, &samples);
    return 0;
}

/* The test named in perf.json must be that of its folder. */
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
        return json_fail(perf, err,
                         "is of %.64s, context %lld, repetition %lld, which contradicts its folder", variant,
                         (long long)context, (long long)repetition);
    return 0;
}

/* The folder says which test it is, so the test is kept as INVALID, without its result. */
static int disbelieve(struct bundle_reading *r, const struct run_test *place, struct err *err)
{
    const struct run_test was = *place;
    const struct err why = *err;
    if (draft_leave_out(r->d, err) != 0)
        return -1;
    draft_drop_test(r->d);
    struct draft_test *t = draft_add_test(r->d, err);
    if (!t)
        return -1;
    t->t.variant = was.variant;
    t->t.context = was.context;
    t->t.repetition = was.repetition;
    t->t.status = STATUS_INVALID;
    const char *place_of = strstr(why.msg, "perf.json: ");
    t->t.reason = word_printf("%.500s", place_of ? place_of : why.msg);
    return 1;
}

/* 1, 0 if the test left no perf.json, or -1. */
static int read_perf(struct bundle_reading *r, const char *path, int64_t index, struct draft_test *t,
                     struct err *err)
{
    char full[FS_PATH_MAX];
    const json_t *perf;
    int rc = manifest_load(r->files, path, &perf, full, err);
    if (rc > 0) {
        struct json_at root = json_root(perf, full);
        if (check_owner(&root, r->d, &t->t, err) != 0 || artifact_perf(&root, r->d, t, err) != 0 ||
            artifact_activity(&root, &t->t.activity, err) != 0 || artifact_place(&root, &t->t, err) != 0 ||
            artifact_held(&root, r->d, &t->t, err) != 0 ||
            witnesses_check(&r->witnesses, t, index, manifest_hash_of(r->files, path), &root, err) != 0)
            rc = -1;
    }
    return rc < 0 ? disbelieve(r, &t->t, err) : rc;
}

/* The last test of the draft has no artifact, so its cell may be unmeasured. */
static void note_unmeasured(struct bundle_reading *r, const char *folder)
{
    struct draft *d = r->d;
    const struct run_test t = d->tests[d->n_tests - 1].t;
    draft_drop_test(d);
    draft_add_unmeasured(d, d->variants[t.variant].name, t.context);
    if (d->info.status != RUN_COMPLETE)
        return;
    d->info.status = RUN_PARTIAL;
    draft_warn(d, "%s: says COMPLETE, but %s has no perf.json: stored as PARTIAL", r->files->dir, folder);
}

/* Whether the executor left the test out because its cell was known precisely enough. */
static bool is_needless(const struct bundle_reading *r, const struct json_at *test)
{
    const json_t *list = json_object_get(r->summary, "needless");
    json_int_t index = json_integer_value(json_object_get(test->value, "index"));
    for (size_t i = 0; i < json_array_size(list); i++)
        if (json_integer_value(json_array_get(list, i)) == index)
            return true;
    return false;
}

static int read_test(struct bundle_reading *r, const struct json_at *at, struct err *err)
{
    struct draft *d = r->d;
    char name[RUN_NAME_MAX], folder[RUN_NAME_MAX + 64], path[sizeof folder + 32];
    int64_t index, context, repetition;
    if (artifact_name(at, "variant", name, sizeof name, err) != 0 ||
        json_get_int(at, "index", 1, LIMIT_TESTS, &index, err) != 0 ||
        json_get_int(at, "context", 0, INT32_MAX, &context, err) != 0 ||
        json_get_int(at, "repetition", 0, INT32_MAX, &repetition, err) != 0)
        return -1;
    size_t variant = draft_variant(d, name);
    if (variant == d->n_variants)
        return json_fail(at, err, "variant \"%s\" is not among the job's variants", name);
    struct draft_test *t = draft_add_test(d, err);
    if (!t)
        return -1;
    t->t.variant = variant;
    t->t.context = (int)context;
    t->t.repetition = (int)repetition;
    snprintf(folder, sizeof folder, "%s/ctx_%lld_run%lld", name, (long long)context, (long long)repetition);
    snprintf(path, sizeof path, "%s/perf.json", folder);
    int rc = read_perf(r, path, index, t, err);
    if (rc == 0 && is_needless(r, at))
        draft_drop_test(r->d);
    else if (rc == 0)
        note_unmeasured(r, folder);
    if (rc <= 0 || (r->options && r->options->skip_samples))
        return rc;
    snprintf(path, sizeof path, "%s/vram_samples.jsonl", folder);
    return read_samples(r, path, t, err);
}

static int read_tests(struct bundle_reading *r, const struct json_at *job, struct err *err)
{
    struct json_at tests = json_member(job, "tests");
    if (!json_is_array(tests.value))
        return json_fail(&tests, err, "expected an array of tests");
    if (witnesses_read(&r->witnesses, r->files, r->summary, json_array_size(tests.value),
                       r->d->info.status == RUN_COMPLETE, err) != 0 &&
        draft_leave_out(r->d, err) != 0)
        return -1;
    for (size_t i = 0; i < json_array_size(tests.value); i++) {
        struct json_at at = json_element(&tests, i);
        if (read_test(r, &at, err) != 0)
            return -1;
    }
    return 0;
}

/* A run that is still open has no manifest. */
static int check_run(const struct manifest *m, const struct json_at *job, const char *run_id, struct err *err)
{
    if (!m->run_id || strcmp(m->run_id, run_id) == 0)
        return 0;
    return json_fail(job, err,
                     "is of run \"%.100s\", manifest.json of \"%.100s\": this bundle is of two runs", run_id,
                     m->run_id);
}

static int read_all(struct bundle_reading *r, const struct json_at *job, struct err *err)
{
    struct draft *d = r->d;
    struct json_at metrics = json_member(job, "metrics"), source = json_member(job, "source"),
                   git = json_member(&source, "git");
    if (draft_read_metrics(d, &metrics, IN_JOB, err) != 0 || job_read_head(job, &d->info, err) != 0 ||
        check_run(r->files, job, d->info.run_id, err) != 0 || job_read_revision(&git, d, err) != 0 ||
        job_read_variants(job, d, err) != 0 || artifact_env(job, d, err) != 0 || read_summary(r, err) != 0 ||
        read_if_there(r, "node.json", artifact_node, err) != 0 ||
        read_if_there(r, "plan.json", take_plan, err) != 0)
        return -1;
    for (size_t i = 0; i < d->n_variants; i++)
        if (read_of_variant(r, i, "resources.json", artifact_resources, err) != 0 ||
            read_of_variant(r, i, "code.json", code_read, err) != 0)
            return -1;
    if (read_tests(r, job, err) != 0 || counters_read(r->files, job, d, err) != 0)
        return -1;
    struct json_at summary = json_root(r->summary, r->summary_file);
    return details_read(r->files, &summary, d, err);
}

static void tell_what_was_left_out(const struct manifest *m, struct draft *d)
{
    char example[RUN_REASON_MAX];
    size_t count = manifest_left_out(m, example, sizeof example);
    if (count > 0)
        draft_warn(d, "%zu %s that tests or builds left behind %s not fetched: %s", count,
                   count == 1 ? "file" : "files", count == 1 ? "was" : "were", example);
}

static void reading_release(struct bundle_reading *r)
{
    witnesses_release(&r->witnesses);
}

int bundle_read(struct bundle *b, const struct ingest_options *options, struct draft *d, struct err *err)
{
    AUTO(reading_release) struct bundle_reading r = {.files = &b->files, .options = options, .d = d};
    struct json_at job = json_root(b->job, b->job_file);
    if (hash_contents(&b->files, d->info.content_sha256, err) != 0 || read_all(&r, &job, err) != 0 ||
        manifest_check_rest(&b->files, err) != 0)
        return -1;
    tell_what_was_left_out(&b->files, d);
    snprintf(d->info.origin, sizeof d->info.origin, "bundle");
    if (!*d->info.node)
        snprintf(d->info.node, sizeof d->info.node, "%s",
                 options && options->node ? options->node : "unknown");
    return draft_finish(d, err);
}
