#include "executor/trial/test.h"

#include "common/base/clock.h"
#include "common/base/environment.h"
#include "executor/bundle/artifact.h"
#include "executor/bundle/diag.h"
#include "executor/bundle/logtext.h"
#include "executor/job/command.h"
#include "executor/process/child.h"
#include "executor/suite/assess.h"
#include "executor/suite/folders.h"
#include "executor/telemetry/hang.h"
#include "executor/telemetry/sampler.h"
#include "executor/trial/container_end.h"
#include "executor/trial/perf.h"
#include "executor/trial/precise.h"
#include "executor/trial/settle.h"
#include "executor/trial/test_event.h"
#include "executor/trial/test_group.h"
#include "executor/workdir/mark.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LIVE_TAIL = 600 };

static const double heartbeat_s = 1;
static const double job_end_s = 1;
static const double engine_linger_s = 5; /* what an engine tidies up once its program has ended */
static const double sync_interval_s = 2;

enum test_phase {
    TEST_MEASURES, /* the level before it */
    TEST_RUNS,     /* its processes, until all are gone */
    TEST_REMOVES,  /* its container */
    TEST_SETTLES,  /* the memory of its GPUs */
    TEST_JOB_ENDS  /* it may have died because the scheduler's job ends: that will be known in a moment */
};

struct test_run {
    struct suite *suite;
    struct lane *lane;
    size_t index;
    const struct job_test *test;
    const struct variant *variant;
    char dir[FS_PATH_MAX];
    struct held folder;       /* the same */
    bool stuck;               /* it is not to be had any more: nothing can be written there */
    unsigned replaced_before; /* how often its variant's folder had been, when it began */
    struct strvec argv, env;
    struct runlog log;
    uint64_t shown; /* bytes of it at the last heart beat */
    struct timing_reader reader;
    struct sampler sampler;
    struct hang hang;
    struct proctree_seen seen; /* its processes, as samples found them */
    struct buf evidence;       /* for diag.txt */
    struct child_limits limits;
    struct child child;
    struct contain_group group;
    bool grouped; /* it ran in a control group */
    struct container_use container;
    struct container_end container_end;
    bool contained_by_engine;
    struct contain_hits hits;
    bool started; /* the child, or the attempt to start it */
    struct assessment assessment;
    double started_real_s;
    int64_t start_ns;
    unsigned long timings_found;
    double printed_s;
    enum test_phase phase;
    struct loop_watch timer; /* of what follows the processes */
    struct settle settle;
    int64_t told_ns; /* the last heart beat */
};

static void on_started(void *arg, const struct process *p)
{
    struct test_run *r = arg;
    struct telemetry_target target = {
        .layout = r->suite->layout, .nvml = &r->suite->nvml, .pid = p->pid, .seen = &r->seen};
    proctree_note(&r->seen, p->pid);
    telemetry_begin(&r->lane->telemetry, &target);
    r->start_ns = p->start_ns;
    r->started_real_s = clock_real_s() - (double)(clock_mono_ns() - p->start_ns) * 1e-9;
}

static void on_output(void *arg, const char *data, size_t len)
{
    struct test_run *r = arg;
    runlog_add(&r->log, data, len);
}

/* What is read from the output has no secrets in it, so that nothing cut from it has a part of one. */
static void on_cleaned(void *arg, const char *data, size_t len)
{
    struct test_run *r = arg;
    timing_reader_feed(&r->reader, data, len);
    if (r->reader.result.times_found != r->timings_found)
        r->printed_s = (double)(clock_mono_ns() - r->start_ns) * 1e-9;
    r->timings_found = r->reader.result.times_found;
}

static enum stop_cause on_sample(void *arg, double t_s, uint64_t missed)
{
    struct test_run *r = arg;
    sampler_take(&r->sampler, t_s, missed);
    /* It has one clock for all lanes. */
    clock_watch_take(&r->suite->clock_watch,
                     r->lane->kept ? (double)(clock_mono_ns() - r->suite->start_ns) * 1e-9 : t_s);
    return hang_feed(&r->hang, &r->sampler.last, r->log.total) ? STOP_HANG : STOP_NONE;
}

static void on_stopping(void *arg, const struct process *p, enum stop_cause cause)
{
    struct test_run *r = arg;
    (void)cause;
    diag_processes(&r->evidence, p->pid, &r->suite->secrets);
}

