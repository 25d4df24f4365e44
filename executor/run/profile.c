#include "executor/run/profile.h"

#include "common/base/alloc.h"
#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/environment.h"
#include "common/base/text.h"
#include "executor/bundle/artifact.h"
#include "executor/bundle/runlog.h"
#include "executor/process/child.h"
#include "executor/process/command.h"
#include "executor/suite/test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool profiler_is_admin_only(const char *params)
{
    const char *at = strstr(params, "RmProfilingAdminOnly:");
    return at && strtol(at + strlen("RmProfilingAdminOnly:"), NULL, 10) == 1;
}

void profiler_command(const struct counters *c, enum counters_tool tool, const char *csv, const char *folder,
                      struct strvec *out)
{
    const char *names[LIMIT_COUNTERS + 1];
    AUTO(buf_release) struct buf list = {.max = (size_t)LIMIT_COUNTERS * (LIMIT_COUNTER_NAME + 1)};
    counters_names(c, tool, names);
    if (tool == COUNTERS_ROCPROFV3) {
        strvec_pushl(out, "rocprofv3", "--pmc", NULL);
        strvec_push_all(out, names);
        strvec_pushl(out, "--output-format", "csv", "-d", folder, "-o", "counters", "--", NULL);
        return;
    }
    for (size_t i = 0; names[i]; i++)
        buf_printf(&list, "%s%s", i ? "," : "", names[i]);
    strvec_pushl(out, "ncu", "--csv", "--page", "raw", "--print-units", "base", "--metrics", buf_str(&list),
                 "--clock-control", "none", "--target-processes", "all", "--log-file", csv, NULL);
}

enum { CSV_BYTES_MAX = 32 << 20, LOG_BYTES_MAX = 1 << 20, PROC_FILE_MAX = 64 << 10, WARNING_MAX = 240 };

/* A profiler runs each kernel several times, hence the longer time-out. All cells together hold the GPU for
 * no longer than total_most_s.
 */
static const double times_longer = 20, total_most_s = 3600;

static const char csv_name[] = "counters.csv", db_name[] = "counters.db", raw_name[] = "raw";

struct profiled {
    struct suite *suite;
    size_t test;
    enum counters_tool tool;
    char dir[FS_PATH_MAX]; /* of its files in the bundle */
    char raw[FS_PATH_MAX]; /* the profiler's own folder, removed in the end */
    char csv[FS_PATH_MAX]; /* what the profiler writes there */
    char db[FS_PATH_MAX];  /* or, rocprofv3 by default, this; "": none */
    struct strvec argv, env;
    struct runlog log;
    struct assessment result;
    double left_s; /* of total_most_s */
};

static void read_proc(const struct suite *s, const char *name, struct buf *out)
{
    char path[FS_PATH_MAX];
    struct err ignored = {0};
    if (fs_join(path, NULL, s->layout->proc, name) == 0)
        fs_read_file(path, PROC_FILE_MAX, out, &ignored);
}

static enum counters_tool choose_tool(const struct suite *s)
{
    char path[FS_PATH_MAX];
    if (s->job.counters.tool != COUNTERS_AUTO)
        return (enum counters_tool)s->job.counters.tool;
    bool nvidia = fs_join(path, NULL, s->layout->proc, "driver/nvidia/params") == 0 && fs_exists(path);
    return nvidia ? COUNTERS_NCU : COUNTERS_ROCPROFV3;
}

static const char *tool_name(enum counters_tool t)
{
    return t == COUNTERS_NCU ? "ncu" : "rocprofv3";
}

static bool on_path(const struct strvec *env, const char *program)
{
    const char *path = environment_get(env, "PATH");
    char folder[FS_PATH_MAX], file[FS_PATH_MAX];
    for (const char *at = path ? path : ""; *at;) {
        size_t len = strcspn(at, ":");
        snprintf(folder, sizeof folder, "%.*s", (int)len, at);
        if (len > 0 && fs_join(file, NULL, folder, program) == 0 && access(file, X_OK) == 0)
            return true;
        at += len + (at[len] == ':');
    }
    return false;
}

/* Says why nothing can be counted here; why (char[REASON_MAX]) is "" if counting is possible. */
static int refusal(struct suite *s, enum counters_tool tool, char *why, struct err *err)
{
    const struct subst values = suite_subst(s, 0);
    AUTO(strvec_release) struct strvec env = {0};
    AUTO(buf_release) struct buf params = {.max = PROC_FILE_MAX};
    why[0] = '\0';
    if (command_environment(&s->job, NULL, &values, NULL, &env, err) != 0)
        return -1;
    read_proc(s, "driver/nvidia/params", &params);
    if (!on_path(&env, tool_name(tool)))
        reason_set(why, "%s is not installed on this node, or not in PATH", tool_name(tool));
    else if (tool == COUNTERS_NCU && geteuid() != 0 && profiler_is_admin_only(buf_str(&params)))
        reason_set(why, "NVIDIA's driver lets only root count on this node (RmProfilingAdminOnly is 1); its "
                        "administrator can load it with NVreg_RestrictProfilingToAdminUsers=0");
    return 0;
}

