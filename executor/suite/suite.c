#include "executor/suite/suite.h"

#include "common/base/alloc.h"
#include "common/base/clock.h"
#include "common/contract/size.h"
#include "executor/bundle/artifact.h"
#include "executor/workdir/held.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int load_job(struct suite *s, const char *run_id, struct err *err)
{
    char path[FS_PATH_MAX];
    if (fs_join(path, err, s->dir, RUN_JOB_PRIVATE) != 0)
        return -1;
    json_t *root = json_load(path, LIMIT_PLAN_BYTES, err);
    if (!root || job_init(&s->job, root, path, err) != 0)
        return -1;
    if (strcmp(s->job.run_id, run_id) != 0)
        return err_set(err, ERR_INPUT, "%s: belongs to the run %s", path, s->job.run_id);
    if (secrets_init(&s->secrets, &s->job, err) != 0)
        return -1;
    return s->job.source_sha256 ? layout_entry(s->layout, s->src, "src", s->job.source_sha256, err) : 0;
}

static int make_variant(struct suite *s, size_t variant, struct err *err)
{
    struct variant_state *v = &s->variant[variant];
    v->gates = json_array();
    memcpy(v->src, s->src, sizeof s->src);
    snprintf(v->source_key, sizeof v->source_key, "%s", s->job.source_sha256 ? s->job.source_sha256 : "");
    if (fs_join(v->dir, err, s->dir, s->job.variant[variant].name) != 0)
        return -1;
    v->folder = held_open(v->dir, err);
    return v->folder >= 0 ? 0 : -1;
}

static int make_states(struct suite *s, struct err *err)
{
    s->variant = xcalloc(s->job.variant_count, sizeof *s->variant);
    s->test = xcalloc(s->job.test_count, sizeof *s->test);
    eta_init(&s->eta, &s->job);
    for (size_t i = 0; i < s->job.variant_count; i++)
        s->variant[i].folder = -1;
    for (size_t i = 0; i < s->job.variant_count; i++)
        if (make_variant(s, i, err) != 0)
            return -1;
    for (size_t i = 0; i < s->job.test_count; i++) {
        s->test[i].wall_s = s->test[i].prefill_s = s->test[i].own = s->test[i].judged = NAN;
        s->test[i].attempts = (unsigned)s->job.test[i].attempts;
        if (s->job.test[i].elsewhere)
            eta_dropped(&s->eta, i);
    }
    return 0;
}

static double time_of(const json_t *event)
{
    const char *ts = json_string_value(json_object_get(event, "ts"));
    return ts ? clock_from_iso8601(ts) : 0;
}

/* The last end of a test counts: it has the hash of perf.json as the executor left it. */
static void replay_end(struct test_state *t, const json_t *event)
{
    const char *seal = json_string_value(json_object_get(event, "perf_sha256"));
    t->in_flight = false;
    t->ended = !json_is_true(json_object_get(event, "retry"));
    snprintf(t->seal, sizeof t->seal, "%.*s", SHA256_HEX_LEN, t->ended && seal ? seal : "");
}

static void replay_start(struct test_state *t, const json_t *event)
{
    const char *gpu = json_string_value(json_array_get(json_object_get(event, "gpus"), 0));
    t->attempts++;
    t->in_flight = true;
    t->unverified = json_is_true(json_object_get(event, "unverified"));
    free(t->ran_on);
    t->ran_on = gpu ? xstrdup(gpu) : NULL;
}

/* A clock that was set back between two events adds nothing. */
static void replay_time(struct suite *s, const json_t *event)
{
    double at = time_of(event), passed = s->past.last_event_s > 0 ? at - s->past.last_event_s : 0;
    bool resumed = json_is_true(json_object_get(event, "resumed"));
    if (!(at > 0))
        return;
    *(resumed ? &s->past.unattended_s : &s->past.earlier_s) += passed > 0 ? passed : 0;
    s->past.last_event_s = at;
}

/* Restores the state from an event of an earlier supervisor. */
static int replay_event(const json_t *event, void *arg, struct err *err)
{
    struct suite *s = arg;
    enum event_type type;
    const char *name = json_string_value(json_object_get(event, "event"));
    json_int_t index = json_integer_value(json_object_get(event, "test_index"));
    const char *attempt = json_string_value(json_object_get(event, "attempt_id"));
    (void)err;
    s->past.resumed = true;
    replay_time(s, event);
    if (attempt)
        json_object_set(s->past.relayed, attempt, json_object_get(event, "attempt_seq"));
    if (!name || !event_from_name(name, &type))
        return 0;
    if (type == EVENT_SUITE_START) {
        const char *ts = json_string_value(json_object_get(event, "ts"));
        snprintf(s->time.started_at, sizeof s->time.started_at, "%.30s", ts ? ts : "");
        s->past.started = true;
    }
    s->past.closed |= type == EVENT_SUITE_END;
    if (index < 1 || (size_t)index > s->job.test_count)
        return 0;
    struct test_state *t = &s->test[index - 1];
    if (type == EVENT_TEST_START)
        replay_start(t, event);
    if (type == EVENT_TEST_END || type == EVENT_TEST_SKIP)
        replay_end(t, event);
    return 0;
}

