#include "common/base/alloc.h"
#include "common/base/clock.h"
#include "common/base/environment.h"
#include "executor/bundle/logtext.h"
#include "executor/suite/test_event.h"
#include "executor/suite/test_group.h"
#include "executor/suite/test_run.h"
#include "executor/workdir/mark.h"

#include <inttypes.h>
#include <stdio.h>

enum { LIVE_TAIL = 600 };

static const double engine_linger_s = 5; /* what an engine tidies up once its program has ended */

static void on_started(void *arg, const struct process *p)
{
    struct test_run *r = arg;
    struct telemetry_target target = {
        .layout = r->suite->layout, .nvml = &r->suite->nvml, .pid = p->pid, .seen = &r->watch.seen};
    proctree_note(&r->watch.seen, p->pid);
    telemetry_begin(&r->lane->telemetry, &target);
    r->start_ns = p->start_ns;
    r->started_real_s = clock_real_s() - (double)(clock_mono_ns() - p->start_ns) * 1e-9;
}

static void on_output(void *arg, const char *data, size_t len)
{
    struct test_run *r = arg;
    runlog_add(&r->output.log, data, len);
}

/* What is read from the output has no secrets in it, so that nothing cut from it has a part of one. */
static void on_cleaned(void *arg, const char *data, size_t len)
{
    struct test_run *r = arg;
    timing_reader_feed(&r->output.reader, data, len);
    if (r->output.reader.result.times_found != r->output.timings_found)
        r->output.printed_s = (double)(clock_mono_ns() - r->start_ns) * 1e-9;
    r->output.timings_found = r->output.reader.result.times_found;
}

static enum stop_cause on_sample(void *arg, double t_s, uint64_t missed)
{
    struct test_run *r = arg;
    sampler_take(&r->watch.sampler, t_s, missed);
    /* Several lanes share one clock, which began with the run. */
    clock_watch_take(&r->suite->clock.watch,
                     r->lane->kept ? (double)(clock_mono_ns() - r->suite->time.start_ns) * 1e-9 : t_s);
    return hang_feed(&r->watch.hang, &r->watch.sampler.last, r->output.log.total) ? STOP_HANG : STOP_NONE;
}

static void on_stopping(void *arg, const struct process *p, enum stop_cause cause)
{
    struct test_run *r = arg;
    (void)cause;
    test_diag_processes(&r->watch.evidence, p->pid, &r->suite->secrets);
}

void test_start_heartbeat(struct test_run *r, double t_s)
{
    bool news = r->output.log.cleaned != r->output.shown;
    r->told_ns = r->suite->loop.now_ns;
    r->output.shown = r->output.log.cleaned;
    test_event_heartbeat(r->suite, r->index, t_s, &r->watch.sampler.newest,
                         news ? logtext_tail(&r->output.log, LIVE_TAIL) : NULL);
}

static void on_heartbeat(void *arg, double t_s)
{
    test_start_heartbeat(arg, t_s);
}