static int note(struct suite *s, const struct profiled *p, const char *why, struct err *err)
{
    if (!p)
        return suite_note(s, err, "counters: %.400s", why);
    return suite_note(s, err, "counters of %s at %" PRId64 ": %s: %.380s",
                      s->job.variant[s->job.test[p->test].variant].name, s->job.test[p->test].context,
                      tool_name(p->tool), why);
}

static void on_output(void *arg, const char *data, size_t len)
{
    struct profiled *p = arg;
    runlog_add(&p->log, data, len);
}

static int set_paths(struct profiled *p, struct err *err)
{
    char name[64];
    const struct job_test *t = &p->suite->job.test[p->test];
    snprintf(name, sizeof name, "ctx_%" PRId64 "_counters", t->context);
    return fs_join(p->dir, err, p->suite->variant[t->variant].dir, name) != 0 ||
                   fs_join(p->raw, err, p->dir, raw_name) != 0 || fs_join(p->csv, err, p->raw, csv_name) != 0
               ? -1
               : 0;
}

static int run_child(struct profiled *p, struct err *err)
{
    struct suite *s = p->suite;
    double timeout_s = s->job.test[p->test].timeout_s * times_longer;
    struct process_spec spec = {.argv = p->argv.v,
                                .env = p->env.v,
                                .cwd = p->dir,
                                .input = -1,
                                .files = s->processes.files,
                                .kept = s->lanes.count > 1};
    struct child_limits limits = {.timeout_s = timeout_s < p->left_s ? timeout_s : p->left_s,
                                  .kill_grace_s = s->job.settings.kill_grace_s};
    struct child_hooks hooks = {.output = on_output, .arg = p};
    struct child_result result;
    struct ending ending;
    char program[PROGRAM_SHOWN];
    if (runlog_open(&p->log, p->dir, "counters.log", LOG_BYTES_MAX, &s->secrets, err) != 0)
        return -1;
    int rc = child_run(&s->loop, &spec, &limits, &hooks, &result, err);
    if (rc == 0) {
        secrets_printable(&s->secrets, p->argv.v[0], strlen(p->argv.v[0]), program, sizeof program);
        child_ending(&result, &limits, program, &ending);
        p->result = assess_ending(&ending);
        rc = runlog_finish(&p->log, err);
    }
    runlog_release(&p->log);
    return rc;
}

/* The files are found by their ends, because rocprofv3 begins their names with the host or the process. */
static int find_output(const char *rel, const char *full, void *arg, struct err *err)
{
    struct profiled *p = arg;
    (void)err;
    if (text_ends_with(rel, "counter_collection.csv"))
        snprintf(p->csv, sizeof p->csv, "%s", full);
    else if (text_ends_with(rel, "_results.db"))
        snprintf(p->db, sizeof p->db, "%s", full);
    return 0;
}

/* What cannot be visited is skipped, because only the profiler's table is wanted. */
static void pass_by(const char *rel, const char *why, void *arg)
{
    (void)rel, (void)why, (void)arg;
}

/* A database holds the command and, in places that nobody can list, what else the profiler saw of the test.
 */
static int keep_database(struct profiled *p, const struct buf *bytes, struct err *err)
{
    struct suite *s = p->suite;
    if (s->secrets.count)
        return note(s, p, "wrote a database, which may hold the plan's secrets and is not kept", err);
    return artifact_text(p->dir, db_name, buf_str(bytes), bytes->len, &s->secrets, err);
}

/* Keeps the profiler's table in the bundle; a profiler that wrote none is noted. */
static int keep_table(struct profiled *p, struct err *err)
{
    struct suite *s = p->suite;
    struct err why = {0};
    AUTO(buf_release) struct buf text = {.max = CSV_BYTES_MAX};
    if (p->tool == COUNTERS_ROCPROFV3 && fs_walk_rest(p->raw, find_output, pass_by, p, err) != 0)
        return -1;
    if (fs_read_file(p->csv, CSV_BYTES_MAX, &text, &why) == 0)
        return artifact_text(p->dir, csv_name, buf_str(&text), text.len, &s->secrets, err);
    if (*p->db && fs_read_file(p->db, CSV_BYTES_MAX, &text, &why) == 0)
        return keep_database(p, &text, err);
    return note(s, p, "wrote no table of at most 32 MiB; counters.log has its output", err);
}

