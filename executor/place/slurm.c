#include "executor/place/slurm.h"

#include "common/base/environment.h"
#include "common/base/text.h"
#include "executor/process/child.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ANSWER_MAX = 32 << 20, COMPLAINT_MAX = 300, CANCEL_MAX = 256 };

static const double answer_limit_s = 30;

static void collect(void *arg, const char *data, size_t len)
{
    buf_add(arg, data, len);
}

/* What Slurm says when nobody is there to decide; the exit status is the same as for a refusal. */
static bool is_unreachable(const char *text)
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

static int complain(const char *program, const char *text, size_t len, struct err *err)
{
    char line[COMPLAINT_MAX];
    while (len > 0 && text[len - 1] == '\n')
        len--;
    text_printable_fixed(line, sizeof line, text, len);
    return err_set(err, ERR_NODE, "%s: %s", program, *line ? line : "failed and said nothing");
}

/* Runs one of Slurm's commands; out gets what it printed. */
static int ask_slurm(struct loop *loop, const struct strvec *argv, struct buf *out, bool *reachable,
                     struct err *err)
{
    struct strvec env = {.v = NULL};
    const char *program = strvec_argv(argv)[0];
    struct child_limits limits = {.timeout_s = answer_limit_s, .kill_grace_s = 1};
    struct child_hooks hooks = {.output = collect, .arg = out};
    struct child_result result;
    struct outcome outcome;
    environment_for_workload(&env);
    int rc = strvec_check(argv, err) != 0 ? -1 : strvec_check(&env, err);
    struct process_spec spec = {.argv = argv->v, .env = env.v, .cwd = "/", .input = -1};
    *reachable = true;
    if (rc == 0)
        rc = child_run(loop, &spec, &limits, &hooks, &result, err);
    strvec_release(&env);
    if (rc != 0)
        return -1;
    child_outcome(&result, &limits, program, &outcome);
    struct verdict verdict = verdict_of_command(&outcome);
    if (verdict.status == STATUS_OK)
        return buf_ok(out) ? 0
                           : err_set(err, ERR_NODE, "%s: printed more than %d bytes", program, ANSWER_MAX);
    *reachable = outcome.stop == STOP_NONE && !is_unreachable(buf_str(out));
    if (outcome.exec_errno || outcome.stop != STOP_NONE)
        return err_set(err, ERR_NODE, "%s: %s; is Slurm installed where the plan's node is?", program,
                       verdict.reason);
    return complain(program, buf_str(out), out->len, err);
}

static void add_option(struct strvec *argv, const char *name, const char *value)
{
    if (*value)
        strvec_pushf(argv, "--%s=%s", name, value);
}

