#include "common/base/alloc.h"
#include "common/base/clock.h"
#include "executor/bundle/artifact.h"
#include "executor/bundle/logtext.h"
#include "executor/process/proctree.h"
#include "executor/suite/perf.h"
#include "executor/suite/test_event.h"
#include "executor/suite/test_group.h"
#include "executor/suite/test_run.h"
#include "executor/workdir/held.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const double sync_interval_s = 2;

enum { PROCESSES_MAX = 16, PROC_TEXT_MAX = 4096, LOG_END = 8192 };

static void append_lines(void *arg, const char *data, size_t len)
{
    logtext_lines(arg, data, len);
}

/* A text of PROC_TEXT_MAX bytes was cut, perhaps within a secret, so its last bytes are held back. */
static void add_clean(struct buf *out, const char *text, size_t len, const struct secrets *secrets)
{
    struct secrets_stream stream;
    secrets_stream_init(&stream, secrets, append_lines, out);
    secrets_stream_feed(&stream, text, len);
    if (len < PROC_TEXT_MAX)
        secrets_stream_end(&stream);
    secrets_stream_release(&stream);
}

static void add_proc_file(struct buf *out, pid_t pid, const char *name, const struct secrets *secrets)
{
    char path[64], text[PROC_TEXT_MAX];
    snprintf(path, sizeof path, "/proc/%ld/%s", (long)pid, name);
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text) : -1;
    if (n == 0)
        buf_printf(out, "%s: (empty)\n", name); /* an empty stack: it was in user space */
    if (n <= 0)
        return;
    for (ssize_t i = 0; i < n; i++) {
        if (text[i] == '\0')
            text[i] = ' '; /* cmdline is separated by NUL */
    }
    buf_printf(out, "%s: ", name);
    if (memchr(text, '\n', (size_t)n - 1))
        buf_putc(out, '\n');
    add_clean(out, text, (size_t)n, secrets);
    if (text[n - 1] != '\n')
        buf_putc(out, '\n');
}

/* Adds the few lines of /proc/PID/status that matter here. */
static void add_status(struct buf *out, pid_t pid)
{
    static const char *const wanted[] = {"Name:", "State:", "PPid:", "VmRSS:", "Threads:", NULL};
    char path[64], line[256];
    snprintf(path, sizeof path, "/proc/%ld/status", (long)pid);
    AUTO_FCLOSE FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f)) {
        for (size_t i = 0; wanted[i]; i++) {
            if (strncmp(line, wanted[i], strlen(wanted[i])) == 0)
                logtext_lines(out, line, strlen(line));
        }
    }
}

void test_diag_processes(struct buf *out, pid_t root, const struct secrets *secrets)
{
    struct proctree tree;
    proctree_listed(&tree, root);
    for (size_t i = 0; i < tree.count && i < PROCESSES_MAX; i++) {
        buf_printf(out, "\n== process %ld when it was stopped ==\n", (long)tree.pid[i]);
        add_status(out, tree.pid[i]);
        add_proc_file(out, tree.pid[i], "cmdline", secrets);
        add_proc_file(out, tree.pid[i], "wchan", secrets);
        add_proc_file(out, tree.pid[i], "syscall", secrets);
        add_proc_file(out, tree.pid[i], "stack", secrets);
    }
    if (tree.count > PROCESSES_MAX)
        buf_printf(out, "\n(%zu more processes)\n", tree.count - PROCESSES_MAX);
}

static void diag_sample(struct buf *out, const char *title, const struct sample *s)
{
    buf_printf(out, "%s:", title);
    for (int i = 0; i < SAMPLE_FIELDS; i++) {
        if (sample_has(s, (enum sample_field)i))
            buf_printf(out, " %s=%.*f", sample_key((enum sample_field)i),
                       sample_is_whole_number((enum sample_field)i) ? 0 : 1, s->value[i]);
    }
    buf_printf(out, " (at %.3f s)\n", s->t_s);
}

static void diag_log_end(struct buf *out, const struct runlog *log)
{
    AUTO(buf_release) struct buf tail = {.max = LOG_END};
    runlog_tail(log, LOG_END, &tail);
    buf_printf(out, "\n== the end of run.log ==\n");
    logtext_lines(out, buf_str(&tail), tail.len);
}