/* A profiler that lacks a privilege (CAP_PERFMON) warns that its counters may be wrong, and ends with 0. */
static bool is_warning(const char *line, size_t len)
{
    static const char *const words[] = {"inaccura", "CAP_PERFMON", "perf_event_paranoid", "may be incorrect"};
    char text[WARNING_MAX];
    snprintf(text, sizeof text, "%.*s", (int)len, line);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasestr(text, words[i]))
            return true;
    return false;
}

/* The log stays beside the counters; its first such line is told. */
static int tell_warning(struct profiled *p, struct err *err)
{
    char path[FS_PATH_MAX], shown[WARNING_MAX], why[2 * WARNING_MAX];
    struct err ignored = {0};
    AUTO(buf_release) struct buf text = {.max = LOG_BYTES_MAX * 2};
    if (fs_join(path, NULL, p->dir, "counters.log") != 0 ||
        fs_read_file(path, LOG_BYTES_MAX * 2, &text, &ignored) != 0)
        return 0;
    for (const char *at = buf_str(&text); *at;) {
        size_t len = strcspn(at, "\n");
        if (is_warning(at, len)) {
            text_printable_fixed(shown, sizeof shown, at, len);
            snprintf(why, sizeof why, "its counters may be wrong: %s", shown);
            return note(p->suite, p, why, err);
        }
        at += len + (at[len] == '\n');
    }
    return 0;
}

static int count_cell(struct profiled *p, struct err *err)
{
    struct suite *s = p->suite;
    const struct lane *lane = s->test[p->test].lane ? s->test[p->test].lane : s->lanes.lane;
    profiler_command(&s->job.counters, p->tool, p->csv, p->raw, &p->argv);
    if (fs_remove_tree(p->dir, err) != 0 || fs_mkdir_p(p->raw, 0700, err) != 0 ||
        test_command(s, p->test, lane, p->dir, &p->argv, &p->env, err) != 0 || run_child(p, err) != 0)
        return -1;
    if (s->loop.stop)
        return fs_remove_tree(p->dir, err);
    int rc = p->result.status == STATUS_OK ? keep_table(p, err) : note(s, p, p->result.reason, err);
    rc = rc == 0 && p->result.status == STATUS_OK ? tell_warning(p, err) : rc;
    return rc == 0 ? fs_remove_tree(p->raw, err) : -1;
}

static void profiled_release(struct profiled *p)
{
    strvec_release(&p->argv);
    strvec_release(&p->env);
}

static int count_once(struct suite *s, size_t test, enum counters_tool tool, double left_s, struct err *err)
{
    AUTO(profiled_release) struct profiled p = {.suite = s, .test = test, .tool = tool, .left_s = left_s};
    char done[FS_PATH_MAX], done_db[FS_PATH_MAX];
    if (set_paths(&p, err) != 0 || fs_join(done, err, p.dir, csv_name) != 0 ||
        fs_join(done_db, err, p.dir, db_name) != 0)
        return -1;
    bool counted = fs_exists(done) || fs_exists(done_db); /* by an earlier supervisor */
    return counted ? 0 : count_cell(&p, err);
}

/* Whether this is the first test of its variant and context that worked. */
static bool is_first(const struct suite *s, size_t test)
{
    const struct job_test *t = &s->job.test[test];
    for (size_t i = 0; i < test; i++)
        if (s->test[i].status == STATUS_OK && s->job.test[i].variant == t->variant &&
            s->job.test[i].context == t->context)
            return false;
    return s->test[test].final && s->test[test].status == STATUS_OK;
}

int profile_run(struct suite *s, struct err *err)
{
    char why[REASON_MAX];
    size_t cells = 0;
    if (!s->job.counters.on || s->loop.stop || s->dirty[0])
        return 0;
    enum counters_tool tool = choose_tool(s);
    if (refusal(s, tool, why, err) != 0)
        return -1;
    if (why[0])
        return note(s, NULL, why, err);
    const double until = clock_mono_s() + total_most_s;
    for (size_t i = 0; i < s->job.test_count && !s->loop.stop; i++) {
        if (!is_first(s, i))
            continue;
        if (cells++ == PROFILE_CELLS_MAX)
            return note(s, NULL, "only the first 16 variants and contexts were counted", err);
        double left_s = until - clock_mono_s();
        if (left_s <= 0)
            return note(s, NULL,
                        "the limit of one hour was reached: the other variants and contexts were not counted",
                        err);
        if (count_once(s, i, tool, left_s, err) != 0)
            return -1;
    }
    return 0;
}
