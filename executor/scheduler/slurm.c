/* Slurm: sbatch, squeue and scancel, called with one argv word per option. Answers are bounded and requested
 * in a fixed format, because the machine-readable ones differ between versions. */
#include "executor/scheduler/scheduler.h"

#include "common/base/alloc.h"
#include "common/base/program_env.h"
#include "common/base/text.h"
#include "executor/process/child.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ANSWER_MAX = 32 << 20, COMPLAINT_MAX = 300, CANCEL_MAX = 256 };

static const double answer_limit_s = 30;

static void keep_answer(void *arg, const char *data, size_t len)
{
    buf_add(arg, data, len);
}

/* Whether no controller answered, which only the text shows: the exit status is the same as for a refusal. */
static bool says_unreachable(const char *text)
{
    static const char *const signs[] = {"Unable to contact slurm controller",
                                        "Socket timed out",
                                        "Connection refused",
                                        "Connection timed out",
                                        "slurm_persist_conn_open",
                                        "Slurm backup controller in standby mode"};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (strstr(text, signs[i]))
            return true;
    return false;
}

static int fail_with_output(const char *program, const char *text, size_t len, struct err *err)
{
    char line[COMPLAINT_MAX];
    while (len > 0 && text[len - 1] == '\n')
        len--;
    text_printable_fixed(line, sizeof line, text, len);
    return err_set(err, ERR_NODE, "%s: %s", program, *line ? line : "failed without a message");
}

/* Runs one of Slurm's commands; out receives what it prints. */
static int call(struct loop *loop, const struct strvec *argv, struct buf *out, bool *reachable,
                struct err *err)
{
    AUTO(strvec_release) struct strvec env = {.v = NULL};
    const char *program = strvec_argv(argv)[0];
    struct child_limits limits = {.timeout_s = answer_limit_s, .kill_grace_s = 1};
    struct child_hooks hooks = {.output = keep_answer, .arg = out};
    struct child_result result;
    struct ending ending;
    program_env(program, &env);
    struct process_spec spec = {.argv = argv->v, .env = env.v, .cwd = "/", .input = -1};
    *reachable = true;
    if (child_run(loop, &spec, &limits, &hooks, &result, err) != 0)
        return -1;
    child_ending(&result, &limits, program, &ending);
    struct assessment a = assess_ending(&ending);
    if (a.status == STATUS_OK)
        return buf_ok(out) ? 0
                           : err_set(err, ERR_NODE, "%s: printed more than %d bytes", program, ANSWER_MAX);
    *reachable = ending.stop == STOP_NONE && !says_unreachable(buf_str(out));
    if (ending.exec_errno || ending.stop != STOP_NONE)
        return err_set(err, ERR_NODE, "%s: %s; is Slurm installed on the plan's node?", program, a.reason);
    return fail_with_output(program, buf_str(out), out->len, err);
}

static void add_option(struct strvec *argv, const char *name, const char *value)
{
    if (*value)
        strvec_pushf(argv, "--%s=%s", name, value);
}

static void add_array(struct strvec *argv, const struct array_request *r)
{
    if (r->how->max_parallel > 0)
        strvec_pushf(argv, "--array=1-%zu%%%lld", r->tasks, (long long)r->how->max_parallel);
    else
        strvec_pushf(argv, "--array=1-%zu", r->tasks);
}

static void add_resources(struct strvec *argv, const struct scheduler *how)
{
    add_option(argv, "partition", how->partition);
    add_option(argv, "account", how->account);
    add_option(argv, "qos", how->qos);
    add_option(argv, "gres", how->gres);
    add_option(argv, "constraint", how->constraint);
    add_option(argv, "mem", how->mem);
    if (how->cpus > 0)
        strvec_pushf(argv, "--cpus-per-task=%lld", (long long)how->cpus);
    if (how->exclusive)
        strvec_push(argv, "--exclusive");
}