static void add_array(struct strvec *argv, const struct slurm_order *o)
{
    if (o->how->max_parallel > 0)
        strvec_pushf(argv, "--array=1-%zu%%%lld", o->tasks, (long long)o->how->max_parallel);
    else
        strvec_pushf(argv, "--array=1-%zu", o->tasks);
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

/* Requeueing stays with us: Slurm would start all tests of a task again. TERM comes early enough to close
 * files.
 */
static void make_sbatch(struct strvec *argv, const struct slurm_order *o)
{
    strvec_pushl(argv, "sbatch", "--parsable", "--no-requeue", "--open-mode=append", "--export=ALL",
                 "--nodes=1", "--ntasks=1", "--signal=B:TERM@30", "--chdir=/", NULL);
    add_option(argv, "job-name", o->name);
    strvec_pushf(argv, "--comment=%lld", (long long)o->number);
    add_array(argv, o);
    add_resources(argv, o->how);
    strvec_pushf(argv, "--time=%lld", (long long)ceil(o->limit_s / 60));
    add_option(argv, "output", o->log);
    strvec_push_all(argv, o->argv);
}

/* "123" or "123;cluster", in a line of its own; warnings stand before it. */
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

int slurm_submit(struct loop *loop, const struct slurm_order *order, int64_t *job, bool *reachable,
                 struct err *err)
{
    struct strvec argv = {.v = NULL};
    struct buf out;
    buf_init(&out, ANSWER_MAX);
    make_sbatch(&argv, order);
    int rc = ask_slurm(loop, &argv, &out, reachable, err);
    if (rc == 0 && (*job = parse_job(buf_str(&out))) == 0)
        rc = complain("sbatch", buf_str(&out), out.len, err);
    strvec_release(&argv);
    buf_release(&out);
    return rc;
}

/* "12_3|7|RUNNING|n1|None": array job and index, comment, state, nodes, reason. */
static bool parse_task(const char *line, size_t len, struct slurm_task *t)
{
    char text[4 * SLURM_TEXT_MAX], *at = text, *field[5], *end;
    if (len >= sizeof text)
        return false;
    memcpy(text, line, len);
    text[len] = '\0';
    for (int i = 0; i < 5; i++) {
        field[i] = i < 4 ? strsep(&at, "|") : at;
        if (!field[i])
            return false;
    }
    *t = (struct slurm_task){.job = strtoll(field[0], &end, 10), .number = -1};
    if (end == field[0] || *end != '_')
        return false;
    t->index = (int)strtol(end + 1, &end, 10);
    long number = strtol(field[1], &end, 10);
    if (end != field[1] && !*end && number >= 0 && number < INT32_MAX)
        t->number = (int)number;
    text_printable_fixed(t->state, sizeof t->state, field[2], strlen(field[2]));
    text_printable_fixed(t->nodes, sizeof t->nodes, field[3], strlen(field[3]));
    text_printable_fixed(t->reason, sizeof t->reason, field[4], strlen(field[4]));
    return t->job > 0 && t->index > 0;
}

static int parse_queue(const char *text, struct slurm_queue *q, struct err *err)
{
    for (const char *line = text; *line; line += strcspn(line, "\n") + (strchr(line, '\n') != NULL)) {
        struct slurm_task t;
        if (!parse_task(line, strcspn(line, "\n"), &t))
            continue;
        struct slurm_task *grown = q->task;
        if ((q->count & (q->count - 1)) == 0)
            grown = realloc(q->task, (q->count ? 2 * q->count : 1) * sizeof *grown);
        if (!grown)
            return err_set(err, ERR_INTERNAL, "no memory for the queue");
        q->task = grown;
        q->task[q->count++] = t;
    }
    return 0;
}

int slurm_look(struct loop *loop, const char *name, struct slurm_queue *out, bool *reachable, struct err *err)
{
    struct strvec argv = {.v = NULL};
    struct buf text;
    *out = (struct slurm_queue){.task = NULL};
    buf_init(&text, ANSWER_MAX);
    strvec_pushl(&argv, "squeue", "--noheader", "--array", "--states=all", "--format=%i|%k|%T|%N|%r", NULL);
    add_option(&argv, "name", name);
    int rc = ask_slurm(loop, &argv, &text, reachable, err);
    if (rc == 0)
        rc = parse_queue(buf_str(&text), out, err);
    if (rc != 0)
        slurm_queue_release(out);
    strvec_release(&argv);
    buf_release(&text);
    return rc;
}

void slurm_queue_release(struct slurm_queue *q)
{
    free(q->task);
    *q = (struct slurm_queue){.task = NULL};
}

int slurm_cancel(struct loop *loop, const int64_t *jobs, size_t count, bool *reachable, struct err *err)
{
    int rc = 0;
    *reachable = true;
    for (size_t done = 0; rc == 0 && done < count; done += CANCEL_MAX) {
        struct strvec argv = {.v = NULL};
        struct buf text;
        buf_init(&text, ANSWER_MAX);
        strvec_push(&argv, "scancel");
        for (size_t i = done; i < count && i < done + CANCEL_MAX; i++)
            strvec_pushf(&argv, "%lld", (long long)jobs[i]);
        rc = ask_slurm(loop, &argv, &text, reachable, err);
        strvec_release(&argv);
        buf_release(&text);
    }
    return rc;
}

bool slurm_state_is_final(const char *state)
{
    static const char *const final[] = {"COMPLETED", "FAILED",    "CANCELLED",     "TIMEOUT",  "NODE_FAIL",
                                        "PREEMPTED", "BOOT_FAIL", "OUT_OF_MEMORY", "DEADLINE", "REVOKED"};
    for (size_t i = 0; i < sizeof final / sizeof *final; i++)
        if (strcmp(state, final[i]) == 0)
            return true;
    return false;
}