/* A scheduler ends all processes of a job at once, so the test may die a moment before we are told to end. */
bool test_end_may_be_of_job(const struct test_run *r)
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

/* What the OOM killer did to other tests is only noted. */
static void look_for_oom(struct test_run *r, struct ending *ending, char *evidence)
{
    bool beside = r->lane->beside > 0;
    /* A shell whose child was killed exits with 137. */
    if (ending->signal != SIGKILL && ending->exit_code != 128 + SIGKILL)
        return;
    enum oom_found found = oom_evidence(&r->lane->oom, beside ? &r->watch.seen : NULL, evidence);
    if (found == OOM_HERE)
        ending->oom_evidence = evidence;
    else if (found == OOM_SOMEWHERE)
        buf_printf(&r->watch.evidence, "\nwhile other tests ran, too, so perhaps not in this one: %s\n",
                   evidence);
}

/* A plan whose only size is 1, with commands that are not told it, has no size: `kernsweep bench` and `init`
 * write such plans of programs that choose their own prompt. */
static int64_t context_asked(const struct test_run *r)
{
    const struct command *run = &r->variant->run;
    for (size_t i = 0; i < run->argc; i++)
        if (strstr(run->argv[i], "{context"))
            return r->test->context;
    return r->test->context == 1 ? 0 : r->test->context;
}

/* out: char[TIMINGS_TEXT_MAX], may be the line itself. */
static void hide_secrets(const struct test_run *r, const char *line, char *out)
{
    char printable[TIMINGS_TEXT_MAX];
    secrets_printable(&r->suite->secrets, line, strlen(line), printable, sizeof printable);
    memcpy(out, printable, sizeof printable);
}

static void assess_run(struct test_run *r)
{
    if (*r->unprepared) {
        r->assessment = assess(STATUS_FAIL, "%s", r->unprepared);
        return;
    }
    struct ending ending;
    char evidence[OOM_EVIDENCE_MAX], program[PROGRAM_SHOWN];
    struct timings *found = &r->output.reader.result;
    struct expectation expected = {
        .context = context_asked(r),
        .attn_impl = r->variant->attn_impl,
        .prompt_tokens_required = r->suite->job.settings.prompt_tokens == PROMPT_TOKENS_REQUIRED,
        .rule = &r->suite->job.timings,
        .metrics = &r->suite->job.metrics,
        .wall_s = r->suite->job.settings.clock == CLOCK_OF_PROCESS ? r->child.result.wall_s : (double)NAN};
    secrets_printable(&r->suite->secrets, r->argv.v[0], strlen(r->argv.v[0]), program, sizeof program);
    hide_secrets(r, found->nearest, found->nearest);
    hide_secrets(r, last_line_text(&r->output.reader.last), found->last);
    child_ending(&r->child.result, &r->limits, program, &ending);
    if (r->variant->ignore_failure && ending.exit_code > 0)
        ending.exit_code = 0;
    ending.hang_after_s = r->suite->job.settings.hang_after_s;
    look_for_oom(r, &ending, evidence);
    if (ended_with_job(r, &ending))
        ending.stop = STOP_CANCEL;
    r->assessment = assess_test(&ending, found, &expected);
    test_group_judge(r->suite, &r->contained.hits, &r->assessment);
    const struct child_result *c = &r->child.result;
    double paused_s = pause_length(&r->watch.pause, &r->watch.sampler, c->process.continued, c->frozen_s);
    if (r->assessment.status == STATUS_OK && paused_s > 0) {
        r->assessment.status = STATUS_INVALID;
        reason_set(
            r->assessment.reason,
            "it was stopped for %.2f s while it ran (a suspended job, a signal from outside, or a machine "
            "that slept): its times are not valid",
            paused_s);
    }
    if (r->assessment.status == STATUS_OK && r->suite->test[r->index].doubt) {
        r->assessment.status = STATUS_INVALID;
        reason_set(r->assessment.reason, "%s", r->suite->test[r->index].doubt);
    }
    if (ending.stop == STOP_CANCEL && !suite_cancelled(r->suite)) {
        r->assessment.status = STATUS_INTERRUPTED;
        reason_set(r->assessment.reason, "after %.3g s, when the executor was told to end",
                   r->child.result.wall_s);
    }
}

