#include "executor/run/test.h"

#include "common/base/clock.h"
#include "executor/bundle/artifact.h"
#include "executor/bundle/diag.h"
#include "executor/bundle/logtext.h"
#include "executor/job/command.h"
#include "executor/process/child.h"
#include "executor/run/perf.h"
#include "executor/run/settle.h"
#include "executor/telemetry/hang.h"
#include "executor/telemetry/sampler.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LIVE_TAIL = 600 };

static const double heartbeat_s = 1;
static const double own_end_s = 1;
static const double sync_interval_s = 2;

struct test_run {
    struct suite *suite;
    size_t index;
    const struct job_test *test;
    const struct variant *variant;
    char dir[FS_PATH_MAX];
    struct words argv, env;
    struct runlog log;
    uint64_t told; /* bytes of it when a heart beat last showed its end */
    struct timing_reader reader;
    struct sampler sampler;
    struct hang hang;
    struct buf evidence; /* for diag.txt */
    struct child_limits limits;
    struct child_result child;
    struct verdict verdict;
    double started_real_s;
    struct settle settle;
};

static void on_started(void *arg, const struct process *p)
{
    struct test_run *r = arg;
    struct telemetry_target target = {.layout = r->suite->layout, .pid = p->pid};
    telemetry_begin(&r->suite->telemetry, &target);
    r->started_real_s = clock_real_s() - (double)(clock_mono_ns() - p->start_ns) * 1e-9;
}

static void on_output(void *arg, const char *data, size_t len)
{
    struct test_run *r = arg;
    runlog_add(&r->log, data, len);
    timing_reader_feed(&r->reader, data, len);
}

static enum stop_cause on_sample(void *arg, double t_s, uint64_t missed)
{
    struct test_run *r = arg;
    sampler_take(&r->sampler, t_s, missed);
    return hang_feed(&r->hang, &r->sampler.last, r->log.total) ? STOP_HANG : STOP_NONE;
}

static void on_stopping(void *arg, const struct process *p, enum stop_cause cause)
{
    struct test_run *r = arg;
    (void)cause;
    diag_processes(&r->evidence, p->pid);
}

/* The end of what the process has printed, for who watches; NULL when that is nothing new. */
static json_t *log_end(struct test_run *r)
{
    struct buf tail, text;
    if (r->log.cleaned == r->told)
        return NULL;
    r->told = r->log.cleaned;
    buf_init(&tail, LIVE_TAIL);
    buf_init(&text, LIVE_TAIL * 8);
    runlog_tail(&r->log, LIVE_TAIL, &tail);
    const char *from = tail.len == LIVE_TAIL ? memchr(buf_str(&tail), '\n', tail.len) : NULL;
    size_t skip = from ? (size_t)(from - buf_str(&tail)) + 1 : 0; /* a line's second half */
    logtext_lines(&text, buf_str(&tail) + skip, tail.len - skip);
    json_t *out = json_stringn(buf_str(&text), text.len);
    buf_release(&tail);
    buf_release(&text);
    return out;
}

static void on_heartbeat(void *arg, double t_s)
{
    struct test_run *r = arg;
    const struct sample *last = &r->sampler.last;
    double expected = eta_test(&r->suite->eta, r->index);
    json_t *fields = suite_test_fields(r->suite, r->index);
    json_t *more = json_pack("{s:o, s:f, s:o, s:o, s:o}", "elapsed_s", artifact_number(t_s), "timeout_s",
                             r->test->timeout_s, "est_pct",
                             artifact_number(expected > 0 ? fmin(99, 100 * t_s / expected) : NAN),
                             "eta_remaining_s", artifact_number(expected > 0 ? fmax(0, expected - t_s) : NAN),
                             "suite_eta_s", suite_eta(r->suite, t_s));
    json_t *end = log_end(r);
    if (end)
        json_object_set_new(more, "log_tail", end);
    static const struct {
        const char *key;
        enum sample_field field;
    } levels[] = {{"gpu_use", SAMPLE_GPU_BUSY}, {"vram_used", SAMPLE_VRAM_USED}, {"rss", SAMPLE_RSS}};
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        if (sample_has(last, levels[i].field))
            json_object_set_new(more, levels[i].key, json_integer((json_int_t)last->value[levels[i].field]));
    }
    json_object_update(fields, more);
    json_decref(more);
    /* A heart beat that cannot be written is no reason to end a test; the next artifact will tell. */
    journal_add(&r->suite->journal, EVENT_HEARTBEAT, fields, NULL);
}