/* %A and %a are Slurm's names of the job and the index. */
static int add_log(struct strvec *argv, const char *dir, struct err *err)
{
    char path[FS_PATH_MAX];
    if (strpbrk(dir, "%\\"))
        return err_set(err, ERR_INPUT,
                       "%s: Slurm cannot write logs below a folder with '%%' or '\\' in its name", dir);
    if (fs_join(path, err, dir, "%a.%A.log") != 0)
        return -1;
    add_option(argv, "output", path);
    return 0;
}

static int add_submission(struct strvec *argv, const struct array_request *r, struct err *err)
{
    /* Slurm must not requeue: it would repeat all tests of a task, where we repeat only those that are lost.
     * TERM 30 s before the limit leaves time to close files. */
    strvec_pushl(argv, "sbatch", "--parsable", "--no-requeue", "--open-mode=append", "--export=ALL",
                 "--nodes=1", "--ntasks=1", "--signal=B:TERM@30", "--chdir=/", NULL);
    add_option(argv, "job-name", r->name);
    strvec_pushf(argv, "--comment=%d", r->number);
    add_array(argv, r);
    add_resources(argv, r->how);
    strvec_pushf(argv, "--time=%lld", (long long)ceil(r->limit_s / 60));
    if (add_log(argv, r->log_dir, err) != 0)
        return -1;
    strvec_push_all(argv, r->argv);
    return 0;
}

/* The answer is "123" or "123;cluster" on a line of its own, possibly after warnings. */
static int64_t parse_job(const char *text)
{
    int64_t job = 0;
    for (const char *line = text; *line; line += strcspn(line, "\n") + (strchr(line, '\n') != NULL)) {
        char *end;
        long long n = strtoll(line, &end, 10);
        if (end != line && n > 0 && (*end == '\n' || *end == ';' || *end == '\0'))
            job = n;
    }
    return job;
}

static int slurm_submit(struct loop *loop, const struct array_request *request, int64_t *job, bool *reachable,
                        struct err *err)
{
    AUTO(strvec_release) struct strvec argv = {.v = NULL};
    AUTO(buf_release) struct buf out = {.max = ANSWER_MAX};
    if (add_submission(&argv, request, err) != 0 || call(loop, &argv, &out, reachable, err) != 0)
        return -1;
    *job = parse_job(buf_str(&out));
    return *job ? 0 : fail_with_output("sbatch", buf_str(&out), out.len, err);
}

static enum task_state parse_state(const char *word)
{
    static const struct {
        const char *word;
        enum task_state state;
    } known[] = {{"PENDING", TASK_PENDING},     {"RUNNING", TASK_RUNNING},     {"COMPLETING", TASK_RUNNING},
                 {"CANCELLED", TASK_CANCELLED}, {"COMPLETED", TASK_ENDED},     {"FAILED", TASK_ENDED},
                 {"TIMEOUT", TASK_ENDED},       {"NODE_FAIL", TASK_ENDED},     {"PREEMPTED", TASK_ENDED},
                 {"BOOT_FAIL", TASK_ENDED},     {"OUT_OF_MEMORY", TASK_ENDED}, {"DEADLINE", TASK_ENDED},
                 {"REVOKED", TASK_ENDED}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(word, known[i].word) == 0)
            return known[i].state;
    }
    return TASK_OTHER;
}

/* A line is "12_3|7|RUNNING|n1|None": array job and index, comment, state, nodes, reason. */
static bool parse_task(const char *line, size_t len, struct task_report *t)
{
    char text[4 * TASK_TEXT_MAX], *at = text, *field[5], *end;
    if (len >= sizeof text)
        return false;
    memcpy(text, line, len);
    text[len] = '\0';
    for (int i = 0; i < 5; i++) {
        field[i] = i < 4 ? strsep(&at, "|") : at;
        if (!field[i])
            return false;
    }
    *t = (struct task_report){.job = strtoll(field[0], &end, 10), .number = -1};
    if (end == field[0] || *end != '_')
        return false;
    t->index = (int)strtol(end + 1, &end, 10);
    long number = strtol(field[1], &end, 10);
    if (end != field[1] && !*end && number >= 0 && number < INT32_MAX)
        t->number = (int)number;
    t->state = parse_state(field[2]);
    text_printable_fixed(t->word, sizeof t->word, field[2], strlen(field[2]));
    text_printable_fixed(t->nodes, sizeof t->nodes, field[3], strlen(field[3]));
    if (strcmp(field[4], "None") != 0)
        text_printable_fixed(t->reason, sizeof t->reason, field[4], strlen(field[4]));
    return t->job > 0 && t->index > 0;
}

