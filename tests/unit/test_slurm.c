/* slurm: what sbatch, squeue and scancel are told, and what is believed of their answers. Stands in for them
 * with scripts that note their words and print what a test says. */
#include "tests/unit/support.h"

#include "executor/place/slurm.h"

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

static const struct scheduler nothing = {.partition = "",
                                         .account = "",
                                         .qos = "",
                                         .gres = "",
                                         .constraint = "",
                                         .mem = "",
                                         .node_class = "slurm"};
static const char *const script[] = {"/w/job.sh", "/w/executor", "/w", "run", "3", NULL};

static struct slurm_order order_of(const struct scheduler *how)
{
    return (struct slurm_order){.how = how,
                                .name = "kernsweep-run",
                                .number = 3,
                                .tasks = 4,
                                .limit_s = 61,
                                .log = "/w/%a.%A.log",
                                .argv = script};
}

static int submit(const struct scheduler *how, int64_t *job, bool *reachable, struct err *err)
{
    const struct slurm_order order = order_of(how);
    *job = 0;
    *err = (struct err){0};
    return slurm_submit(&loop, &order, job, reachable, err);
}

#define FIXED                                                                                                \
    "--parsable\n--no-requeue\n--open-mode=append\n--export=ALL\n--nodes=1\n--ntasks=1\n"                    \
    "--signal=B:TERM@30\n--chdir=/\n--job-name=kernsweep-run\n--comment=3\n"
#define SCRIPT "--output=/w/%a.%A.log\n/w/job.sh\n/w/executor\n/w\nrun\n3\n"

static void asks_for_no_more_than_the_plan(void **state)
{
    (void)state;
    int64_t job;
    bool reachable;
    struct err err;
    put_program("sbatch", "echo 17");
    assert_ok(submit(&nothing, &job, &reachable, &err), &err);
    assert_int_equal(job, 17);
    assert_file("words", FIXED "--array=1-4\n--time=2\n" SCRIPT);
}

static void asks_for_all_that_the_plan_says(void **state)
{
    (void)state;
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

static void finds_the_job_among_warnings(void **state)
{
    (void)state;
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

static void a_refusal_is_no_silence(void **state)
{
    (void)state;
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
    assert_err(submit(&nothing, &job, &reachable, &err), &err, ERR_NODE, "said nothing");
    assert_int_equal(unlink(in_scratch("bin/sbatch")), 0);
    assert_err(submit(&nothing, &job, &reachable, &err), &err, ERR_NODE, "sbatch", "is Slurm installed");
}

static void what_slurm_says_is_one_printable_line(void **state)
{
    (void)state;
    int64_t job;
    bool reachable;
    struct err err;
    put_program("sbatch", "printf 'first\\nsecond\\033[2J\\n' >&2; exit 1");
    assert_err(submit(&nothing, &job, &reachable, &err), &err, ERR_NODE, "first", "second");
    assert_null(strchr(err.msg, '\033'));
}

static void reads_the_queue(void **state)
{
    (void)state;
    struct slurm_queue q;
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
    assert_ok(slurm_look(&loop, "kernsweep-run", &q, &reachable, &err), &err);
    assert_file("words",
                "--noheader\n--array\n--states=all\n--format=%i|%k|%T|%N|%r\n--name=kernsweep-run\n");
    assert_int_equal(q.count, 5);
    assert_int_equal(q.task[0].job, 12);
    assert_int_equal(q.task[0].index, 1);
    assert_int_equal(q.task[0].number, 3);
    assert_string_equal(q.task[0].state, "RUNNING");
    assert_string_equal(q.task[0].nodes, "n1");
    assert_string_equal(q.task[1].nodes, "");
    assert_string_equal(q.task[1].reason, "Resources");
    assert_int_equal(q.task[2].number, -1); /* not one of ours */
    assert_string_equal(q.task[2].reason, "NodeDown | and more");
    assert_int_equal(q.task[3].number, -1);
    assert_true(strlen(q.task[3].reason) < SLURM_TEXT_MAX);
    assert_null(strchr(q.task[4].state, '\033'));
    slurm_queue_release(&q);
    put_program("squeue", ":");
    assert_ok(slurm_look(&loop, "kernsweep-run", &q, &reachable, &err), &err);
    assert_int_equal(q.count, 0);
    put_program("squeue", "echo 'slurm_load_jobs error: Unable to contact slurm controller' >&2; exit 1");
    assert_err(slurm_look(&loop, "kernsweep-run", &q, &reachable, &err), &err, ERR_NODE, "squeue");
    assert_false(reachable);
    assert_null(q.task);
}

static void cancels_many_in_several_calls(void **state)
{
    (void)state;
    int64_t jobs[300];
    bool reachable;
    struct err err = {0};
    char body[FS_PATH_MAX + 64];
    for (size_t i = 0; i < COUNT(jobs); i++)
        jobs[i] = (int64_t)i + 1;
    snprintf(body, sizeof body, "echo \"$# $1\" >>%s", in_scratch("calls"));
    put_program("scancel", body);
    assert_ok(slurm_cancel(&loop, jobs, COUNT(jobs), &reachable, &err), &err);
    assert_file("calls", "256 1\n44 257\n");
    assert_ok(slurm_cancel(&loop, jobs, 0, &reachable, &err), &err);
    assert_file("calls", "256 1\n44 257\n");
    put_program("scancel", "echo 'scancel: error: Connection refused' >&2; exit 1");
    assert_err(slurm_cancel(&loop, jobs, 1, &reachable, &err), &err, ERR_NODE, "scancel");
    assert_false(reachable);
}

static void knows_which_states_are_ends(void **state)
{
    (void)state;
    static const char *const ends[] = {"COMPLETED", "FAILED",    "CANCELLED",    "TIMEOUT",
                                       "NODE_FAIL", "PREEMPTED", "OUT_OF_MEMORY"};
    static const char *const goes_on[] = {"PENDING",   "RUNNING",  "COMPLETING", "CONFIGURING",
                                          "SUSPENDED", "REQUEUED", "",           "completed"};
    for (size_t i = 0; i < COUNT(ends); i++)
        assert_true(slurm_state_is_final(ends[i]));
    for (size_t i = 0; i < COUNT(goes_on); i++)
        assert_false(slurm_state_is_final(goes_on[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(asks_for_no_more_than_the_plan),
        cmocka_unit_test(asks_for_all_that_the_plan_says),
        cmocka_unit_test(finds_the_job_among_warnings),
        cmocka_unit_test(a_refusal_is_no_silence),
        cmocka_unit_test(what_slurm_says_is_one_printable_line),
        cmocka_unit_test(reads_the_queue),
        cmocka_unit_test(cancels_many_in_several_calls),
        cmocka_unit_test(knows_which_states_are_ends),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
