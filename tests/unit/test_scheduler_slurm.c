/* scheduler, slurm: the arguments that sbatch, squeue and scancel are given, how their answers are read, and
 * which scheduler applies. Scripts that record their arguments stand in for the commands. */
#include "tests/unit/support.h"

#include "executor/scheduler/scheduler.h"

static struct loop loop;

static void put_program(const char *name, const char *body)
{
    char text[4096], file[64];
    snprintf(file, sizeof file, "bin/%s", name);
    snprintf(text, sizeof text, "#!/bin/sh\nfor w in \"$@\"; do echo \"$w\"; done >%s\n%s\n",
             in_scratch("words"), body);
    assert_int_equal(chmod(put(file, text), 0700), 0);
}

static int setup(void **state)
{
    char path[FS_PATH_MAX];
    struct err err = {0};
    if (scratch_make(state) != 0 || loop_open(&loop, &err) != 0)
        return -1;
    snprintf(path, sizeof path, "%s", in_scratch("bin"));
    return setenv("PATH", path, 1);
}

static int teardown(void **state)
{
    loop_close(&loop);
    return scratch_remove(state);
}

static const struct scheduler nothing = {.on = true,
                                         .kind = "slurm",
                                         .partition = "",
                                         .account = "",
                                         .qos = "",
                                         .gres = "",
                                         .constraint = "",
                                         .mem = "",
                                         .node_class = "slurm"};
static const char *const script[] = {"/w/job.sh", "/w/executor", "/w", "run", "3", NULL};

static struct array_request request_for(const struct scheduler *how)
{
    return (struct array_request){.how = how,
                                  .name = "kernsweep-run",
                                  .number = 3,
                                  .tasks = 4,
                                  .limit_s = 61,
                                  .log_dir = "/w",
                                  .argv = script};
}

static int submit(const struct scheduler *how, int64_t *job, bool *reachable, struct err *err)
{
    const struct array_request request = request_for(how);
    *job = 0;
    *err = (struct err){0};
    return scheduler_slurm.submit(&loop, &request, job, reachable, err);
}

#define FIXED                                                                                                \
    "--parsable\n--no-requeue\n--open-mode=append\n--export=ALL\n--nodes=1\n--ntasks=1\n"                    \
    "--signal=B:TERM@30\n--chdir=/\n--job-name=kernsweep-run\n--comment=3\n"
#define SCRIPT "--output=/w/%a.%A.log\n/w/job.sh\n/w/executor\n/w\nrun\n3\n"

TEST(asks_for_no_more_than_the_plan)
{
    int64_t job;
    bool reachable;
    struct err err;
    put_program("sbatch", "echo 17");
    assert_ok(submit(&nothing, &job, &reachable, &err), &err);
    assert_int_equal(job, 17);
    assert_file("words", FIXED "--array=1-4\n--time=2\n" SCRIPT);
}

TEST(asks_for_all_that_the_plan_says)
{
    int64_t job;
    bool reachable;
    struct err err;
    struct scheduler how = {.partition = "gpus",
                            .account = "me",
                            .qos = "night",
                            .gres = "gpu:mi300x:1",
                            .constraint = "mi300x&nvme",
                            .mem = "64G",
                            .exclusive = true,
                            .cpus = 12,
                            .max_parallel = 2};
    put_program("sbatch", "echo '17;north'");
    assert_ok(submit(&how, &job, &reachable, &err), &err);
    assert_int_equal(job, 17);
    assert_file("words", FIXED
                "--array=1-4%2\n--partition=gpus\n--account=me\n--qos=night\n--gres=gpu:mi300x:1\n"
                "--constraint=mi300x&nvme\n--mem=64G\n--cpus-per-task=12\n--exclusive\n--time=2\n" SCRIPT);
}

TEST(finds_the_job_among_warnings)
{
    int64_t job;
    bool reachable;
    struct err err;
    put_program("sbatch", "echo 'sbatch: warning: 3 things' >&2; echo; echo 4711; echo '12 monkeys'");
    assert_ok(submit(&nothing, &job, &reachable, &err), &err);
    assert_int_equal(job, 4711);
    put_program("sbatch", "echo nothing of a number");
    assert_err(submit(&nothing, &job, &reachable, &err), &err, ERR_NODE, "sbatch", "nothing of a number");
    assert_true(reachable);
    put_program("sbatch", "echo -5");
    assert_err(submit(&nothing, &job, &reachable, &err), &err, ERR_NODE, "sbatch");
}

