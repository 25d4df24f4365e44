#include "common/base/alloc.h"
#include "common/base/clock.h"
#include "executor/suite/test_group.h"
#include "executor/suite/test_run.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const int64_t recheck_ns = 20 * 1000000;

static void ask_level(struct settle *out, int64_t now_ns)
{
    out->asked = true;
    telemetry_ask(out->telemetry, now_ns);
    loop_arm(out->timer, out->telemetry->patience_ns, 0);
}

static bool is_back(struct settle *out)
{
    struct sample now;
    telemetry_read_fresh(out->telemetry, &now);
    if (!out->looked)
        out->end = now;
    out->looked = true;
    out->after = now.value[SAMPLE_VRAM_USED];
    out->back = isnan(out->before) || isnan(out->after) || out->after <= out->before + out->tolerance;
    return out->back;
}

/* Returns true once the memory is back, or the time is over; otherwise the timer is armed for the latest
 * moment at which a turn is needed. */
static bool settle_turn(struct settle *out, int64_t now_ns)
{
    if (!out->asked && out->timer->ready)
        ask_level(out, now_ns);
    if (!out->asked || !telemetry_answered(out->telemetry, now_ns))
        return false;
    if (is_back(out) || now_ns >= out->until_ns)
        return true;
    out->asked = false;
    loop_arm(out->timer, now_ns + recheck_ns, 0);
    return false;
}

/* Asks for the first sample, and does as settle_turn(). */
static bool settle_begin(struct settle *out, double limit_s, int64_t now_ns)
{
    out->until_ns = now_ns + (int64_t)(limit_s * 1e9);
    ask_level(out, now_ns);
    return settle_turn(out, now_ns);
}

static const double job_end_s = 1;

static struct test_run *new_test(struct suite *s, struct lane *lane, size_t test)
{
    struct test_run *r = xmalloc(sizeof *r);
    *r = (struct test_run){.suite = s,
                           .lane = lane,
                           .index = test,
                           .test = &s->job.test[test],
                           .place.folder = -1,
                           .output = {.log.fd = -1, .printed_s = NAN},
                           .watch = {.sampler.fd = -1, .evidence.max = DIAG_MAX / 2},
                           .contained.group = CONTAIN_GROUP_OFF,
                           .timer = LOOP_WATCH_NONE};
    r->variant = &s->job.variant[r->test->variant];
    return r;
}

static int wrap_err(const struct test_run *r, struct err *err)
{
    return err_wrap(err, "test %zu (%s, context %" PRId64 ")", r->index + 1, r->variant->name,
                    r->test->context);
}

/* The test starts once the level before it is known, or has been awaited for long enough. */
static int end_measuring(struct test_run *r, struct err *err)
{
    struct sample before;
    if (!telemetry_answered(&r->lane->telemetry, clock_mono_ns()))
        return 0;
    telemetry_read_fresh(&r->lane->telemetry, &before);
    sampler_before(&r->watch.sampler, &before);
    loop_arm(&r->timer, 0, 0);
    r->phase = TEST_RUNS;
    return test_start_process(r, err);
}

static int begin_measuring(struct test_run *r, struct err *err)
{
    r->phase = TEST_MEASURES;
    r->start_ns = clock_mono_ns(); /* as good as known until its process has begun */
    telemetry_ask(&r->lane->telemetry, clock_mono_ns());
    loop_arm(&r->timer, r->lane->telemetry.patience_ns, 0);
    return end_measuring(r, err);
}

int test_begin(struct suite *s, struct lane *lane, size_t test, struct test_run **out, struct err *err)
{
    struct test_run *r = *out = new_test(s, lane, test);
    int rc = test_start_prepare(r, err);
    if (rc == 0)
        rc = r->variant->prepare.argc > 0 ? test_start_preparation(r, err) : begin_measuring(r, err);
    return rc == 0 ? 0 : wrap_err(r, err);
}

/* Goes on to what follows the phase that is complete. Returns 1 if the test is over. */
static int next_phase(struct test_run *r, struct err *err)
{
    if (r->phase != TEST_JOB_ENDS && test_end_may_be_of_job(r)) {
        r->phase = TEST_JOB_ENDS;
        loop_arm(&r->timer, clock_deadline_ns(job_end_s), 0);
        return 0;
    }
    return test_end_finish(r, err) == 0 ? 1 : -1;
}

