/* array_queue, task_end, stall: array jobs through a scheduler that this file plays by its table of
 * functions: submission and its failures, polling, lost and cancelled tasks, and what followers are told. */
#include "tests/unit/support.h"

#include "common/base/json.h"
#include "executor/scheduler/array_queue.h"

static const char job_text[] =
    "{\"schema\": \"kernsweep.job/1\", \"run_id\": \"%s\", \"ticket\": \"t\", \"tag\": \"\","
    " \"date\": \"2026-02-14\", \"mode\": \"perf\", \"node\": \"n\", \"source\": null, \"env\": {}, "
    "\"secrets\": [],"
    " \"scheduler\": {\"kind\": \"slurm\", \"poll_s\": 0.5},"
    " \"variants\": [{\"name\": \"a\", \"run\": [\"true\"]}],"
    " \"tests\": [{\"index\": 1, \"variant\": \"a\", \"context\": 16, \"repetition\": 1, \"timeout_s\": 5}]}";

/* The scheduler: what it is asked, and what it answers next. */
static struct {
    int64_t next_id; /* 0: refuses, negative: does not answer */
    size_t submitted, cancelled;
    double limit_s;
    struct task_report report[4];
    size_t reports;
    bool down;
} fake;

static int fake_submit(struct loop *loop, const struct array_request *request, int64_t *job, bool *reachable,
                       struct err *err)
{
    (void)loop;
    *reachable = fake.next_id >= 0;
    fake.limit_s = request->limit_s;
    if (fake.next_id <= 0)
        return err_set(err, ERR_NODE, fake.next_id ? "silence" : "no such account");
    fake.submitted++;
    *job = fake.next_id;
    return 0;
}

static int fake_poll(struct loop *loop, const char *name, struct task_list *out, bool *reachable,
                     struct err *err)
{
    (void)loop;
    assert_non_null(strstr(name, "kernsweep-"));
    *out = (struct task_list){.item = NULL};
    *reachable = !fake.down;
    if (fake.down)
        return err_set(err, ERR_NODE, "silence");
    out->item = calloc(COUNT(fake.report), sizeof *out->item);
    memcpy(out->item, fake.report, sizeof fake.report);
    out->count = fake.reports;
    return 0;
}

static int fake_cancel(struct loop *loop, const int64_t *jobs, size_t count, bool *reachable, struct err *err)
{
    (void)loop;
    (void)err;
    *reachable = true;
    for (size_t i = 0; i < count; i++)
        fake.cancelled += jobs[i] > 0;
    fake.reports = 0;
    return 0;
}

static const struct scheduler_ops fake_ops = {.kind = "fake",
                                              .title = "Fake",
                                              .cancel_command = "fakecancel",
                                              .submit = fake_submit,
                                              .poll = fake_poll,
                                              .cancel = fake_cancel};

struct fixture {
    struct layout layout;
    struct suite s;
    struct array_queue q;
};

static void open_fixture(struct fixture *f, const char *run_id)
{
    struct err err = {0};
    char text[sizeof job_text + 64], file[128];
    memset(&fake, 0, sizeof fake);
    fake.next_id = 17;
    snprintf(text, sizeof text, job_text, run_id);
    snprintf(file, sizeof file, "runs/%s/.job.json", run_id);
    put(file, text);
    assert_ok(layout_init(&f->layout, in_scratch(""), in_scratch("sys"), in_scratch("proc"), &err), &err);
    assert_ok(suite_open(&f->s, &f->layout, run_id, &err), &err);
    assert_ok(array_queue_open(&f->q, &f->s, &err), &err);
    assert_ptr_equal(f->q.ops, &scheduler_slurm);
    f->q.ops = &fake_ops;
}

static void close_fixture(struct fixture *f)
{
    array_queue_close(&f->q);
    suite_release(&f->s);
}

static void submit_job(struct fixture *f)
{
    struct err err = {0};
    struct array_job *a = array_queue_new(&f->q, 0, 1);
    assert_non_null(a);
    array_task_add_test(&a->task[0], 0);
    assert_ok(array_queue_submit_new(&f->q, &err), &err);
}

static void update(struct fixture *f, unsigned times)
{
    struct err err = {0};
    for (unsigned i = 0; i < times; i++) {
        f->q.poll_ns = 0;
        assert_ok(array_queue_update(&f->q, &err), &err);
    }
}

static void show_task(enum task_state state, const char *word, const char *nodes, const char *reason)
{
    struct task_report *r = &fake.report[0];
    *r = (struct task_report){.job = 17, .number = 1, .index = 1, .state = state};
    snprintf(r->word, sizeof r->word, "%s", word);
    snprintf(r->nodes, sizeof r->nodes, "%s", nodes);
    snprintf(r->reason, sizeof r->reason, "%s", reason);
    fake.reports = 1;
}

