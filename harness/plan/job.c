#include "harness/plan/job.h"

#include "common/base/clock.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

enum { STAMP_LEN = 16, FRACTION_DIGITS = 3 };

void job_run_id(const char *ticket, char *out)
{
    double real_s = clock_real_s();
    time_t now = (time_t)real_s;
    struct tm tm;
    char stamp[20];
    uint32_t nonce = 0;
    gmtime_r(&now, &tm);
    strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%SZ", &tm);
    if (getrandom(&nonce, sizeof nonce, 0) != (ssize_t)sizeof nonce)
        nonce = (uint32_t)clock_mono_ns() ^ (uint32_t)getpid();
    unsigned fraction = (unsigned)((real_s - (double)now) * 4096) & 0xfff;
    snprintf(out, JOB_RUN_ID_MAX, "%s-%.32s-%03x%05x", stamp, ticket, fraction, (unsigned)nonce & 0xfffff);
}

int job_run_id_compare(const char *a, const char *b)
{
    const char *digits = "0123456789", *end_a = strrchr(a, '-'), *end_b = strrchr(b, '-');
    int order = strncmp(a + strcspn(a, digits), b + strcspn(b, digits), STAMP_LEN);
    if (order == 0 && end_a && end_b)
        order = strncmp(end_a + 1, end_b + 1, FRACTION_DIGITS);
    return order ? order : strcmp(a, b);
}

/* Copies a member of a plan or variant, or returns the default. Takes ownership of usual. */
static json_t *part_of(const json_t *obj, const char *key, json_t *usual)
{
    json_t *part = json_object_get(obj, key);
    if (!part)
        return usual;
    json_decref(usual);
    return json_incref(part);
}

static bool mentions_axis(const struct plan *p, const char *text)
{
    for (size_t i = 0; text && i < p->variants.own_count; i++)
        if (axis_text_mentions(&p->variants.own[i], text))
            return true;
    return false;
}

/* Merges the patches of the plan and of the variant, expanded at its point. */
static json_t *encode_patches(const struct plan *p, const struct plan_variant *item)
{
    json_t *all = json_array(), *of_plan = json_object_get(p->root, "patches"),
           *own = json_object_get(item->variant->json, "patches");
    if (of_plan && item->point) {
        const struct axis_text text = plan_variant_text(item, &p->secrets);
        json_auto_t *here = axis_text_patches(&text, of_plan);
        json_array_extend(all, here);
    } else if (of_plan) {
        json_array_extend(all, of_plan);
    }
    if (own)
        json_array_extend(all, own);
    return all;
}

static bool runs_alone(const struct plan_variant *item, const struct job_request *req)
{
    for (size_t i = 0; i < req->n_alone; i++)
        if (strcmp(req->alone[i], item->name) == 0)
            return true;
    return item->variant->alone;
}

/* The environment of the variant; with axes, it also has the entries of the plan that mention one. *late: the
 * entries that its builds must not see; NULL without axes. */
static json_t *encode_env(const struct plan *p, const struct plan_variant *item, json_t **late)
{
    json_t *own = json_object_get(item->variant->json, "env"), *of_plan = json_object_get(p->root, "env"),
           *env = json_object();
    struct json_at root = json_root(p->root, p->file), at = json_member(&root, "env");
    if (!item->point) {
        json_object_update(env, own);
        return env;
    }
    const struct axis_text text = plan_variant_text(item, &p->secrets);
    struct err ignored = {0}; /* plan_load() has checked this already */
    axis_text_env(&text, &at, env, &ignored);
    json_object_update(env, own);
    *late = axis_text_take_late(&text, env, item->written, of_plan);
    return env;
}

/* The plan's environment without the entries that encode_env() adds to each variant. */
static json_t *encode_plan_env(const struct plan *p)
{
    json_t *env = json_object(), *value;
    const char *name;
    json_object_foreach(json_object_get(p->root, "env"), name, value)
    {
        if (!mentions_axis(p, json_string_value(value)) || secret_names_have(&p->secrets, name))
            json_object_set(env, name, value);
    }
    return env;
}

static json_t *encode_variant(const struct plan *p, const struct plan_variant *item,
                              const struct job_request *req)
{
    const struct variant *v = item->variant;
    json_t *late = NULL, *env = encode_env(p, item, &late);
    json_t *out = json_pack("{s:s, s:s, s:s*, s:O*, s:o*, s:o, s:o, s:o, s:o*, s:o, s:o}", "name", item->name,
                            "attn_impl", v->attn_impl, "build_as",
                            plan_variant_at_point(item) ? v->name : NULL, "shape", item->shape, "axes",
                            plan_variant_axes(item), "build", part_of(v->json, "build", json_array()), "run",
                            part_of(v->json, "run", json_array()), "env", env, "test_env", late, "gates",
                            part_of(v->json, "gates", json_array()), "patches", encode_patches(p, item));
    if (*v->cwd)
        json_object_set_new(out, "cwd", json_string(v->cwd));
    static const char *const as_they_are[] = {"prepare", "cleanup"};
    for (size_t i = 0; i < sizeof as_they_are / sizeof *as_they_are; i++)
        if (json_object_get(v->json, as_they_are[i]))
            json_object_set(out, as_they_are[i], json_object_get(v->json, as_they_are[i]));
    if (v->ignore_failure)
        json_object_set_new(out, "ignore_failure", json_true());
    if (v->in_tree)
        json_object_set_new(out, "in_tree", json_true());
    json_t *container = json_object_get(v->json, "container");
    if (!container)
        container = json_object_get(p->root, "container");
    if (json_is_object(container))
        json_object_set(out, "container", container);
    if (runs_alone(item, req))
        json_object_set_new(out, "alone", json_true());
    return out;
}

