#include "executor/scheduler/relay.h"

#include "common/base/alloc.h"
#include "common/base/json.h"
#include "executor/bundle/artifact.h"
#include "executor/bundle/fault.h"
#include "executor/suite/adopt.h"
#include "executor/suite/test.h"
#include "executor/suite/test_event.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 256 << 10, PIECES_PER_TURN = 64 };

struct relay {
    struct suite *s;
    struct array_task *task;
    char dir[FS_PATH_MAX]; /* the attempt's run folder */
    char id[ATTEMPT_ID_MAX + 16];
    char host[LIMIT_NAME + 1];
};

static bool is_relayed(enum event_type type)
{
    switch (type) {
    case EVENT_BUILD_START:
    case EVENT_BUILD_END:
    case EVENT_GATE:
    case EVENT_TEST_START:
    case EVENT_HEARTBEAT:
    case EVENT_TEST_END:
    case EVENT_TEST_SKIP:
        return true;
    case EVENT_SUITE_START:
    case EVENT_SUITE_END:
    case EVENT_CONFIG_PATCH: /* the run writes its own */
    case EVENT_NODE:
    case EVENT_COUNT:
        return false;
    }
    return false;
}

/* Whether a task says something of its machine: that GPUs were taken out, or why it could not begin. */
static bool is_message(enum event_type type, const json_t *event)
{
    return type == EVENT_NODE && json_object_get(event, "message");
}

static int write_event(struct relay *r, enum event_type type, const json_t *event, struct err *err)
{
    struct suite *s = r->s;
    json_t *fields = json_copy((json_t *)(uintptr_t)event);
    json_auto_t *own = json_pack("{s:s, s:O, s:s}", "attempt_id", r->id, "attempt_seq",
                                 json_object_get(event, "seq"), "host", r->host);
    static const char *const stale[] = {"seq", "ts", "event"};
    for (size_t i = 0; i < sizeof stale / sizeof *stale; i++)
        json_object_del(fields, stale[i]);
    if (json_object_get(fields, "test_index")) {
        json_object_set_new(fields, "tests_done", json_integer((json_int_t)s->tests_done));
        json_object_set_new(fields, "suite_eta_s", suite_eta(s));
    }
    json_object_update(fields, own);
    json_object_set(s->past.relayed, r->id, json_object_get(event, "seq"));
    return journal_add(&s->journal, type, fields, err);
}

/* Takes back a result that the attempt itself no longer believes. */
static void take_back(struct suite *s, struct test_state *t)
{
    t->final = t->ended = false;
    s->tests_done--;
}

enum { RELAY_SKIP, RELAY_EVENT, RELAY_LATER };

/* Returns what to do with an event of a test, or -1. RELAY_LATER: its result is not visible here yet. */
static int apply_test_event(struct relay *r, enum event_type type, size_t test, const json_t *event,
                            struct err *err)
{
    struct test_state *t = &r->s->test[test];
    bool is_end = type == EVENT_TEST_END || type == EVENT_TEST_SKIP;
    if (t->final && !is_end)
        return RELAY_SKIP;
    if (type == EVENT_TEST_START) {
        t->attempts++;
        t->in_flight = true;
    }
    if (!is_end)
        return RELAY_EVENT;
    if (t->final && json_is_true(json_object_get(event, "replaces")))
        take_back(r->s, t);
    bool known = t->ended;
    const char *seal = json_string_value(json_object_get(event, "perf_sha256"));
    int rc = adopt_test(r->s, test, r->dir, seal ? seal : "", err);
    if (rc <= 0)
        return rc == 0 ? RELAY_LATER : -1;
    t->ended = true;
    return known ? RELAY_SKIP : RELAY_EVENT;
}

static bool is_of_task(const struct relay *r, size_t test)
{
    for (size_t i = 0; i < r->task->count; i++)
        if (r->task->test[i] == test)
            return true;
    return false;
}

/* Returns RELAY_LATER if the line must be read again later. */
static int relay_event(struct relay *r, const json_t *event, struct err *err)
{
    enum event_type type;
    const char *name = json_string_value(json_object_get(event, "event"));
    json_int_t seq = json_integer_value(json_object_get(event, "seq"));
    json_t *index = json_object_get(event, "test_index");
    if (!name || !event_from_name(name, &type) || (!is_relayed(type) && !is_message(type, event)) ||
        seq <= json_integer_value(json_object_get(r->s->past.relayed, r->id)))
        return RELAY_SKIP;
    size_t test = (size_t)json_integer_value(index) - 1;
    if (index && !is_of_task(r, test))
        return RELAY_SKIP;
    int rc = index ? apply_test_event(r, type, test, event, err) : RELAY_EVENT;
    return rc == RELAY_EVENT ? write_event(r, type, event, err) : rc;
}