static int set_own_environment(struct test_run *r, struct err *err)
{
    char context[32], repetition[32];
    snprintf(context, sizeof context, "%" PRId64, r->test->context);
    snprintf(repetition, sizeof repetition, "%" PRId64, r->test->repetition);
    const char *const pairs[][2] = {{"KERNSWEEP_RUN_ID", r->suite->job.run_id},
                                    {"KERNSWEEP_VARIANT", r->variant->name},
                                    {"KERNSWEEP_CONTEXT", context},
                                    {"KERNSWEEP_REPETITION", repetition},
                                    {"KERNSWEEP_OUT", r->dir}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (words_setenv(&r->env, pairs[i][0], pairs[i][1], err) != 0)
            return -1;
    }
    return 0;
}

static int make_command(struct test_run *r, struct err *err)
{
    struct subst values = suite_subst(r->suite, r->test->variant);
    values.text[SUBST_OUT] = r->dir;
    values.text[SUBST_RUN_ID] = r->suite->job.run_id;
    values.context = r->test->context;
    values.repetition = r->test->repetition;
    if (command_argv(&r->variant->run, &values, &r->argv, err) != 0 ||
        command_environment(&r->suite->job, r->variant, &values, &r->env, err) != 0)
        return -1;
    return set_own_environment(r, err);
}

static int open_files(struct test_run *r, struct err *err)
{
    struct suite *s = r->suite;
    if (suite_test_dir(s, r->index, r->dir, err) != 0 || fs_remove_tree(r->dir, err) != 0 ||
        fs_mkdir_p(r->dir, 0700, err) != 0)
        return -1;
    if (runlog_open(&r->log, r->dir, "run.log", (size_t)s->job.settings.log_limit_bytes, &s->secrets, err) !=
            0 ||
        sampler_open(&r->sampler, &s->telemetry, r->dir, err) != 0)
        return -1;
    timing_reader_init(&r->reader, &s->job.timings);
    hang_init(&r->hang, s->job.settings.hang_after_s);
    return 0;
}

static int start_event(struct test_run *r, struct err *err)
{
    json_t *fields = suite_test_fields(r->suite, r->index);
    json_t *more = json_pack("{s:f, s:i, s:o}", "timeout_s", r->test->timeout_s, "attempt",
                             (int)r->suite->test[r->index].attempts, "suite_eta_s", suite_eta(r->suite, 0));
    json_object_update(fields, more);
    json_decref(more);
    return journal_add(&r->suite->journal, EVENT_TEST_START, fields, err);
}

/* Who ends a scheduler's job ends all its processes at once, and the test may be seen to die first. */
static bool ends_with_us(struct test_run *r, const struct outcome *outcome)
{
    struct loop *loop = &r->suite->loop;
    struct loop_events events = {.now_ns = 0};
    if (!r->suite->job.part.on || outcome->stop != STOP_NONE || (!outcome->signal && outcome->exit_code == 0))
        return false;
    loop_arm(loop, LOOP_DEADLINE, clock_deadline_ns(own_end_s), 0);
    while (!loop->stop && !events.ready[LOOP_DEADLINE] && loop_wait(loop, &events, NULL) == 0)
        continue;
    loop_arm(loop, LOOP_DEADLINE, 0, 0);
    return loop->stop;
}

static void judge(struct test_run *r)
{
    struct outcome outcome;
    char evidence[OOM_EVIDENCE_MAX];
    struct expectation expected = {.context = r->test->context,
                                   .attn_impl = r->variant->attn_impl,
                                   .prompt_tokens_required =
                                       r->suite->job.settings.prompt_tokens == PROMPT_TOKENS_REQUIRED};
    child_outcome(&r->child, &r->limits, r->argv.item[0], &outcome);
    outcome.hang_after_s = r->suite->job.settings.hang_after_s;
    /* 137: a shell whose child was killed; the group may also have died of one member's death. */
    if ((outcome.signal == SIGKILL || outcome.exit_code == 128 + SIGKILL) &&
        oom_evidence(&r->suite->oom, evidence))
        outcome.oom_evidence = evidence;
    if (ends_with_us(r, &outcome))
        outcome.stop = STOP_CANCEL;
    r->verdict = verdict_of(&outcome, &r->reader.result, &expected);
    if (outcome.stop == STOP_CANCEL && !suite_cancelled(r->suite)) {
        r->verdict.status = STATUS_INTERRUPTED;
        reason_set(r->verdict.reason, "the executor was told to end");
    }
}

