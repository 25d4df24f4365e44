#include "executor/run/summary.h"

#include "common/base/clock.h"
#include "executor/bundle/artifact.h"
#include "executor/run/run_clocks.h"

struct summary_counts summary_count(const struct suite *s)
{
    struct summary_counts c = {.total = s->job.test_count - s->needless};
    for (size_t i = 0; i < s->job.test_count; i++) {
        const struct test_state *t = &s->test[i];
        if (t->needless)
            continue;
        if (t->final && t->status == STATUS_OK)
            c.ok++;
        else if (!t->final || t->status == STATUS_SKIPPED || t->status == STATUS_CANCELLED)
            c.skipped++;
        else
            c.failed++;
    }
    return c;
}

static json_t *encode_variants(const struct suite *s)
{
    json_t *out = json_array();
    for (size_t i = 0; i < s->job.variant_count; i++) {
        const struct variant_state *v = &s->variant[i];
        json_t *variant =
            json_pack("{s:s, s:s, s:s, s:s, s:o, s:b, s:s, s:O}", "name", s->job.variant[i].name, "attn_impl",
                      s->job.variant[i].attn_impl, "status", status_name(v->status), "reason", v->reason,
                      "build_wall_s", artifact_number(v->build_wall_s), "build_cached", (int)v->build_cached,
                      "build_key", v->build_key, "gates", v->gates);
        if (s->job.variant[i].in_tree)
            json_object_set_new(variant, "in_tree", json_true());
        json_array_append_new(out, variant);
    }
    return out;
}

/* Takes, and returns, out. */
static json_t *with_witness(json_t *out, const struct test_state *t)
{
    if (t->metrics)
        json_object_set(out, "metrics", t->metrics);
    if (t->final && t->seal[0])
        json_object_set_new(out, "perf_sha256", json_string(t->seal));
    return out;
}

static json_t *encode_tests(const struct suite *s)
{
    json_t *out = json_array();
    for (size_t i = 0; i < s->job.test_count; i++) {
        const struct test_state *t = &s->test[i];
        const struct job_test *j = &s->job.test[i];
        if (t->needless)
            continue;
        const char *reason = t->reason ? t->reason : t->final ? "" : "the run ended before this test";
        json_array_append_new(
            out, with_witness(json_pack("{s:I, s:s, s:I, s:I, s:b, s:s, s:o, s:o, s:s}", "test_index",
                                        (json_int_t)(i + 1), "variant", s->job.variant[j->variant].name,
                                        "context_len", (json_int_t)j->context, "repetition",
                                        (json_int_t)j->repetition, "warmup", (int)j->warmup, "exit_status",
                                        status_name(t->final ? t->status : STATUS_CANCELLED), "wall_time_sec",
                                        artifact_number(t->wall_s), "prefill_s",
                                        artifact_number(t->prefill_s), "reason", reason),
                              t));
    }
    return out;
}

/* By test_index; NULL: none. */
static json_t *encode_needless(const struct suite *s)
{
    json_t *out = s->needless ? json_array() : NULL;
    for (size_t i = 0; out && i < s->job.test_count; i++)
        if (s->test[i].needless)
            json_array_append_new(out, json_integer((json_int_t)(i + 1)));
    return out;
}

int summary_write(struct suite *s, enum run_status status, const char *reason, double wall_s, struct err *err)
{
    char ended_at[CLOCK_ISO_LEN + 1];
    struct summary_counts c = summary_count(s);
    clock_iso8601(clock_real_s(), ended_at);
    json_t *out = json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:{s:I, s:I, s:I, s:I}, s:o, s:o, s:o*, "
        "s:o*}",
        "schema", PROTO_SCHEMA_SUMMARY, "run_id", s->job.run_id, "ticket", s->job.settings.ticket, "tag",
        s->job.settings.tag, "date", s->job.date, "mode", s->job.settings.mode, "status",
        run_status_name(status), "reason", reason, "started_at", s->time.started_at, "ended_at", ended_at,
        "wall_s", artifact_number(wall_s), "counts", "total", (json_int_t)c.total, "ok", (json_int_t)c.ok,
        "failed", (json_int_t)c.failed, "skipped", (json_int_t)c.skipped, "variants", encode_variants(s),
        "tests", encode_tests(s), "clocks", run_clocks_encode(s), "needless", encode_needless(s));
    return artifact_json(s->dir, RUN_SUMMARY, out, &s->secrets, err);
}