/* Relays the whole lines of data. Returns how many bytes were consumed, or -1. */
static int64_t relay_lines(struct relay *r, const char *data, size_t len, struct err *err)
{
    size_t at = 0;
    const char *end;
    while (at < len && (end = memchr(data + at, '\n', len - at))) {
        size_t line = (size_t)(end - data) - at;
        json_auto_t *event = json_loadb(data + at, line, 0, NULL);
        int rc = json_is_object(event) ? relay_event(r, event, err) : 0;
        if (rc < 0)
            return -1;
        if (rc == RELAY_LATER)
            break;
        at += line + 1;
    }
    return (int64_t)at;
}

/* Sets *news when there was something new. */
static int read_journal(struct relay *r, bool *news, struct err *err)
{
    char path[FS_PATH_MAX];
    if (fs_join(path, err, r->dir, RUN_EVENTS) != 0)
        return -1;
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    AUTO_FREE char *data = xmalloc(PIECE);
    for (int i = 0; fd >= 0 && i < PIECES_PER_TURN; i++) {
        ssize_t n = pread(fd, data, PIECE, r->task->offset);
        int64_t taken = n > 0 ? relay_lines(r, data, (size_t)n, err) : 0;
        if (taken <= 0)
            return taken < 0 ? -1 : 0;
        r->task->offset += taken;
        *news = true;
    }
    return 0;
}

/* Reads the name of the machine that works on it, which its node.json has before its first event. */
static void read_host(struct relay *r)
{
    char path[FS_PATH_MAX];
    *r->host = '\0';
    if (fs_join(path, NULL, r->dir, RUN_NODE) != 0 || !fs_exists(path))
        return;
    json_auto_t *node = json_load(path, LIMIT_JSON_BYTES, NULL);
    const char *host = json_string_value(json_object_get(node, "host"));
    snprintf(r->host, sizeof r->host, "%.64s", host ? host : "");
}

static int relay_open(struct relay *r, struct suite *s, struct array_job *a, size_t index, struct err *err)
{
    *r = (struct relay){.s = s, .task = &a->task[index]};
    snprintf(r->id, sizeof r->id, "%d/%.60s", a->number, r->task->attempt);
    return array_job_attempt_dir(a, index, s, r->dir, err);
}

int relay_collect(struct suite *s, struct array_job *a, size_t index, struct err *err)
{
    struct relay r;
    char manifest[FS_PATH_MAX];
    if (!*a->task[index].attempt || a->task[index].closed)
        return 0;
    if (relay_open(&r, s, a, index, err) != 0 || fs_join(manifest, err, r.dir, RUN_MANIFEST) != 0)
        return -1;
    /* This is checked before the events are read, because all of them were written before the manifest. */
    bool closed = fs_exists(manifest), news = false;
    read_host(&r);
    if (adopt_node(s, r.host, r.dir, err) != 0 || read_journal(&r, &news, err) != 0)
        return -1;
    a->task[index].closed = closed && !news;
    return 0;
}

/* Writes the TEST_END of the tests that the attempt started and did not end; they may run again. */
static int relay_interrupted(struct suite *s, const struct array_job *a, size_t index, const char *reason,
                             struct err *err)
{
    const struct array_task *task = &a->task[index];
    for (size_t i = 0; i < task->count; i++) {
        struct test_state *t = &s->test[task->test[i]];
        if (!t->in_flight || t->final)
            continue;
        t->in_flight = false;
        t->status = STATUS_INTERRUPTED;
        t->wall_s = t->prefill_s = t->own = NAN;
        free(t->reason);
        t->reason = xstrdup(reason);
        if (test_event_end(s, task->test[i], t->attempts < ATTEMPTS_MAX, err) != 0)
            return -1;
    }
    return 0;
}

/* A shared folder may show a task's last files later than the queue shows its end. */
enum { LOST_POLLS = 3 };

/* Says what the scheduler says of the task, and what its own executor said last. out: char[REASON_MAX]. */
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

/* Whether a user cancelled it. A pending task that vanished was cancelled, too: schedulers keep no record of
 * it. A failed launch is also reported as cancelled, but then the task had a node and no attempt. */
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
    char loss[REASON_MAX];
    bool cancelled = is_cancelled(t);
    describe_loss(s, a, index, loss);
    if (array_job_end_task(a, index, s, loss, err) != 0 || relay_interrupted(s, a, index, loss, err) != 0)
        return -1;
    if (suite_cancelled(s))
        return 0;
    if (suite_note(s, err, "%.400s; %s", loss,
                   cancelled ? "cancelled by someone else: its tests are not repeated"
                             : "unfinished tests go to another job") != 0)
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
