#include "executor/suite/test_event.h"

#include "executor/bundle/artifact.h"

#include <math.h>

/* Takes more. */
static int write_event(struct suite *s, enum event_type type, size_t test, json_t *more, struct err *err)
{
    json_t *fields = suite_test_fields(s, test);
    json_object_update(fields, more);
    json_decref(more);
    return journal_add(&s->journal, type, fields, err);
}

/* Adds where the test runs. Takes, and returns, fields. */
static json_t *with_lane(const struct suite *s, size_t test, json_t *fields)
{
    const struct lane *lane = s->test[test].lane;
    json_object_set(fields, "gpus", lane->ids);
    json_object_set_new(fields, "lane", json_integer((json_int_t)lane->index));
    return fields;
}

int test_event_start(struct suite *s, size_t test, struct err *err)
{
    json_t *more = json_pack("{s:f, s:i, s:o}", "timeout_s", s->job.test[test].timeout_s, "attempt",
                             (int)s->test[test].attempts, "suite_eta_s", suite_eta(s));
    if (s->test[test].unverified)
        json_object_set_new(more, "unverified", json_true());
    return write_event(s, EVENT_TEST_START, test, with_lane(s, test, more), err);
}

static void add_levels(json_t *out, const struct sample *last)
{
    static const struct {
        const char *key;
        enum sample_field field;
    } levels[] = {{"gpu_use", SAMPLE_GPU_BUSY}, {"vram_used", SAMPLE_VRAM_USED}, {"rss", SAMPLE_RSS}};
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        if (sample_has(last, levels[i].field))
            json_object_set_new(out, levels[i].key, json_integer((json_int_t)last->value[levels[i].field]));
    }
}

void test_event_heartbeat(struct suite *s, size_t test, double elapsed_s, const struct sample *last,
                          json_t *log_tail)
{
    double expected = eta_test(&s->eta, test);
    eta_running(&s->eta, test, elapsed_s);
    double percent = expected > 0 ? fmin(99, 100 * elapsed_s / expected) : (double)NAN;
    double left = expected > 0 ? fmax(0, expected - elapsed_s) : (double)NAN;
    json_t *more =
        json_pack("{s:o, s:f, s:o, s:o, s:o, s:o*}", "elapsed_s", artifact_number(elapsed_s), "timeout_s",
                  s->job.test[test].timeout_s, "est_pct", artifact_number(percent), "eta_remaining_s",
                  artifact_number(left), "suite_eta_s", suite_eta(s), "log_tail", log_tail);
    add_levels(more, last);
    /* A full disk is no reason to end the test here: the next artifact that cannot be written is. */
    write_event(s, EVENT_HEARTBEAT, test, with_lane(s, test, more), NULL);
}

/* Adds what perf.json is compared with when it is adopted, and when the bundle is stored. */
static void add_witness(json_t *out, const struct test_state *t)
{
    if (t->metrics)
        json_object_set(out, "metrics", t->metrics);
    if (t->seal[0])
        json_object_set_new(out, "perf_sha256", json_string(t->seal));
}

static void add_own_metric(json_t *out, const struct suite *s, double value)
{
    const struct own_metric *own = own_metrics_primary(&s->job.metrics);
    if (own && !isnan(value))
        json_object_set_new(out, "metric",
                            json_pack("{s:s, s:s, s:o}", "name", own->name, "unit", own->unit, "value",
                                      artifact_number(value)));
}

static json_t *encode_end(struct suite *s, size_t test, bool retry)
{
    const struct test_state *t = &s->test[test];
    json_t *more = json_pack("{s:s, s:s, s:o, s:i, s:b, s:o}", "exit_status", status_name(t->status),
                             "reason", t->reason ? t->reason : "", "wall_s", artifact_number(t->wall_s),
                             "attempt", (int)t->attempts, "retry", (int)retry, "suite_eta_s", suite_eta(s));
    if (!isnan(t->prefill_s))
        json_object_set_new(more, "prefill_s", artifact_number(t->prefill_s));
    add_own_metric(more, s, t->own);
    if (!retry)
        add_witness(more, t);
    return more;
}

int test_event_end(struct suite *s, size_t test, bool retry, struct err *err)
{
    s->test[test].ended = !retry;
    return write_event(s, EVENT_TEST_END, test, encode_end(s, test, retry), err);
}

int test_event_replace(struct suite *s, size_t test, struct err *err)
{
    json_t *more = encode_end(s, test, false);
    json_object_set_new(more, "replaces", json_true());
    return write_event(s, EVENT_TEST_END, test, more, err);
}

int test_event_skip(struct suite *s, size_t test, const struct assessment *why, struct err *err)
{
    json_t *more = json_pack("{s:s, s:s}", "reason", why->reason, "status", status_name(why->status));
    add_witness(more, &s->test[test]);
    s->test[test].ended = true;
    return write_event(s, EVENT_TEST_SKIP, test, more, err);
}