/* If something else stands in its place, an empty folder is made for the test's record. */
static bool is_own_folder_replaced(struct test_run *r)
{
    struct err why = {.kind = ERR_NONE};
    char rel[FS_PATH_MAX];
    if (r->place.stuck || held_is_at(r->place.folder, r->place.dir))
        return r->place.stuck;
    suite_test_rel(r->suite, r->index, rel);
    close(r->place.folder);
    r->place.folder = -1;
    r->place.stuck = folders_make(r->suite, rel, &r->place.folder, &why) != 0;
    if (!r->place.stuck)
        return true;
    reason_set(r->assessment.reason, "the folder of its results cannot be put back: %.300s", why.msg);
    if (!r->suite->partial[0])
        reason_set(r->suite->partial, "a test has no record: %.300s; remove it by hand", why.msg);
    return true;
}

/* A result whose folder was replaced meanwhile is not believed. */
static int check_folders(struct test_run *r, struct err *err)
{
    const struct variant_state *v = &r->suite->variant[r->test->variant];
    if (folders_look(r->suite, err) != 0)
        return -1;
    r->place.stuck = v->stuck[0];
    held_open_up(r->place.dir);
    bool replaced = is_own_folder_replaced(r) || v->replaced != r->place.replaced_before;
    if (!replaced || r->assessment.status != STATUS_OK)
        return 0;
    r->assessment.status = STATUS_INVALID;
    if (!*r->assessment.reason)
        reason_set(r->assessment.reason, "the folder of its results was replaced while it ran, by the test "
                                         "itself or by one that ran at the same time");
    return 0;
}

/* Returns what is dirty after a test: the node or, with several lanes, only the test's own. */
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
    AUTO(buf_release) struct buf text = {.max = DIAG_MAX};
    buf_printf(&text, "%s: %s\n\n", status_name(r->assessment.status), r->assessment.reason);
    buf_printf(&text, "wall %.3f s of %.3f s allowed; leftovers %u; all processes gone: %s\n",
               r->child.result.wall_s, r->test->timeout_s, r->child.result.leftovers,
               r->child.result.group_gone ? "yes" : "NO");
    diag_sample(&text, "before", &r->watch.sampler.before);
    for (uint64_t i = r->watch.sampler.samples > SAMPLER_HISTORY ? r->watch.sampler.samples - SAMPLER_HISTORY
                                                                 : 0;
         i < r->watch.sampler.samples; i++)
        diag_sample(&text, "sample", &r->watch.sampler.history[i % SAMPLER_HISTORY]);
    buf_add(&text, r->watch.evidence.data, r->watch.evidence.len);
    diag_log_end(&text, &r->output.log);
    return artifact_text(r->place.dir, "diag.txt", buf_str(&text), text.len, &r->suite->secrets, err);
}

static int write_artifacts(struct test_run *r, struct err *err)
{
    struct power_trace trace;
    telemetry_trace(&r->lane->telemetry, &trace);
    sampler_after(&r->watch.sampler, r->child.result.wall_s, &r->settle.end);
    sampler_trace(&r->watch.sampler, (double)r->start_ns * 1e-9, r->child.result.wall_s, &trace);
    if (r->place.stuck)
        return 0;
    double interval_s = (double)r->suite->job.settings.sample_interval_ms * 1e-3;
    if (runlog_finish(&r->output.log, err) != 0 ||
        sampler_finish(&r->watch.sampler, r->child.result.wall_s, interval_s, err) != 0)
        return -1;
    if (r->assessment.status != STATUS_OK && write_diag(r, err) != 0)
        return -1;
    return perf_write(r->suite, r->index, &r->assessment, r, r->place.dir, err);
}