/* Why this node may not be used for the next test. */
static void judge_node(struct test_run *r)
{
    char *out = r->suite->dirty;
    if (!r->child.group_gone)
        reason_set(
            out,
            "the node is dirty: processes of test %zu outlive SIGKILL (see its diag.txt); reboot the node",
            r->index + 1);
    else if (!r->settle.back)
        reason_set(out,
                   "the node is dirty: after test %zu GPU memory stays at %.0f MiB where it was %.0f MiB "
                   "before; find "
                   "who holds it or reset the GPU",
                   r->index + 1, r->settle.after / (1 << 20), r->settle.before / (1 << 20));
}

static int write_diag(struct test_run *r, struct err *err)
{
    struct buf text;
    buf_init(&text, DIAG_MAX);
    buf_printf(&text, "%s: %s\n\n", status_name(r->verdict.status), r->verdict.reason);
    buf_printf(&text, "wall %.3f s of %.3f s allowed; leftovers %u; all processes gone: %s\n",
               r->child.wall_s, r->test->timeout_s, r->child.leftovers, r->child.group_gone ? "yes" : "NO");
    diag_sample(&text, "before", &r->sampler.before);
    for (uint64_t i = r->sampler.samples > SAMPLER_HISTORY ? r->sampler.samples - SAMPLER_HISTORY : 0;
         i < r->sampler.samples; i++)
        diag_sample(&text, "sample", &r->sampler.history[i % SAMPLER_HISTORY]);
    buf_add(&text, r->evidence.data, r->evidence.len);
    diag_log_end(&text, &r->log);
    int rc = artifact_text(r->dir, "diag.txt", buf_str(&text), text.len, &r->suite->secrets, err);
    buf_release(&text);
    return rc;
}

static int write_artifacts(struct test_run *r, struct err *err)
{
    struct perf perf = {.test = r->index,
                        .attempt = r->suite->test[r->index].attempts,
                        .verdict = &r->verdict,
                        .child = &r->child,
                        .timings = &r->reader.result,
                        .sampler = &r->sampler,
                        .log = &r->log,
                        .started_real_s = r->started_real_s,
                        .vram_after = r->settle.after,
                        .vram_back = r->settle.back};
    if (runlog_finish(&r->log, err) != 0 || sampler_finish(&r->sampler, r->child.wall_s, err) != 0)
        return -1;
    if (r->verdict.status != STATUS_OK && write_diag(r, err) != 0)
        return -1;
    return artifact_json(r->dir, "perf.json", perf_encode(r->suite, &perf), &r->suite->secrets, err);
}

int test_end_event(struct suite *s, size_t test, bool retry, struct err *err)
{
    const struct test_state *t = &s->test[test];
    json_t *fields = suite_test_fields(s, test);
    json_t *more = json_pack("{s:s, s:s, s:o, s:o, s:i, s:b, s:o}", "exit_status", status_name(t->status),
                             "reason", t->reason ? t->reason : "", "wall_s", artifact_number(t->wall_s),
                             "prefill_s", artifact_number(t->prefill_s), "attempt", (int)t->attempts, "retry",
                             (int)retry, "suite_eta_s", suite_eta(s, 0));
    if (isnan(t->prefill_s))
        json_object_del(more, "prefill_s");
    json_object_update(fields, more);
    json_decref(more);
    s->test[test].ended = !retry;
    return journal_add(&s->journal, EVENT_TEST_END, fields, err);
}

/* A long test's result survives the node's death at once; many short ones share a sync. */
static int sync_sometimes(struct test_run *r, struct err *err)
{
    struct suite *s = r->suite;
    int64_t now = clock_mono_ns();
    if ((double)(now - s->last_sync_ns) * 1e-9 < sync_interval_s)
        return 0;
    s->last_sync_ns = now;
    return fs_sync_dir(r->dir, err) != 0 || journal_sync(&s->journal, err) != 0 ? -1 : 0;
}

