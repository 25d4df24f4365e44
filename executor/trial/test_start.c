#include "common/base/clock.h"
#include "common/base/environment.h"
#include "executor/bundle/logtext.h"
#include "executor/trial/test_event.h"
#include "executor/trial/test_group.h"
#include "executor/trial/test_run.h"
#include "executor/workdir/mark.h"

#include <inttypes.h>
#include <stdio.h>

enum { LIVE_TAIL = 600 };

static const double engine_linger_s = 5; /* what an engine tidies up once its program has ended */

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

void test_start_heartbeat(struct test_run *r, double t_s)
{
    bool news = r->log.cleaned != r->shown;
    r->told_ns = r->suite->loop.now_ns;
    r->shown = r->log.cleaned;
    test_event_heartbeat(r->suite, r->index, t_s, &r->sampler.newest,
                         news ? logtext_tail(&r->log, LIVE_TAIL) : NULL);
}

static void on_heartbeat(void *arg, double t_s)
{
    test_start_heartbeat(arg, t_s);
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
        folders_make(s, rel, &r->folder, err) != 0)
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

int test_start_prepare(struct test_run *r, struct err *err)
{
    return open_files(r, err) == 0 ? make_command(r, err) : -1;
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

int test_start_process(struct test_run *r, struct err *err)
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
                                      .heartbeat_s = TEST_HEARTBEAT_S,
                                      .sample_interval_ms = s->job.settings.sample_interval_ms,
                                      .samples_together = r->lane->kept};
    s->test[r->index].attempts++;
    s->test[r->index].lane = r->lane;
    oom_mark(&r->lane->oom);
    if (test_event_start(s, r->index, err) != 0 || test_group_open(&r->group, s, r->index, err) != 0 ||
        enter_container(r, &spec, err) != 0)
        return -1;
    r->started = true;
    r->grouped = r->group.on;
    return child_start(&r->child, &s->loop, &spec, &r->limits, &hooks, err);
}