/* This is said once, since it is the same for all tests of a node. */
static int tell_unbound(struct test_run *r, struct err *err)
{
    const struct near_failure *failed = &r->child.result.process.unbound;
    if (r->suite->processes.told_unbound || (!failed->cpus && !failed->memory))
        return 0;
    r->suite->processes.told_unbound = true;
    return suite_note(
        r->suite, err,
        "tests are not bound to the %s near their GPU (%s): they may be slower, and vary more; permit "
        "%s in the container, or see the perf.json of the tests",
        failed->cpus ? "CPUs" : "memory", strerror(failed->cpus ? failed->cpus : failed->memory),
        failed->cpus ? "sched_setaffinity" : "set_mempolicy");
}

/* Said once of each quantity, since a driver that does not know one now does not know it later. */
static int tell_lost(struct test_run *r, struct err *err)
{
    unsigned news = r->watch.sampler.lost & ~r->suite->told_lost;
    char names[256] = "";
    for (int i = 0, used = 0; i < SAMPLE_FIELDS; i++)
        if (news >> i & 1)
            used += snprintf(names + used, sizeof names - (size_t)used, "%s%s", used ? ", " : "",
                             sample_key((enum sample_field)i));
    r->suite->told_lost |= news;
    return news ? suite_note(r->suite, err,
                             "the driver reported impossible values, or none, first in test %zu: %s; they "
                             "are left out",
                             r->index + 1, names)
                : 0;
}

/* Returns the variant whose tests have left most memory in use so far. */
static size_t greatest_leak(const struct suite *s)
{
    size_t most = 0;
    for (size_t i = 1; i < s->job.variant_count; i++)
        most = s->variant[i].left_bytes > s->variant[most].left_bytes ? i : most;
    return most;
}

/* What each test leaves within its tolerance adds up over a run. Said again each time it has doubled. */
static int tell_leak(struct test_run *r, struct err *err)
{
    struct lane *lane = r->lane;
    const struct settle *m = &r->settle;
    if (isnan(m->before) || isnan(m->after))
        return 0;
    if (lane->first_bytes == 0)
        lane->first_bytes = m->before;
    r->suite->variant[r->test->variant].left_bytes += m->after - m->before;
    lane->left_bytes += m->after - m->before;
    /* What appears between tests is somebody else's. */
    double grown = fmin(m->after - lane->first_bytes, lane->left_bytes);
    if (!m->back || grown <= m->tolerance || grown < 2 * lane->told_bytes)
        return 0;
    lane->told_bytes = grown;
    size_t leaks = greatest_leak(r->suite);
    return suite_note(
        r->suite, err,
        "memory leaks: %s has %.0f MiB more in use after test %zu than before the run's first; the tests "
        "of %s left %.0f MiB of it; free what they allocate, or reset the GPU between runs",
        lane->name, grown / (1 << 20), r->index + 1, r->suite->job.variant[leaks].name,
        r->suite->variant[leaks].left_bytes / (1 << 20));
}

/* The result of a long test is synced at once; many short ones share a sync. */
static int sync_result(struct test_run *r, struct err *err)
{
    struct suite *s = r->suite;
    int64_t now = clock_mono_ns();
    if (r->place.stuck || (double)(now - s->time.last_sync_ns) * 1e-9 < sync_interval_s)
        return 0;
    s->time.last_sync_ns = now;
    return fs_sync_dir(r->place.dir, err) != 0 || journal_sync(&s->journal, err) != 0 ? -1 : 0;
}

static double printed(const void *run, const char *name)
{
    const struct test_run *r = run;
    const double *value = timings_get(&r->output.reader.result, name);
    return value && isfinite(*value) ? *value : (double)NAN;
}

int test_end_finish(struct test_run *r, struct err *err)
{
    struct suite *s = r->suite;
    runlog_end(&r->output.log);
    timing_reader_finish(&r->output.reader);
    assess_run(r);
    if (s->loop.stop && r->assessment.status == STATUS_INTERRUPTED)
        return 0; /* the next supervisor finds a start without an end, and repeats the test */
    check_lane(r);
    if (check_folders(r, err) != 0 || write_artifacts(r, err) != 0 || tell_unbound(r, err) != 0 ||
        tell_lost(r, err) != 0 || tell_leak(r, err) != 0)
        return -1;
    perf_take(s, r->index, &r->assessment, r->child.result.wall_s, printed, r);
    return test_event_end(s, r->index, false, err) == 0 ? sync_result(r, err) : -1;
}
