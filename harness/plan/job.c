#include "harness/plan/job.h"

#include "common/base/clock.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

void job_run_id(const char *ticket, char *out)
{
    time_t now = (time_t)clock_real_s();
    struct tm tm;
    char stamp[20];
    uint32_t nonce = 0;
    gmtime_r(&now, &tm);
    strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%SZ", &tm);
    if (getrandom(&nonce, sizeof nonce, 0) != (ssize_t)sizeof nonce)
        nonce = (uint32_t)clock_mono_ns() ^ (uint32_t)getpid();
    snprintf(out, JOB_RUN_ID_MAX, "%s-%.32s-%06x", stamp, ticket, (unsigned)(nonce & 0xffffff));
}

/* A reference to a borrowed part of the plan, or a fresh default. */
static json_t *share(const json_t *part, json_t *fallback)
{
    if (!part)
        return fallback;
    json_decref(fallback);
    return json_incref((json_t *)(uintptr_t)part);
}

/* The plan's patches, then the variant's. */
static json_t *encode_patches(const struct plan *p, const struct plan_variant *v)
{
    json_t *all = json_array();
    int rc = p->patches ? json_array_extend(all, (json_t *)(uintptr_t)p->patches) : 0;
    if (v->patches)
        rc |= json_array_extend(all, (json_t *)(uintptr_t)v->patches);
    if (rc == 0)
        return all;
    json_decref(all);
    return NULL;
}

static json_t *encode_variant(const struct plan *p, const struct plan_variant *v)
{
    return json_pack("{s:s, s:s, s:s*, s:O*, s:o, s:o, s:o, s:o, s:o}", "name", v->name, "attn_impl",
                     v->attn_impl, "build_as", v->kernel, "shape", (json_t *)(uintptr_t)v->shape, "build",
                     share(v->build, json_array()), "run", share(v->run, json_array()), "env",
                     share(v->env, json_object()), "gates", share(v->gates, json_array()), "patches",
                     encode_patches(p, v));
}

static int add_test(json_t *tests, const struct plan *p, const struct plan_variant *v,
                    const struct plan_context *c, int64_t repetition)
{
    return json_array_append_new(tests, json_pack("{s:I, s:s, s:I, s:I, s:f, s:b}", "index",
                                                  (json_int_t)json_array_size(tests) + 1, "variant", v->name,
                                                  "context", (json_int_t)c->tokens, "repetition",
                                                  (json_int_t)repetition, "timeout_s", c->timeout_s, "warmup",
                                                  repetition <= p->warmup));
}

static int add_round(json_t *tests, const struct plan *p, int64_t repetition, bool *any)
{
    int rc = 0;
    *any = false;
    for (size_t c = 0; c < p->n_contexts; c++) {
        if (repetition > p->contexts[c].repetitions + p->warmup)
            continue;
        *any = true;
        for (size_t v = 0; v < p->n_variants; v++)
            rc |= add_test(tests, p, &p->variants[v], &p->contexts[c], repetition);
    }
    return rc;
}

static json_t *encode_tests(const struct plan *p)
{
    json_t *tests = json_array();
    int rc = 0;
    bool any = true;
    if (p->order == PLAN_INTERLEAVED) {
        for (int64_t r = 1; any; r++)
            rc |= add_round(tests, p, r, &any);
    } else {
        for (size_t c = 0; c < p->n_contexts; c++)
            for (size_t v = 0; v < p->n_variants; v++)
                for (int64_t r = 1; r <= p->contexts[c].repetitions + p->warmup; r++)
                    rc |= add_test(tests, p, &p->variants[v], &p->contexts[c], r);
    }
    if (rc != 0) {
        json_decref(tests);
        return NULL;
    }
    return tests;
}

static json_t *encode_variants(const struct plan *p)
{
    json_t *variants = json_array();
    int rc = 0;
    for (size_t i = 0; i < p->n_variants; i++)
        rc |= json_array_append_new(variants, encode_variant(p, &p->variants[i]));
    if (rc != 0) {
        json_decref(variants);
        return NULL;
    }
    return variants;
}

static json_t *encode_identity(const struct plan *p, const struct job_request *req)
{
    json_t *source = req->source_sha256 ? json_pack("{s:s}", "sha256", req->source_sha256) : json_null();
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:o}", "schema", PROTO_SCHEMA_JOB,
                     "run_id", req->run_id, "ticket", p->ticket, "tag", req->tag, "date", req->date, "mode",
                     req->mode, "plan_sha256", p->sha256, "node",
                     p->scheduler.on ? p->scheduler.node_class : req->node, "harness_version",
                     KERNSWEEP_VERSION, "source", source);
}

static json_t *encode_limits(const struct plan *p)
{
    return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:I, s:I, s:I}", "build_timeout_s", p->build_timeout_s,
                     "lock_wait_s", p->lock_wait_s, "kill_grace_s", p->kill_grace_s, "hang_after_s",
                     p->hang_after_s, "no_output_timeout_s", p->no_output_timeout_s, "vram_settle_s",
                     p->vram_settle_s, "vram_tolerance_bytes", (json_int_t)p->vram_tolerance_bytes,
                     "sample_interval_ms", (json_int_t)p->sample_interval_ms, "log_limit_bytes",
                     (json_int_t)p->log_limit_bytes);
}

static json_t *encode_work(const struct plan *p)
{
    return json_pack("{s:o, s:o, s:s, s:o, s:o, s:o}", "env", share(p->env, json_object()), "secrets",
                     share(p->secrets, json_array()), "prompt_tokens", p->prompt_tokens, "timings",
                     share(p->timings, json_null()), "variants", encode_variants(p), "tests",
                     encode_tests(p));
}

/* As the plan has it, with the plan's patience filled in; null without one. */
static json_t *encode_scheduler(const struct plan *p)
{
    if (!p->scheduler.on)
        return json_null();
    json_t *part = json_copy(json_object_get(p->root, "scheduler"));
    json_object_set_new(part, "patience_s", json_real(p->scheduler.patience_s));
    return part;
}

json_t *job_encode(const struct plan *p, const struct job_request *req)
{
    json_t *job = encode_identity(p, req);
    int rc = req->preflight ? json_object_set(job, "preflight", req->preflight) : 0;
    if (req->fresh)
        rc |= json_object_set_new(job, "fresh", json_true());
    if (p->model)
        rc |= json_object_set_new(job, "model", json_string(p->model));
    if (rc == 0 && json_object_update_new(job, encode_limits(p)) == 0 &&
        json_object_update_new(job, encode_work(p)) == 0 &&
        json_object_set_new(job, "scheduler", encode_scheduler(p)) == 0)
        return job;
    json_decref(job);
    return NULL;
}