/* How many of the run's events hold the text. */
static size_t told(const struct fixture *f, const char *text)
{
    struct err err = {0};
    struct buf events;
    char path[FS_PATH_MAX];
    size_t count = 0;
    assert_ok(fs_join(path, &err, f->s.dir, RUN_EVENTS), &err);
    buf_init(&events, 1 << 20);
    assert_ok(fs_read_file(path, 1 << 20, &events, &err), &err);
    for (const char *p = buf_str(&events); (p = strstr(p, text)); p++)
        count++;
    buf_release(&events);
    return count;
}

TEST(a_job_gets_its_id_and_its_limit)
{
    struct fixture f;
    open_fixture(&f, "submitted");
    submit_job(&f);
    assert_int_equal(f.q.count, 1);
    assert_int_equal(f.q.job[0].id, 17);
    assert_true(fake.limit_s >= 5 + 120); /* the test's time-out and the scheduler's slack */
    assert_true(array_queue_is_live(&f.q));
    close_fixture(&f);
    open_fixture(&f, "submitted"); /* another supervisor */
    assert_int_equal(f.q.count, 1);
    assert_int_equal(f.q.job[0].id, 17);
    close_fixture(&f);
}

TEST(a_refused_job_is_not_live)
{
    struct fixture f;
    open_fixture(&f, "refused");
    fake.next_id = 0;
    submit_job(&f);
    assert_string_equal(f.q.refusal, "no such account");
    assert_false(array_queue_is_live(&f.q));
    assert_false(f.q.down);
    close_fixture(&f);
}

TEST(a_job_without_an_answer_is_found_or_submitted_again)
{
    struct fixture f;
    open_fixture(&f, "unanswered");
    fake.next_id = -1;
    fake.down = true;
    submit_job(&f);
    assert_true(f.q.down);
    assert_int_equal(told(&f, "Fake does not answer (silence)"), 1);
    update(&f, 2);
    assert_int_equal(told(&f, "Fake does not answer (silence)"), 1); /* told once */
    fake.down = false;
    fake.next_id = 18;
    show_task(TASK_RUNNING, "RUNNING", "n1", ""); /* it had been accepted, as 17 */
    update(&f, 1);
    assert_int_equal(told(&f, "Fake answers again"), 1);
    assert_int_equal(f.q.job[0].id, 17);
    assert_int_equal(fake.submitted, 0);
    close_fixture(&f);
    open_fixture(&f, "never-accepted");
    fake.next_id = -1;
    submit_job(&f);
    fake.next_id = 18;
    update(&f, 1);
    assert_int_equal(f.q.job[0].id, 18);
    close_fixture(&f);
}

TEST(waiting_is_told_once_for_each_reason)
{
    struct fixture f;
    open_fixture(&f, "waiting");
    submit_job(&f);
    show_task(TASK_PENDING, "PENDING", "", "Resources");
    update(&f, 3);
    assert_int_equal(told(&f, "is waiting: Resources"), 1);
    show_task(TASK_PENDING, "PENDING", "", "Priority");
    update(&f, 1);
    assert_int_equal(told(&f, "is waiting: Priority"), 1);
    show_task(TASK_RUNNING, "RUNNING", "n1", "");
    update(&f, 2);
    assert_int_equal(told(&f, "jobs are running again"), 1);
    close_fixture(&f);
}

TEST(a_lost_task_is_over_after_three_polls)
{
    struct fixture f;
    open_fixture(&f, "lost");
    submit_job(&f);
    show_task(TASK_ENDED, "NODE_FAIL", "n1", "NodeDown");
    update(&f, 3);
    assert_false(array_queue_is_over(&f.q)); /* the task is ended before the poll of the same update */
    update(&f, 1);
    assert_true(array_queue_is_over(&f.q));
    assert_int_equal(told(&f, "job 17_1 on n1: NODE_FAIL (NodeDown); unfinished tests go to another job"), 1);
    assert_false(f.s.test[0].final);
    close_fixture(&f);
}

TEST(a_task_cancelled_by_someone_is_not_repeated)
{
    struct fixture f;
    open_fixture(&f, "cancelled");
    submit_job(&f);
    show_task(TASK_CANCELLED, "CANCELLED", "", "");
    update(&f, 4);
    assert_true(array_queue_is_over(&f.q));
    assert_true(f.s.test[0].final);
    assert_int_equal(f.s.test[0].status, STATUS_INTERRUPTED);
    assert_non_null(strstr(f.s.test[0].reason, "cancelled by someone else"));
    close_fixture(&f);
}

TEST(cancelling_ends_all_jobs)
{
    struct fixture f;
    struct err err = {0};
    char mark[128];
    open_fixture(&f, "stopped");
    submit_job(&f);
    show_task(TASK_RUNNING, "RUNNING", "n1", "");
    update(&f, 1);
    snprintf(mark, sizeof mark, "runs/stopped/%s", RUN_CANCEL);
    put(mark, "");
    f.s.loop.stop = true;
    assert_ok(array_queue_cancel(&f.q, &err), &err);
    assert_int_equal(fake.cancelled, 1);
    assert_true(array_queue_is_over(&f.q));
    assert_true(f.s.loop.stop); /* as it was */
    close_fixture(&f);
}

GROUP(scratch_make, scratch_remove);