static void on_heartbeat(void *arg, double t_s)
{
    struct test_run *r = arg;
    bool news = r->log.cleaned != r->shown;
    r->told_ns = r->suite->loop.now_ns;
    r->shown = r->log.cleaned;
    test_event_heartbeat(r->suite, r->index, t_s, &r->sampler.newest,
                         news ? logtext_tail(&r->log, LIVE_TAIL) : NULL);
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
                                    {"KERNSWEEP_OUT", r->dir},
                                    {MARK_VARIABLE, r->suite->mark}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        environment_set(&r->env, pairs[i][0], pairs[i][1]);
    }
    lane_environment(r->lane, &r->env);
    return strvec_check(&r->env, err);
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
    char rel[FS_PATH_MAX];
    suite_test_rel(s, r->index, rel);
    if (folders_look(s, err) != 0 || suite_test_dir(s, r->index, r->dir, err) != 0 ||
        folders_make(s, &r->folder, rel, err) != 0)
        return -1;
    r->replaced_before = s->variant[r->test->variant].replaced;
    if (runlog_open(&r->log, r->dir, "run.log", (size_t)s->job.settings.log_limit_bytes, &s->secrets, err) !=
            0 ||
        sampler_open(&r->sampler, &r->lane->telemetry, r->dir, err) != 0 ||
        loop_add_timer(&s->loop, &r->timer, err) != 0)
        return -1;
    timing_reader_init(&r->reader, &s->job.timings);
    runlog_listen(&r->log, on_cleaned, r);
    hang_init(&r->hang, s->job.settings.hang_after_s);
    return 0;
}

/* A scheduler ends all processes of a job at once, so the test may die a moment before we are told to end. */
static bool may_end_with_job(const struct test_run *r)
{
    struct ending ending;
    child_ending(&r->child.result, &r->limits, r->argv.v[0], &ending);
    return r->suite->job.part.on && !r->suite->loop.stop && ending.stop == STOP_NONE &&
           (ending.signal || ending.exit_code != 0);
}

static bool ended_with_job(const struct test_run *r, const struct ending *ending)
{
    return r->suite->job.part.on && r->suite->loop.stop && ending->stop == STOP_NONE &&
           (ending->signal || ending->exit_code != 0);
}

/* What the OOM killer did to others is only noted. */
static void look_for_oom(struct test_run *r, struct ending *ending, char *evidence)
{
    bool beside = r->lane->beside > 0;
    /* 137: a shell whose child was killed. */
    if (ending->signal != SIGKILL && ending->exit_code != 128 + SIGKILL)
        return;
    enum oom_found found = oom_evidence(&r->lane->oom, beside ? &r->seen : NULL, evidence);
    if (found == OOM_HERE)
        ending->oom_evidence = evidence;
    else if (found == OOM_SOMEWHERE)
        buf_printf(&r->evidence, "\nwhile other tests ran, too, so perhaps not in this one: %s\n", evidence);
}

static void assess_run(struct test_run *r)
{
    struct ending ending;
    char evidence[OOM_EVIDENCE_MAX], program[PROGRAM_SHOWN];
    struct expectation expected = {
        .context = r->test->context,
        .attn_impl = r->variant->attn_impl,
        .prompt_tokens_required = r->suite->job.settings.prompt_tokens == PROMPT_TOKENS_REQUIRED,
        .rule = &r->suite->job.timings,
        .metrics = &r->suite->job.metrics,
        .wall_s = r->suite->job.settings.clock == CLOCK_OF_PROCESS ? r->child.result.wall_s : (double)NAN};
    secrets_printable(&r->suite->secrets, r->argv.v[0], strlen(r->argv.v[0]), program, sizeof program);
    child_ending(&r->child.result, &r->limits, program, &ending);
    ending.hang_after_s = r->suite->job.settings.hang_after_s;
    look_for_oom(r, &ending, evidence);
    if (ended_with_job(r, &ending))
        ending.stop = STOP_CANCEL;
    r->assessment = assess_test(&ending, &r->reader.result, &expected);
    test_group_judge(r->suite, &r->hits, &r->assessment);
    if (r->assessment.status == STATUS_OK && r->suite->test[r->index].doubt) {
        r->assessment.status = STATUS_INVALID;
        reason_set(r->assessment.reason, "%s", r->suite->test[r->index].doubt);
    }
    if (ending.stop == STOP_CANCEL && !suite_cancelled(r->suite)) {
        r->assessment.status = STATUS_INTERRUPTED;
        reason_set(r->assessment.reason, "the executor was told to end");
    }
}