int suite_open(struct suite *s, const struct layout *layout, const char *run_id, struct err *err)
{
    char events[FS_PATH_MAX];
    *s = (struct suite){.layout = layout, .journal = {.fd = -1}, .loop = {.epfd = -1}};
    s->nvml = (struct nvml){.ask = -1, .done = -1};
    s->past.relayed = json_object();
    s->time.start_ns = clock_mono_ns();
    clock_iso8601(clock_real_s(), s->time.started_at);
    if (layout_run(layout, s->dir, run_id, err) != 0 || load_job(s, run_id, err) != 0 ||
        make_states(s, err) != 0 || mark_make(layout, s->mark, err) != 0 ||
        fs_join(events, err, s->dir, RUN_EVENTS) != 0 ||
        journal_open(&s->journal, events, &s->secrets, replay_event, s, err) != 0 ||
        loop_open(&s->loop, err) != 0) {
        suite_release(s);
        return -1;
    }
    if (s->past.last_event_s > 0)
        s->past.unattended_s += fmax(clock_real_s() - s->past.last_event_s, 0);
    nvml_open(&s->nvml, layout);
    s->nvml.spacing_ns = s->job.settings.sample_interval_ms * 1500000; /* a tick and a half */
    return 0;
}

static void release_test(struct test_state *t)
{
    free(t->reason);
    free(t->doubt);
    free(t->ran_on);
    free(t->changing);
    json_decref(t->metrics);
}

void suite_release(struct suite *s)
{
    lanes_close(&s->lanes);
    nvml_close(&s->nvml);
    gpu_choice_release(&s->gpus);
    if (s->loop.epfd >= 0)
        loop_close(&s->loop);
    journal_close(&s->journal);
    eta_release(&s->eta);
    for (size_t i = 0; s->variant && i < s->job.variant_count; i++) {
        if (s->variant[i].folder >= 0)
            close(s->variant[i].folder);
        json_decref(s->variant[i].gates);
        free(s->variant[i].seal.damage);
        json_decref(s->variant[i].resources);
    }
    for (size_t i = 0; s->test && i < s->job.test_count; i++)
        release_test(&s->test[i]);
    free(s->variant);
    free(s->test);
    json_decref(s->node);
    json_decref(s->past.relayed);
    secrets_release(&s->secrets);
    if (s->job.root)
        job_release(&s->job);
}

struct contain_limits suite_limits(const struct suite *s)
{
    const struct settings *settings = &s->job.settings;
    struct contain_limits l = {.processes = settings->limit_processes};
    if (settings->limit_memory)
        (void)size_parse(settings->limit_memory, &l.memory_bytes); /* checked when it was read */
    return l;
}

const char *suite_caches(const struct suite *s, size_t variant, bool isolated)
{
    if (s->job.variant[variant].container.on)
        return NULL;
    return isolated ? "/tmp/kernsweep-caches" : s->variant[variant].caches;
}

struct subst suite_subst(const struct suite *s, size_t variant)
{
    const struct variant *v = &s->job.variant[variant];
    const struct variant_state *state = &s->variant[variant];
    struct subst values = {.text = {[SUBST_SRC] = state->src[0] ? state->src : NULL,
                                    [SUBST_BUILD] = state->build,
                                    [SUBST_VARIANT] = v->name,
                                    [SUBST_ATTN_IMPL] = v->attn_impl}};
    for (int k = SUBST_BATCH; k < SUBST_COUNT; k++)
        values.text[k] = *v->shape.text[k - SUBST_BATCH] ? v->shape.text[k - SUBST_BATCH] : NULL;
    return values;
}

void suite_test_result(struct suite *s, size_t test, const struct assessment *v, double wall_s,
                       double prefill_s)
{
    struct test_state *t = &s->test[test];
    s->tests_done += !t->final;
    t->final = true;
    t->in_flight = false;
    t->status = v->status;
    t->wall_s = wall_s;
    t->prefill_s = prefill_s;
    free(t->reason);
    t->reason = v->reason[0] ? xstrdup(v->reason) : NULL;
    if (v->status == STATUS_OK || v->status == STATUS_TIMEOUT)
        eta_finished(&s->eta, test, wall_s);
    else
        eta_dropped(&s->eta, test);
}

int suite_note(struct suite *s, struct err *err, const char *format, ...)
{
    char text[REASON_MAX];
    va_list ap;
    va_start(ap, format);
    reason_vset(text, format, ap);
    va_end(ap);
    return journal_add(&s->journal, EVENT_NODE, json_pack("{s:s}", "message", text), err);
}

json_t *suite_test_fields(const struct suite *s, size_t test)
{
    const struct job_test *t = &s->job.test[test];
    return json_pack("{s:s, s:I, s:I, s:I, s:I, s:b, s:I}", "variant", s->job.variant[t->variant].name, "ctx",
                     (json_int_t)t->context, "run_idx", (json_int_t)t->repetition, "test_index",
                     (json_int_t)(test + 1), "total_tests", (json_int_t)(s->job.test_count - s->needless),
                     "warmup", (int)t->warmup, "tests_done", (json_int_t)s->tests_done);
}

void suite_test_rel(const struct suite *s, size_t test, char *out)
{
    const struct job_test *t = &s->job.test[test];
    snprintf(out, FS_PATH_MAX, "%.64s/ctx_%" PRId64 "_run%" PRId64, s->job.variant[t->variant].name,
             t->context, t->repetition);
}

int suite_test_dir(const struct suite *s, size_t test, char *out, struct err *err)
{
    char rel[FS_PATH_MAX];
    suite_test_rel(s, test, rel);
    return fs_join(out, err, s->dir, rel);
}

json_t *suite_eta(const struct suite *s)
{
    double left = eta_left(&s->eta);
    return artifact_number(left < 0 ? NAN : left);
}

const char *suite_host(const struct suite *s)
{
    const char *own = json_string_value(json_object_get(s->node, "hostname"));
    return *s->job.part.host ? s->job.part.host : own ? own : "";
}

bool suite_cancelled(const struct suite *s)
{
    char path[FS_PATH_MAX];
    if (s->job.part.on)
        return fs_exists(s->job.part.cancel);
    return fs_join(path, NULL, s->dir, RUN_CANCEL) == 0 && fs_exists(path);
}
