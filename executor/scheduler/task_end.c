#include "executor/scheduler/task_end.h"

#include "executor/bundle/fault.h"
#include "executor/scheduler/relay.h"
#include "executor/suite/test.h"

#include <stdio.h>
#include <string.h>

/* A shared folder may show a task's last files later than the queue shows its end. */
enum { LOST_POLLS = 3 };

/* out: char[REASON_MAX]; what the scheduler says, and what the task's own executor said last. */
static void describe_loss(const struct suite *s, const struct array_job *a, size_t index, char *out)
{
    const struct array_task *t = &a->task[index];
    const struct task_report *seen = &t->seen;
    char dir[FS_PATH_MAX], fault[FAULT_MAX] = "", state[TASK_WORD_MAX + 32] = "left the queue";
    if (seen->state == TASK_UNSEEN)
        snprintf(state, sizeof state, "no longer in the queue");
    else if (task_state_is_final(seen->state))
        snprintf(state, sizeof state, "%s", seen->word);
    if (*t->attempt && array_job_attempt_dir(a, index, s, dir, NULL) == 0)
        fault_read(dir, fault);
    reason_set(out, "job %lld_%zu%s%s: %s%s%s%s%s%.200s", (long long)a->id, index + 1,
               *seen->nodes ? " on " : "", seen->nodes, state, *seen->reason ? " (" : "", seen->reason,
               *seen->reason ? ")" : "", *fault ? ", " : "", fault);
}

/* By a user. A pending task that vanished was cancelled, too: schedulers keep no record of it. A failed
 * launch is also reported as cancelled, but then the task had a node and no attempt. */
static bool is_cancelled(const struct array_task *t)
{
    if (t->seen.state == TASK_CANCELLED)
        return *t->attempt || !*t->seen.nodes;
    return t->seen.state == TASK_PENDING && !*t->attempt;
}

static int skip_tests(struct suite *s, const struct array_task *t, const struct assessment *why,
                      struct err *err)
{
    for (size_t i = 0; i < t->count; i++) {
        if (!s->test[t->test[i]].final && test_skip(s, t->test[i], why, err) != 0)
            return -1;
    }
    return 0;
}

static int end_lost(struct suite *s, struct array_job *a, size_t index, struct err *err)
{
    struct array_task *t = &a->task[index];
    struct assessment why = {.status = STATUS_INTERRUPTED};
    char loss[REASON_MAX], message[REASON_MAX];
    bool cancelled = is_cancelled(t);
    describe_loss(s, a, index, loss);
    if (array_job_end_task(a, index, s, loss, err) != 0 || relay_interrupted(s, a, index, loss, err) != 0)
        return -1;
    if (suite_cancelled(s))
        return 0;
    reason_set(message, "%.400s; %s", loss,
               cancelled ? "cancelled by someone else: its tests are not repeated"
                         : "unfinished tests go to another job");
    if (suite_note(s, message, err) != 0)
        return -1;
    reason_set(why.reason, "%.400s: cancelled by someone else", loss);
    return cancelled && !a->prepare ? skip_tests(s, t, &why, err) : 0;
}

int task_end(struct suite *s, struct array_job *a, size_t index, struct err *err)
{
    const struct array_task *t = &a->task[index];
    if (t->closed) {
        if (array_job_end_task(a, index, s, "done", err) != 0)
            return -1;
        return relay_interrupted(s, a, index, "its executor ended without a result; see the log on the node",
                                 err);
    }
    unsigned enough = suite_cancelled(s) ? 1 : LOST_POLLS;
    return a->id > 0 && t->lost_polls >= enough ? end_lost(s, a, index, err) : 0;
}