static void look_at_own_folder(struct test_run *r, enum held_state *state)
{
    struct err why = {.kind = ERR_NONE};
    char rel[FS_PATH_MAX];
    *state = HELD_LOST;
    suite_test_rel(r->suite, r->index, rel);
    r->stuck = r->suite->variant[r->test->variant].stuck[0] ||
               folders_look_at(r->suite, &r->folder, rel, state, &why) != 0;
    if (!r->stuck || why.kind == ERR_NONE)
        return;
    reason_set(r->assessment.reason, "the folder of its results cannot be put back: %.300s", why.msg);
    if (!r->suite->partial[0])
        reason_set(r->suite->partial, "a test has no record: %.300s; remove it by hand", why.msg);
}

/* Results that were somewhere else meanwhile are not believed. */
static int check_folders(struct test_run *r, struct err *err)
{
    enum held_state own;
    if (folders_look(r->suite, err) != 0)
        return -1;
    look_at_own_folder(r, &own);
    bool replaced =
        own != HELD_IN_PLACE || r->suite->variant[r->test->variant].replaced != r->replaced_before;
    if (!replaced || r->assessment.status != STATUS_OK)
        return 0;
    r->assessment.status = STATUS_INVALID;
    if (!*r->assessment.reason)
        reason_set(r->assessment.reason, "the folder of its results was replaced while it ran, by the test "
                                         "itself or by one that ran at the same time");
    return 0;
}

/* What the dirt is on: of several lanes, it is only one. */
static const char *where(const struct test_run *r)
{
    return r->lane->kept ? r->lane->name : "the node";
}

/* Sets lane->dirty when its GPUs must not be used for another test. */
static void check_lane(struct test_run *r)
{
    char *out = r->lane->dirty, why[GPU_HEALTH_WHY_MAX];
    if (!r->child.result.group_gone)
        reason_set(out,
                   "%s is dirty: processes of test %zu survived SIGKILL (see its diag.txt); reboot the node",
                   where(r), r->index + 1);
    else if (!r->settle.back)
        reason_set(out,
                   "%s is dirty: GPU memory stays at %.0f MiB after test %zu, where it was %.0f MiB "
                   "before; find the process that holds it, or reset the GPU",
                   where(r), r->settle.after / (1 << 20), r->index + 1, r->settle.before / (1 << 20));
    else if (!gpu_health_look(&r->lane->health, why))
        reason_set(out, "%s", why);
}

static int write_diag(struct test_run *r, struct err *err)
{
    struct buf text;
    buf_init(&text, DIAG_MAX);
    buf_printf(&text, "%s: %s\n\n", status_name(r->assessment.status), r->assessment.reason);
    buf_printf(&text, "wall %.3f s of %.3f s allowed; leftovers %u; all processes gone: %s\n",
               r->child.result.wall_s, r->test->timeout_s, r->child.result.leftovers,
               r->child.result.group_gone ? "yes" : "NO");
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
                        .assessment = &r->assessment,
                        .child = &r->child.result,
                        .grouped = r->grouped,
                        .contained_by_engine = r->contained_by_engine,
                        .hits = r->hits,
                        .lane = r->lane,
                        .timings = &r->reader.result,
                        .sampler = &r->sampler,
                        .log = &r->log,
                        .started_real_s = r->started_real_s,
                        .printed_s = r->printed_s,
                        .vram_after = r->settle.after,
                        .vram_back = r->settle.back};
    sampler_after(&r->sampler, r->child.result.wall_s, &r->settle.end);
    if (r->stuck)
        return 0;
    if (runlog_finish(&r->log, err) != 0 || sampler_finish(&r->sampler, r->child.result.wall_s, err) != 0)
        return -1;
    if (r->assessment.status != STATUS_OK && write_diag(r, err) != 0)
        return -1;
    return perf_write(r->suite, &perf, r->dir, err);
}

/* Once: it is the same for all tests of a node. */
static int tell_unbound(struct test_run *r, struct err *err)
{
    const struct near_failure *failed = &r->child.result.process.unbound;
    char text[REASON_MAX];
    if (r->suite->told_unbound || (!failed->cpus && !failed->memory))
        return 0;
    r->suite->told_unbound = true;
    reason_set(text,
               "tests are not bound to the %s near their GPU (%s): they may be slower, and vary more; permit "
               "%s in the container, or see the perf.json of the tests",
               failed->cpus ? "CPUs" : "memory", strerror(failed->cpus ? failed->cpus : failed->memory),
               failed->cpus ? "sched_setaffinity" : "set_mempolicy");
    return suite_note(r->suite, text, err);
}