static int begin_settling(struct test_run *r, struct err *err)
{
    if (r->contained.by_engine) {
        r->child.result.group_gone &= r->contained.end.gone;
        r->contained.hits = (struct contain_hits){.memory_kills = r->contained.end.oom, .refused = -1};
    }
    r->settle = (struct settle){.telemetry = &r->lane->telemetry,
                                .timer = &r->timer,
                                .before = r->watch.sampler.before.value[SAMPLE_VRAM_USED],
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
    test_start_heartbeat(r, (double)(r->suite->loop.now_ns - r->start_ns) * 1e-9);
}

static bool begin_removal(struct test_run *r)
{
    const struct container_end_in in = {
        .loop = &r->suite->loop, .kept = r->lane->kept, .heartbeat = on_removal_heartbeat, .arg = r};
    return container_end_begin(&r->contained.end, &r->contained.container, &in);
}

static bool uses_memory(const struct test_run *r)
{
    const struct sampler *s = &r->watch.sampler;
    return s->peak[SAMPLE_VRAM_USED] >
           s->before.value[SAMPLE_VRAM_USED] + (double)r->suite->job.settings.vram_tolerance_bytes;
}

bool test_starts(const struct test_run *r)
{
    if (!r || r->suite->variant[r->test->variant].no_memory)
        return false;
    if (r->phase == TEST_MEASURES)
        return true;
    const double start_s = 1; /* beyond what two at once take */
    return r->phase == TEST_RUNS && sample_has(&r->watch.sampler.before, SAMPLE_VRAM_USED) &&
           !uses_memory(r) && (double)(clock_mono_ns() - r->start_ns) * 1e-9 < start_s;
}

/* To be called once all of its processes are gone, or some are stuck. */
static int end_processes(struct test_run *r, struct err *err)
{
    r->suite->variant[r->test->variant].no_memory |= !uses_memory(r);
    child_close(&r->child);
    r->contained.hits = contain_group_hits(&r->contained.group);
    r->child.result.group_gone &= contain_group_close(&r->contained.group);
    telemetry_end(&r->lane->telemetry);
    r->contained.by_engine =
        r->contained.container.on && engine_has_containers(r->contained.container.engine);
    r->phase = TEST_REMOVES;
    return begin_removal(r) ? begin_settling(r, err) : 0;
}

/* A test that could not be prepared ends without having run. */
static int end_preparation(struct test_run *r, struct err *err)
{
    struct ending ending;
    char program[PROGRAM_SHOWN];
    const char *word = r->variant->prepare.argv[0];
    child_close(&r->child);
    bool gone = contain_group_close(&r->contained.group) && r->child.result.group_gone;
    r->started = false;
    if (r->suite->loop.stop)
        return 1;
    secrets_printable(&r->suite->secrets, word, strlen(word), program, sizeof program);
    child_ending(&r->child.result, &r->limits, program, &ending);
    const struct assessment a = assess_ending(&ending);
    r->child.result = (struct child_result){.process = PROCESS_NONE, .wall_s = NAN, .group_gone = gone};
    if (a.status == STATUS_OK && gone)
        return begin_measuring(r, err);
    reason_set(r->unprepared, "prepare: %.400s", gone ? a.reason : "some of its processes survive SIGKILL");
    return begin_settling(r, err);
}

static int go_on_settling(struct test_run *r, struct err *err)
{
    int64_t now = r->suite->loop.now_ns;
    if (settle_turn(&r->settle, now))
        return next_phase(r, err);
    if ((double)(now - r->told_ns) * 1e-9 >= TEST_HEARTBEAT_S)
        test_start_heartbeat(r, (double)(now - r->start_ns) * 1e-9);
    return 0;
}

static int take_turn(struct test_run *r, struct err *err)
{
    switch (r->phase) {
    case TEST_PREPARES:
        return child_turn(&r->child) ? end_preparation(r, err) : 0;
    case TEST_MEASURES:
        return r->suite->loop.stop ? 1 : end_measuring(r, err);
    case TEST_RUNS:
        return child_turn(&r->child) ? end_processes(r, err) : 0;
    case TEST_REMOVES:
        return container_end_turn(&r->contained.end) ? begin_settling(r, err) : 0;
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
    if (r->started && (r->phase == TEST_PREPARES || r->phase == TEST_RUNS))
        child_close(&r->child);
    if (r->started && r->phase == TEST_RUNS)
        telemetry_end(&r->lane->telemetry);
    contain_group_close(&r->contained.group);
    if (r->phase == TEST_REMOVES)
        container_end_finish(&r->contained.end);
    container_end_run(&r->contained.container,
                      &(struct container_end_in){.loop = &r->suite->loop, .kept = true});
    loop_remove(&r->suite->loop, &r->timer);
    if (r->place.folder >= 0)
        close(r->place.folder);
    runlog_release(&r->output.log);
    sampler_release(&r->watch.sampler);
    timing_reader_release(&r->output.reader);
    strvec_release(&r->argv);
    strvec_release(&r->env);
    buf_release(&r->watch.evidence);
    free(r);
}