static void add_test(json_t *tests, const struct plan *p, const struct plan_variant *v,
                     const struct plan_context *c, int64_t repetition)
{
    if (!plan_variant_runs(&p->variants, v, c->tokens))
        return;
    json_t *test =
        json_pack("{s:I, s:s, s:I, s:I, s:f, s:b}", "index", (json_int_t)json_array_size(tests) + 1,
                  "variant", v->name, "context", (json_int_t)c->tokens, "repetition", (json_int_t)repetition,
                  "timeout_s", c->timeout_s, "warmup", repetition <= p->matrix.warmup);
    if (plan_variant_smokes(&p->variants, v, c->tokens))
        json_object_set_new(test, "smoke", json_true());
    if (c->until > 0)
        json_object_update_new(test,
                               json_pack("{s:f, s:I}", "until", c->until, "least", (json_int_t)c->least));
    json_array_append_new(tests, test);
}

/* Adds this repetition of all tests; false if no context has that many repetitions. */
static bool add_round(json_t *tests, const struct plan *p, int64_t repetition)
{
    bool any = false;
    for (size_t c = 0; c < p->matrix.count; c++) {
        if (repetition > p->matrix.contexts[c].repetitions + p->matrix.warmup)
            continue;
        any = true;
        for (size_t v = 0; v < p->variants.count; v++)
            add_test(tests, p, &p->variants.item[v], &p->matrix.contexts[c], repetition);
    }
    return any;
}

static json_t *encode_tests(const struct plan *p)
{
    json_t *tests = json_array();
    if (p->matrix.order == PLAN_INTERLEAVED) {
        for (int64_t r = 1; add_round(tests, p, r); r++)
            continue;
    } else {
        for (size_t c = 0; c < p->matrix.count; c++)
            for (size_t v = 0; v < p->variants.count; v++)
                for (int64_t r = 1; r <= p->matrix.contexts[c].repetitions + p->matrix.warmup; r++)
                    add_test(tests, p, &p->variants.item[v], &p->matrix.contexts[c], r);
    }
    return tests;
}

/* Encodes the tests and adds what concerns GPUs. */
static json_t *encode_placed_tests(const struct plan *p, const struct job_request *req)
{
    json_t *tests = encode_tests(p);
    if (p->settings.placement == PLACEMENT_EVERY && req->gpu_groups) {
        json_t *each = gpu_tests_on_each(tests, req->gpu_groups);
        json_decref(tests);
        tests = each;
    }
    gpu_tests_hint(tests, &req->hints);
    return tests;
}

static json_t *encode_variants(const struct plan *p, const struct job_request *req)
{
    json_t *variants = json_array();
    for (size_t i = 0; i < p->variants.count; i++)
        json_array_append_new(variants, encode_variant(p, &p->variants.item[i], req));
    return variants;
}

static json_t *encode_source(const struct job_request *req)
{
    if (!req->source_sha256)
        return json_null();
    return json_pack("{s:s, s:O*}", "sha256", req->source_sha256, "git", req->git);
}

static json_t *encode_identity(const struct plan *p, const struct job_request *req)
{
    json_t *source = encode_source(req);
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:o}", "schema", PROTO_SCHEMA_JOB, "run_id",
                     req->run_id, "purpose", run_purpose_name(req->purpose), "date", req->date, "plan_sha256",
                     p->sha256, "node", p->scheduler.on ? p->scheduler.node_class : p->node,
                     "harness_version", KERNSWEEP_VERSION, "source", source);
}

/* Copies the scheduler of the plan and fills in patience_s; returns null without one. */
static json_t *encode_scheduler(const struct plan *p)
{
    if (!p->scheduler.on)
        return json_null();
    json_t *part = json_copy(json_object_get(p->root, "scheduler"));
    json_object_set_new(part, "patience_s", json_real(p->scheduler.patience_s));
    return part;
}

static json_t *encode_work(const struct plan *p, const struct job_request *req)
{
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "env", encode_plan_env(p), "secrets",
        part_of(p->root, "secrets", json_array()), "timings", part_of(p->root, "timings", json_null()),
        "metrics", part_of(p->root, "metrics", json_array()), "scheduler", encode_scheduler(p), "variants",
        encode_variants(p, req), "tests", req->build_only ? json_array() : encode_placed_tests(p, req));
}

json_t *job_encode(const struct plan *p, const struct job_request *req)
{
    json_t *job = encode_identity(p, req);
    if (req->preflight)
        json_object_set(job, "preflight", req->preflight);
    if (p->counters.on && !req->compile_only && (req->counters || p->counters.when == COUNTERS_ALWAYS))
        json_object_set(job, "counters", json_object_get(p->root, "counters"));
    if (req->sweep && *req->sweep)
        json_object_set_new(job, "sweep", json_string(req->sweep));
    if (req->fresh)
        json_object_set_new(job, "fresh", json_true());
    if (req->compile_only)
        json_object_set_new(job, "compile_only", json_true());
    if (p->gpus.given)
        json_object_set(job, "gpus", json_object_get(p->root, "gpus"));
    keys_encode_job(job, settings_keys, &p->settings);
    json_object_update_new(job, encode_work(p, req));
    if (req->changed)
        changed_tests(job, req->changed, &req->hints);
    if (req->changed && req->budget_s > 0)
        json_object_set_new(job, "budget_s", json_real(req->budget_s));
    return job;
}