/* The result of a long test is synced at once; many short ones share a sync. */
static int sync_result(struct test_run *r, struct err *err)
{
    struct suite *s = r->suite;
    int64_t now = clock_mono_ns();
    if (r->stuck || (double)(now - s->last_sync_ns) * 1e-9 < sync_interval_s)
        return 0;
    s->last_sync_ns = now;
    return fs_sync_dir(r->dir, err) != 0 || journal_sync(&s->journal, err) != 0 ? -1 : 0;
}

/* A value that the workload printed; NaN without one. */
static double printed(const struct test_run *r, const char *name)
{
    const double *value = timings_get(&r->reader.result, name);
    return value && isfinite(*value) ? *value : (double)NAN;
}

static double printed_by(const void *run, const char *name)
{
    return printed(run, name);
}

static void take_times(struct test_run *r)
{
    const struct test_state *t = &r->suite->test[r->index];
    const struct precise_times times = {
        .own = t->own, .prefill_s = t->prefill_s, .kernel_ms = printed(r, "kernel_ms"), .wall_s = t->wall_s};
    precise_take(r->suite, r->index, &times);
}

static int finish_test(struct test_run *r, struct err *err)
{
    struct suite *s = r->suite;
    runlog_end(&r->log);
    timing_reader_finish(&r->reader);
    assess_run(r);
    if (s->loop.stop && r->assessment.status == STATUS_INTERRUPTED)
        return 0; /* the next supervisor finds a start without an end, and repeats the test */
    check_lane(r);
    if (check_folders(r, err) != 0 || write_artifacts(r, err) != 0 || tell_unbound(r, err) != 0)
        return -1;
    s->test[r->index].ended_real_s = clock_real_s();
    const struct own_metric *own = own_metrics_primary(&s->job.metrics);
    suite_test_result(s, r->index, &r->assessment, r->child.result.wall_s, printed(r, "prefill_s"));
    s->test[r->index].own = own ? printed(r, own->name) : (double)NAN;
    json_decref(s->test[r->index].metrics);
    s->test[r->index].metrics = perf_own_metrics(s, printed_by, r);
    take_times(r);
    if (test_event_end(s, r->index, false, err) != 0)
        return -1;
    return sync_result(r, err);
}

/* Like hang_after_s, no_output_timeout_s applies only where a GPU is visible. */
static double no_output_timeout_s(const struct test_run *r)
{
    const struct sample *before = &r->sampler.before;
    bool gpu = sample_has(before, SAMPLE_VRAM_USED) || sample_has(before, SAMPLE_GPU_BUSY);
    return gpu ? r->suite->job.settings.no_output_timeout_s : 0;
}

/* The limits of processes in a container are the engine's matter. */
static int enter_container(struct test_run *r, struct process_spec *spec, struct err *err)
{
    char name[64];
    snprintf(name, sizeof name, "test-%zu-%u", r->index + 1, r->suite->test[r->index].attempts);
    const struct container_command command = {
        .name = name, .cwd = r->dir, .env = &r->env, .argv = r->argv.v, .limited = true};
    if (container_begin(&r->container, r->suite, r->test->variant, r->lane, &command, err) != 0)
        return -1;
    if (r->container.on)
        spec->argv = r->container.argv.v;
    if (r->container.on && engine_has_containers(r->container.engine))
        r->limits.linger_s = engine_linger_s;
    return 0;
}