TEST(a_refusal_is_no_silence)
{
    static const char *const silent[] = {"Unable to contact slurm controller (connect failure)",
                                         "Socket timed out on send/recv operation", "Connection refused",
                                         "Slurm backup controller in standby mode"};
    char body[256];
    int64_t job;
    bool reachable;
    struct err err;
    put_program("sbatch", "echo 'sbatch: error: invalid account' >&2; exit 1");
    assert_err(submit(&nothing, &job, &reachable, &err), &err, ERR_NODE, "sbatch", "invalid account");
    assert_true(reachable);
    for (size_t i = 0; i < COUNT(silent); i++) {
        snprintf(body, sizeof body, "echo 'sbatch: error: %s' >&2; exit 1", silent[i]);
        put_program("sbatch", body);
        assert_err(submit(&nothing, &job, &reachable, &err), &err, ERR_NODE, silent[i]);
        assert_false(reachable);
    }
    put_program("sbatch", "exit 1");
    assert_err(submit(&nothing, &job, &reachable, &err), &err, ERR_NODE, "without a message");
    assert_int_equal(unlink(in_scratch("bin/sbatch")), 0);
    assert_err(submit(&nothing, &job, &reachable, &err), &err, ERR_NODE, "sbatch", "is Slurm installed");
}

TEST(what_slurm_says_is_one_printable_line)
{
    int64_t job;
    bool reachable;
    struct err err;
    put_program("sbatch", "printf 'first\\nsecond\\033[2J\\n' >&2; exit 1");
    assert_err(submit(&nothing, &job, &reachable, &err), &err, ERR_NODE, "first", "second");
    assert_null(strchr(err.msg, '\033'));
}

TEST(reads_the_queue)
{
    struct task_list q;
    bool reachable;
    struct err err = {0};
    put_program("squeue", "echo '12_1|3|RUNNING|n1|None'\n"
                          "echo '12_2|3|PENDING||Resources'\n"
                          "echo '13_7|other|NODE_FAIL|n2|NodeDown | and more'\n"
                          "echo '99|3|RUNNING|n1|no array'\n"
                          "echo '12_0|3|RUNNING|n1|no index'\n"
                          "echo '_1|3|RUNNING|n1|no job'\n"
                          "echo 'slurm_load_jobs: some warning'\n"
                          "echo '12_3|3|RUNNING'\n"
                          "printf '14_1|-2|COMPLETED|n1|%0300d\\n' 0\n"
                          "printf '15_1|1|RUN\\033NING|n1|None\\n'");
    assert_ok(scheduler_slurm.poll(&loop, "kernsweep-run", &q, &reachable, &err), &err);
    assert_file("words",
                "--noheader\n--array\n--states=all\n--format=%i|%k|%T|%N|%r\n--name=kernsweep-run\n");
    assert_int_equal(q.count, 5);
    assert_int_equal(q.item[0].job, 12);
    assert_int_equal(q.item[0].index, 1);
    assert_int_equal(q.item[0].number, 3);
    assert_int_equal(q.item[0].state, TASK_RUNNING);
    assert_string_equal(q.item[0].word, "RUNNING");
    assert_string_equal(q.item[0].reason, ""); /* "None" */
    assert_string_equal(q.item[0].nodes, "n1");
    assert_string_equal(q.item[1].nodes, "");
    assert_string_equal(q.item[1].reason, "Resources");
    assert_int_equal(q.item[2].number, -1); /* not one of ours */
    assert_string_equal(q.item[2].reason, "NodeDown | and more");
    assert_int_equal(q.item[3].number, -1);
    assert_true(strlen(q.item[3].reason) < TASK_TEXT_MAX);
    assert_int_equal(q.item[4].state, TASK_OTHER);
    assert_null(strchr(q.item[4].word, '\033'));
    task_list_release(&q);
    put_program("squeue", ":");
    assert_ok(scheduler_slurm.poll(&loop, "kernsweep-run", &q, &reachable, &err), &err);
    assert_int_equal(q.count, 0);
    put_program("squeue", "echo 'slurm_load_jobs error: Unable to contact slurm controller' >&2; exit 1");
    assert_err(scheduler_slurm.poll(&loop, "kernsweep-run", &q, &reachable, &err), &err, ERR_NODE, "squeue");
    assert_false(reachable);
    assert_null(q.item);
}