static void parse_queue(const char *text, struct task_list *list)
{
    for (const char *line = text; *line; line += strcspn(line, "\n") + (strchr(line, '\n') != NULL)) {
        struct task_report t;
        if (!parse_task(line, strcspn(line, "\n"), &t))
            continue;
        ALLOC_GROW(list->item, list->count + 1, list->cap);
        list->item[list->count++] = t;
    }
}

static int slurm_poll(struct loop *loop, const char *name, struct task_list *out, bool *reachable,
                      struct err *err)
{
    static const char *const fixed[] = {
        "squeue", "--noheader", "--array", "--states=all", "--format=%i|%k|%T|%N|%r", NULL};
    AUTO(strvec_release) struct strvec argv = {.v = NULL};
    AUTO(buf_release) struct buf text = {.max = ANSWER_MAX};
    *out = (struct task_list){.item = NULL};
    strvec_push_all(&argv, fixed);
    add_option(&argv, "name", name);
    if (call(loop, &argv, &text, reachable, err) != 0)
        return -1;
    parse_queue(buf_str(&text), out);
    return 0;
}

static int slurm_cancel(struct loop *loop, const int64_t *jobs, size_t count, bool *reachable,
                        struct err *err)
{
    *reachable = true;
    for (size_t done = 0; done < count; done += CANCEL_MAX) {
        AUTO(strvec_release) struct strvec argv = {.v = NULL};
        AUTO(buf_release) struct buf text = {.max = ANSWER_MAX};
        strvec_push(&argv, "scancel");
        for (size_t i = done; i < count && i < done + CANCEL_MAX; i++)
            strvec_pushf(&argv, "%lld", (long long)jobs[i]);
        if (call(loop, &argv, &text, reachable, err) != 0)
            return -1;
    }
    return 0;
}

static bool slurm_is_here(void)
{
    const char *job = getenv("SLURM_JOB_ID");
    return job && *job;
}

static int get_number(const char *name, int64_t fallback, int64_t *out, struct err *err)
{
    const char *text = getenv(name);
    char *end = NULL;
    *out = text ? strtoll(text, &end, 10) : fallback;
    if ((!text || (end != text && !*end)) && *out >= 0)
        return 0;
    return err_set(err, ERR_INPUT, "%s is not a number: this process is started by a job's script", name);
}

static int slurm_identify(struct task_identity *out, struct err *err)
{
    const char *host = getenv("SLURMD_NODENAME");
    out->host = host ? host : "";
    return get_number("SLURM_ARRAY_TASK_ID", -1, &out->index, err) != 0 ||
                   get_number("SLURM_ARRAY_JOB_ID", -1, &out->job, err) != 0 ||
                   get_number("SLURM_RESTART_COUNT", 0, &out->restart, err) != 0
               ? -1
               : 0;
}

static const char *from_environment(const char *name)
{
    const char *text = getenv(name);
    return text && *text ? text : NULL;
}

/* SLURM_JOB_GPUS counts as the node does; the devices that Slurm makes visible are counted within the task's
 * cgroup, as NVML does there and amdgpu's files do not. */
static void slurm_granted(struct gpu_grant *out, bool amd)
{
    const char *numbers = from_environment("SLURM_STEP_GPUS"), *visible = gpu_use_environment();
    numbers = numbers ? numbers : from_environment("SLURM_JOB_GPUS");
    *out = (struct gpu_grant){.by_scheduler = true};
    out->list = amd ? (numbers ? numbers : visible) : (visible ? visible : numbers);
}

const struct scheduler_ops scheduler_slurm = {
    .kind = "slurm",
    .title = "Slurm",
    .cancel_command = "scancel",
    .is_here = slurm_is_here,
    .identify = slurm_identify,
    .granted = slurm_granted,
    .submit = slurm_submit,
    .poll = slurm_poll,
    .cancel = slurm_cancel,
};