static int start_child(struct test_run *r, struct err *err)
{
    struct suite *s = r->suite;
    struct process_spec spec = {.argv = r->argv.v,
                                .env = r->env.v,
                                .cwd = r->dir,
                                .input = -1,
                                .files = s->files,
                                .kept = r->lane->kept,
                                .group = &r->group,
                                .isolated = test_group_isolates(s, r->index),
                                .signals_kept = s->signals_kept && test_group_isolates(s, r->index),
                                .near = r->lane->near.on ? &r->lane->near : NULL};
    struct child_hooks hooks = {.started = on_started,
                                .output = on_output,
                                .heartbeat = on_heartbeat,
                                .sample = on_sample,
                                .stopping = on_stopping,
                                .arg = r};
    r->limits = (struct child_limits){.timeout_s = r->test->timeout_s,
                                      .kill_grace_s = s->job.settings.kill_grace_s,
                                      .no_output_timeout_s = no_output_timeout_s(r),
                                      .heartbeat_s = heartbeat_s,
                                      .sample_interval_ms = s->job.settings.sample_interval_ms,
                                      .samples_together = r->lane->kept};
    s->test[r->index].attempts++;
    s->test[r->index].lane = r->lane;
    s->test[r->index].began_real_s = clock_real_s();
    s->test[r->index].ended_real_s = 0;
    oom_mark(&r->lane->oom);
    if (test_event_start(s, r->index, err) != 0 || test_group_open(&r->group, s, r->index, err) != 0 ||
        enter_container(r, &spec, err) != 0)
        return -1;
    r->started = true;
    r->grouped = r->group.on;
    return child_start(&r->child, &s->loop, &spec, &r->limits, &hooks, err);
}

static struct test_run *new_test(struct suite *s, struct lane *lane, size_t test)
{
    struct test_run *r = malloc(sizeof *r);
    if (!r)
        return NULL;
    *r = (struct test_run){.suite = s,
                           .lane = lane,
                           .index = test,
                           .test = &s->job.test[test],
                           .log = {.fd = -1},
                           .folder = HELD_NONE,
                           .group = CONTAIN_GROUP_OFF,
                           .printed_s = NAN,
                           .timer = LOOP_WATCH_NONE};
    r->sampler.fd = -1;
    r->variant = &s->job.variant[r->test->variant];
    buf_init(&r->evidence, DIAG_MAX / 2);
    return r;
}

static int wrap_err(const struct test_run *r, struct err *err)
{
    return err_wrap(err, "test %zu (%s, context %" PRId64 ")", r->index + 1, r->variant->name,
                    r->test->context);
}

/* Once the level before the test is known, or will not be. */
static int end_measuring(struct test_run *r, struct err *err)
{
    struct sample before;
    if (!telemetry_answered(&r->lane->telemetry, clock_mono_ns()))
        return 0;
    telemetry_read_fresh(&r->lane->telemetry, &before);
    sampler_before(&r->sampler, &before);
    loop_arm(&r->timer, 0, 0);
    r->phase = TEST_RUNS;
    return start_child(r, err);
}

int test_begin(struct suite *s, struct lane *lane, size_t test, struct test_run **out, struct err *err)
{
    struct test_run *r = *out = new_test(s, lane, test);
    if (!r)
        return err_set(err, ERR_INTERNAL, "no memory for a test");
    if (open_files(r, err) != 0 || make_command(r, err) != 0)
        return wrap_err(r, err);
    telemetry_ask(&lane->telemetry, clock_mono_ns());
    loop_arm(&r->timer, lane->telemetry.patience_ns, 0);
    return end_measuring(r, err) == 0 ? 0 : wrap_err(r, err);
}

/* 1: over. What follows is decided by the phase that is now complete. */
static int next_phase(struct test_run *r, struct err *err)
{
    if (r->phase != TEST_JOB_ENDS && may_end_with_job(r)) {
        r->phase = TEST_JOB_ENDS;
        loop_arm(&r->timer, clock_deadline_ns(job_end_s), 0);
        return 0;
    }
    return finish_test(r, err) == 0 ? 1 : -1;
}

static int begin_settling(struct test_run *r, struct err *err)
{
    if (r->contained_by_engine) {
        r->child.result.group_gone &= r->container_end.gone;
        r->hits = (struct contain_hits){.memory_kills = r->container_end.oom, .refused = -1};
    }
    r->settle = (struct settle){.telemetry = &r->lane->telemetry,
                                .timer = &r->timer,
                                .before = r->sampler.before.value[SAMPLE_VRAM_USED],
                                .tolerance = (double)r->suite->job.settings.vram_tolerance_bytes};
    r->phase = TEST_SETTLES;
    r->told_ns = clock_mono_ns();
    return settle_begin(&r->settle, r->suite->job.settings.vram_settle_s, r->told_ns) ? next_phase(r, err)
                                                                                      : 0;
}

/* Whoever follows the run must not take the silence of a long wait for a supervisor that hangs. */
static void on_removal_heartbeat(void *arg, double t_s)
{
    struct test_run *r = arg;
    (void)t_s;
    on_heartbeat(r, (double)(r->suite->loop.now_ns - r->start_ns) * 1e-9);
}