static int finish(struct test_run *r, struct err *err)
{
    struct suite *s = r->suite;
    timing_reader_finish(&r->reader);
    judge(r);
    if (s->loop.stop && r->verdict.status == STATUS_INTERRUPTED)
        return 0; /* the journal has its start; the next supervisor sees that it did not end */
    const double *prefill = timings_get(&r->reader.result, "prefill_s");
    judge_node(r);
    if (write_artifacts(r, err) != 0)
        return -1;
    suite_test_result(s, r->index, &r->verdict, r->child.wall_s,
                      prefill && isfinite(*prefill) ? *prefill : NAN);
    if (test_end_event(s, r->index, false, err) != 0)
        return -1;
    return sync_sometimes(r, err);
}

/* As hang_after_s, a plan's limit on silence is for GPUs: where none shows it is off. */
static double silence_allowed_s(const struct test_run *r)
{
    const struct sample *before = &r->sampler.before;
    bool gpu = sample_has(before, SAMPLE_VRAM_USED) || sample_has(before, SAMPLE_GPU_BUSY);
    return gpu ? r->suite->job.settings.no_output_timeout_s : 0;
}

static int run(struct test_run *r, struct err *err)
{
    struct suite *s = r->suite;
    struct process_spec spec = {.argv = r->argv.item, .env = r->env.item, .cwd = r->dir, .input = -1};
    struct child_hooks hooks = {.started = on_started,
                                .output = on_output,
                                .heartbeat = on_heartbeat,
                                .sample = on_sample,
                                .stopping = on_stopping,
                                .arg = r};
    r->limits = (struct child_limits){.timeout_s = r->test->timeout_s,
                                      .kill_grace_s = s->job.settings.kill_grace_s,
                                      .no_output_timeout_s = silence_allowed_s(r),
                                      .heartbeat_s = heartbeat_s,
                                      .sample_interval_ms = s->job.settings.sample_interval_ms};
    s->test[r->index].attempts++;
    oom_mark(&s->oom);
    if (start_event(r, err) != 0)
        return -1;
    int rc = child_run(&s->loop, &spec, &r->limits, &hooks, &r->child, err);
    telemetry_end(&s->telemetry);
    if (rc != 0)
        return -1;
    settle_wait(&r->settle, s, &r->sampler.before);
    return finish(r, err);
}

int test_run(struct suite *s, size_t test, struct err *err)
{
    struct test_run r = {.suite = s, .index = test, .test = &s->job.test[test], .log = {.fd = -1}};
    r.sampler.fd = -1;
    r.variant = &s->job.variant[r.test->variant];
    buf_init(&r.evidence, DIAG_MAX / 2);
    int rc = open_files(&r, err) != 0 || make_command(&r, err) != 0 ? -1 : run(&r, err);
    if (rc != 0)
        err_wrap(err, "test %zu (%s, context %" PRId64 ")", test + 1, r.variant->name, r.test->context);
    runlog_release(&r.log);
    sampler_release(&r.sampler);
    timing_reader_release(&r.reader);
    words_release(&r.argv);
    words_release(&r.env);
    buf_release(&r.evidence);
    return rc;
}

int test_skip(struct suite *s, size_t test, const struct verdict *why, struct err *err)
{
    char dir[FS_PATH_MAX], text[VERDICT_REASON_MAX + 64];
    struct perf perf = {.test = test, .attempt = s->test[test].attempts, .verdict = why};
    int n = snprintf(text, sizeof text, "%s: %s\n", status_name(why->status), why->reason);
    json_t *fields = suite_test_fields(s, test);
    json_object_set_new(fields, "reason", json_string(why->reason));
    json_object_set_new(fields, "status", json_string(status_name(why->status)));
    if (suite_test_dir(s, test, dir, err) != 0 || fs_remove_tree(dir, err) != 0 ||
        fs_mkdir_p(dir, 0700, err) != 0 ||
        artifact_text(dir, "diag.txt", text, (size_t)n, &s->secrets, err) != 0 ||
        artifact_json(dir, "perf.json", perf_encode(s, &perf), &s->secrets, err) != 0) {
        json_decref(fields);
        return -1;
    }
    suite_test_result(s, test, why, NAN, NAN);
    s->test[test].ended = true;
    return journal_add(&s->journal, EVENT_TEST_SKIP, fields, err);
}