static void set_own_environment(const struct suite *s, size_t test, const char *out, struct strvec *env)
{
    const struct job_test *t = &s->job.test[test];
    char context[32], repetition[32];
    snprintf(context, sizeof context, "%" PRId64, t->context);
    snprintf(repetition, sizeof repetition, "%" PRId64, t->repetition);
    const char *const pairs[][2] = {{"KERNSWEEP_RUN_ID", s->job.run_id},
                                    {"KERNSWEEP_VARIANT", s->job.variant[t->variant].name},
                                    {"KERNSWEEP_CONTEXT", context},
                                    {"KERNSWEEP_REPETITION", repetition},
                                    {"KERNSWEEP_OUT", out},
                                    {MARK_VARIABLE, s->mark}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        environment_set(env, pairs[i][0], pairs[i][1]);
}

static struct subst values_of(const struct suite *s, size_t test, const char *out)
{
    const struct job_test *t = &s->job.test[test];
    struct subst values = suite_subst(s, t->variant);
    values.text[SUBST_OUT] = out;
    values.text[SUBST_RUN_ID] = s->job.run_id;
    values.context = t->context;
    values.repetition = t->repetition;
    return values;
}

int test_command(const struct suite *s, size_t test, const struct lane *lane, const char *out,
                 struct strvec *argv, struct strvec *env, struct err *err)
{
    const size_t variant = s->job.test[test].variant;
    const struct variant *v = &s->job.variant[variant];
    const struct subst values = values_of(s, test, out);
    if (command_argv(&v->run, &values, argv, err) != 0 ||
        command_environment(&s->job, v, &values, suite_caches(s, variant, test_group_isolates(s, test)), env,
                            err) != 0)
        return -1;
    set_own_environment(s, test, out, env);
    lane_environment(lane, env);
    return 0;
}

static int open_files(struct test_run *r, struct err *err)
{
    struct suite *s = r->suite;
    char rel[FS_PATH_MAX];
    suite_test_rel(s, r->index, rel);
    if (folders_look(s, err) != 0 || suite_test_dir(s, r->index, r->place.dir, err) != 0 ||
        folders_make(s, rel, &r->place.folder, err) != 0)
        return -1;
    r->place.replaced_before = s->variant[r->test->variant].replaced;
    if (runlog_open(&r->output.log, r->place.dir, "run.log", (size_t)s->job.settings.log_limit_bytes,
                    &s->secrets, err) != 0 ||
        sampler_open(&r->watch.sampler, &r->lane->telemetry, r->place.dir, err) != 0 ||
        loop_add_timer(&s->loop, &r->timer, err) != 0)
        return -1;
    timing_reader_init(&r->output.reader, &s->job.timings);
    runlog_listen(&r->output.log, on_cleaned, r);
    hang_init(&r->watch.hang, s->job.settings.hang_after_s);
    return 0;
}

int test_start_prepare(struct test_run *r, struct err *err)
{
    const char *from = r->variant->cwd;
    if (open_files(r, err) != 0 || (*from && layout_from_home(r->place.from, from, err) != 0))
        return -1;
    return test_command(r->suite, r->index, r->lane, r->place.dir, &r->argv, &r->env, err);
}

/* Like hang_after_s, no_output_timeout_s applies only where a GPU is visible. */
static double no_output_timeout_s(const struct test_run *r)
{
    const struct sample *before = &r->watch.sampler.before;
    bool gpu = sample_has(before, SAMPLE_VRAM_USED) || sample_has(before, SAMPLE_GPU_BUSY);
    return gpu ? r->suite->job.settings.no_output_timeout_s : 0;
}

/* The limits of processes in a container are the engine's matter. */
static int enter_container(struct test_run *r, struct process_spec *spec, struct err *err)
{
    char name[64];
    snprintf(name, sizeof name, "test-%zu-%u", r->index + 1, r->suite->test[r->index].attempts);
    const struct container_command command = {.name = name,
                                              .cwd = *r->place.from ? r->place.from : r->place.dir,
                                              .env = &r->env,
                                              .argv = r->argv.v,
                                              .limited = true};
    if (container_begin(&r->contained.container, r->suite, r->test->variant, r->lane, &command, err) != 0)
        return -1;
    if (r->contained.container.on)
        spec->argv = r->contained.container.argv.v;
    if (r->contained.container.on && engine_has_containers(r->contained.container.engine))
        r->limits.linger_s = engine_linger_s;
    return 0;
}

/* Once for a test, whatever of it is started first. */
static int announce(struct test_run *r, struct err *err)
{
    if (r->announced)
        return 0;
    r->announced = true;
    r->suite->test[r->index].attempts++;
    r->suite->test[r->index].lane = r->lane;
    return test_event_start(r->suite, r->index, err);
}

int test_start_preparation(struct test_run *r, struct err *err)
{
    struct suite *s = r->suite;
    AUTO(strvec_release) struct strvec argv = {.v = NULL};
    const struct subst values = values_of(s, r->index, r->place.dir);
    const struct child_hooks hooks = {.heartbeat = on_heartbeat, .arg = r};
    r->limits = (struct child_limits){.timeout_s = r->test->timeout_s,
                                      .kill_grace_s = s->job.settings.kill_grace_s,
                                      .heartbeat_s = TEST_HEARTBEAT_S};
    r->started_real_s = clock_real_s();
    if (command_argv(&r->variant->prepare, &values, &argv, err) != 0 || announce(r, err) != 0 ||
        test_group_open(&r->contained.group, s, r->index, err) != 0)
        return -1;
    const struct process_spec spec = {.argv = argv.v,
                                      .env = r->env.v,
                                      .cwd = r->place.dir,
                                      .input = -1,
                                      .files = s->processes.files,
                                      .kept = true,
                                      .group = &r->contained.group};
    r->started = true;
    return child_start(&r->child, &s->loop, &spec, &r->limits, &hooks, err);
}

int test_caches_count(const struct test_run *r)
{
    bool isolated = test_group_isolates(r->suite, r->index);
    const char *caches = suite_caches(r->suite, r->test->variant, isolated);
    return caches && !isolated ? compile_caches_count(&r->env, caches) : -1;
}

int test_start_process(struct test_run *r, struct err *err)
{
    struct suite *s = r->suite;
    struct process_spec spec = {.argv = r->argv.v,
                                .env = r->env.v,
                                .cwd = r->place.dir,
                                .input = -1,
                                .files = s->processes.files,
                                .from = *r->place.from ? r->place.from : NULL,
                                .kept = true, /* it only waits, and so knows the end to the microsecond */
                                .group = &r->contained.group,
                                .isolated = test_group_isolates(s, r->index),
                                .signals_kept = s->processes.signals_kept && test_group_isolates(s, r->index),
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
                                      .heartbeat_s = TEST_HEARTBEAT_S,
                                      .sample_interval_ms = s->job.settings.sample_interval_ms,
                                      .samples_together = r->lane->kept};
    oom_mark(&r->lane->oom);
    if (announce(r, err) != 0 || test_group_open(&r->contained.group, s, r->index, err) != 0 ||
        enter_container(r, &spec, err) != 0)
        return -1;
    r->compiled = test_caches_count(r);
    pause_begin(&r->watch.pause);
    r->started = true;
    r->contained.grouped = r->contained.group.on;
    return child_start(&r->child, &s->loop, &spec, &r->limits, &hooks, err);
}