TEST(cancels_many_in_several_calls)
{
    int64_t jobs[300];
    bool reachable;
    struct err err = {0};
    char body[FS_PATH_MAX + 64];
    for (size_t i = 0; i < COUNT(jobs); i++)
        jobs[i] = (int64_t)i + 1;
    snprintf(body, sizeof body, "echo \"$# $1\" >>%s", in_scratch("calls"));
    put_program("scancel", body);
    assert_ok(scheduler_slurm.cancel(&loop, jobs, COUNT(jobs), &reachable, &err), &err);
    assert_file("calls", "256 1\n44 257\n");
    assert_ok(scheduler_slurm.cancel(&loop, jobs, 0, &reachable, &err), &err);
    assert_file("calls", "256 1\n44 257\n");
    put_program("scancel", "echo 'scancel: error: Connection refused' >&2; exit 1");
    assert_err(scheduler_slurm.cancel(&loop, jobs, 1, &reachable, &err), &err, ERR_NODE, "scancel");
    assert_false(reachable);
}

TEST(tells_states_apart)
{
    static const struct {
        const char *word;
        enum task_state state;
        bool final;
    } cases[] = {{"PENDING", TASK_PENDING, false},
                 {"RUNNING", TASK_RUNNING, false},
                 {"COMPLETING", TASK_RUNNING, false},
                 {"CONFIGURING", TASK_OTHER, false},
                 {"SUSPENDED", TASK_OTHER, false},
                 {"REQUEUED", TASK_OTHER, false},
                 {"", TASK_OTHER, false},
                 {"completed", TASK_OTHER, false},
                 {"CANCELLED", TASK_CANCELLED, true},
                 {"COMPLETED", TASK_ENDED, true},
                 {"FAILED", TASK_ENDED, true},
                 {"TIMEOUT", TASK_ENDED, true},
                 {"NODE_FAIL", TASK_ENDED, true},
                 {"PREEMPTED", TASK_ENDED, true},
                 {"OUT_OF_MEMORY", TASK_ENDED, true}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct task_list q;
        bool reachable;
        struct err err = {0};
        char body[128];
        snprintf(body, sizeof body, "echo '12_1|3|%s|n1|None'", cases[i].word);
        put_program("squeue", body);
        assert_ok(scheduler_slurm.poll(&loop, "run", &q, &reachable, &err), &err);
        assert_int_equal(q.count, 1);
        assert_int_equal(q.item[0].state, cases[i].state);
        assert_int_equal(task_state_is_final(q.item[0].state), cases[i].final);
        task_list_release(&q);
    }
    assert_false(task_state_is_final(TASK_UNSEEN));
}

TEST(a_log_folder_must_not_hold_its_placeholders)
{
    struct array_request request = request_for(&nothing);
    int64_t job;
    bool reachable;
    struct err err = {0};
    request.log_dir = "/w/100%";
    assert_err(scheduler_slurm.submit(&loop, &request, &job, &reachable, &err), &err, ERR_INPUT, "/w/100%");
}

TEST(a_task_knows_itself_by_its_environment)
{
    struct task_identity task = {.host = ""};
    struct err err = {0};
    unsetenv("SLURM_JOB_ID");
    assert_ptr_equal(scheduler_here(), &scheduler_local);
    assert_err(scheduler_here()->identify(&task, &err), &err, ERR_INPUT, "not a scheduler's task");
    setenv("SLURM_JOB_ID", "18", 1);
    assert_ptr_equal(scheduler_here(), &scheduler_slurm);
    assert_err(scheduler_here()->identify(&task, &err), &err, ERR_INPUT, "SLURM_ARRAY_TASK_ID");
    setenv("SLURM_ARRAY_TASK_ID", "2", 1);
    setenv("SLURM_ARRAY_JOB_ID", "17", 1);
    setenv("SLURMD_NODENAME", "n1", 1);
    assert_ok(scheduler_here()->identify(&task, &err), &err);
    assert_int_equal(task.index, 2);
    assert_int_equal(task.job, 17);
    assert_int_equal(task.restart, 0);
    assert_string_equal(task.host, "n1");
    setenv("SLURM_RESTART_COUNT", "many", 1);
    assert_err(scheduler_here()->identify(&task, &err), &err, ERR_INPUT, "SLURM_RESTART_COUNT");
    unsetenv("SLURM_JOB_ID");
}

TEST(a_plan_without_a_scheduler_has_the_node_itself)
{
    const struct scheduler none = {.on = false};
    assert_ptr_equal(scheduler_for(&nothing), &scheduler_slurm);
    assert_ptr_equal(scheduler_for(&none), &scheduler_local);
    assert_true(scheduler_local.submit == NULL);
}

GROUP(setup, teardown);