static bool begin_removal(struct test_run *r)
{
    const struct container_end_in in = {
        .loop = &r->suite->loop, .kept = r->lane->kept, .heartbeat = on_removal_heartbeat, .arg = r};
    return container_end_begin(&r->container_end, &r->container, &in);
}

/* All of its processes are gone, or some are stuck. */
static int end_processes(struct test_run *r, struct err *err)
{
    child_close(&r->child);
    r->hits = contain_group_hits(&r->group);
    r->child.result.group_gone &= contain_group_close(&r->group);
    telemetry_end(&r->lane->telemetry);
    r->contained_by_engine = r->container.on && engine_has_containers(r->container.engine);
    r->phase = TEST_REMOVES;
    return begin_removal(r) ? begin_settling(r, err) : 0;
}

static int go_on_settling(struct test_run *r, struct err *err)
{
    int64_t now = r->suite->loop.now_ns;
    if (settle_turn(&r->settle, now))
        return next_phase(r, err);
    if ((double)(now - r->told_ns) * 1e-9 >= heartbeat_s)
        on_heartbeat(r, (double)(now - r->start_ns) * 1e-9);
    return 0;
}

static int take_turn(struct test_run *r, struct err *err)
{
    switch (r->phase) {
    case TEST_MEASURES:
        return r->suite->loop.stop ? 1 : end_measuring(r, err);
    case TEST_RUNS:
        return child_turn(&r->child) ? end_processes(r, err) : 0;
    case TEST_REMOVES:
        return container_end_turn(&r->container_end) ? begin_settling(r, err) : 0;
    case TEST_SETTLES:
        return go_on_settling(r, err);
    case TEST_JOB_ENDS:
        return r->timer.ready || r->suite->loop.stop ? next_phase(r, err) : 0;
    }
    return 0;
}

int test_turn(struct test_run *r, struct err *err)
{
    int rc = take_turn(r, err);
    return rc < 0 ? wrap_err(r, err) : rc;
}

void test_free(struct test_run *r)
{
    if (!r)
        return;
    if (r->started && r->phase == TEST_RUNS) {
        child_close(&r->child);
        telemetry_end(&r->lane->telemetry);
    }
    contain_group_close(&r->group);
    if (r->phase == TEST_REMOVES)
        container_end_finish(&r->container_end);
    container_end_run(&r->container, &(struct container_end_in){.loop = &r->suite->loop, .kept = true});
    loop_remove(&r->suite->loop, &r->timer);
    held_close(&r->folder);
    runlog_release(&r->log);
    sampler_release(&r->sampler);
    timing_reader_release(&r->reader);
    strvec_release(&r->argv);
    strvec_release(&r->env);
    buf_release(&r->evidence);
    free(r);
}

bool test_is_out_of_attempts(const struct suite *s, size_t test, struct assessment *why)
{
    if (s->test[test].attempts < ATTEMPTS_MAX)
        return false;
    why->status = STATUS_INTERRUPTED;
    reason_set(why->reason, "the executor died in each of %u attempts", s->test[test].attempts);
    return true;
}

/* Without what an attempt before has left there. */
static int make_folder(struct suite *s, size_t test, struct err *err)
{
    struct held folder = HELD_NONE;
    char rel[FS_PATH_MAX];
    suite_test_rel(s, test, rel);
    int rc = folders_make(s, &folder, rel, err);
    held_close(&folder);
    return rc;
}

int test_skip(struct suite *s, size_t test, const struct assessment *why, struct err *err)
{
    char dir[FS_PATH_MAX], text[REASON_MAX + 64];
    struct perf perf = {.test = test, .attempt = s->test[test].attempts, .assessment = why};
    int n = snprintf(text, sizeof text, "%s: %s\n", status_name(why->status), why->reason);
    bool stuck = s->variant[s->job.test[test].variant].stuck[0];
    if (!stuck && (suite_test_dir(s, test, dir, err) != 0 || make_folder(s, test, err) != 0 ||
                   artifact_text(dir, "diag.txt", text, (size_t)n, &s->secrets, err) != 0 ||
                   perf_write(s, &perf, dir, err) != 0))
        return -1;
    s->test[test].ended_real_s = clock_real_s();
    suite_test_result(s, test, why, NAN, NAN);
    return test_event_skip(s, test, why, err);
}
