/* What a program that is started finds. */
#include "tests/unit/support.h"

#include "common/base/clock.h"
#include "executor/process/child.h"
#include "executor/process/hierarchy.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Programs on a slow file system: exec of "slow" takes a second longer, that of "stuck" does not return. */
int execvp(const char *file, char *const argv[])
{
    if (strcmp(argv[0], "slow") == 0)
        usleep(1000000);
    while (strcmp(argv[0], "stuck") == 0)
        pause();
    return execvpe(file[0] == 's' ? "/bin/true" : file, argv, environ);
}

static struct loop loop;

/* Before each test, in which this process inherits what others leave. */
static int begin(void **state)
{
    struct err err = {.kind = ERR_NONE};
    (void)state;
    assert_ok(process_become_subreaper(&err), &err);
    assert_ok(loop_open(&loop, &err), &err);
    return 0;
}

static int end(void **state)
{
    (void)state;
    loop_close(&loop);
    return 0;
}

static char sh[] = "/bin/sh", dash_c[] = "-c", path[] = "PATH=/usr/bin:/bin";
static char *const with_path[] = {path, NULL};
static const struct child_hooks no_hooks = {.arg = NULL};

static struct process_spec spec_of(char *const *argv, bool kept)
{
    return (struct process_spec){.argv = argv, .env = with_path, .cwd = "/", .input = -1, .kept = kept};
}

static struct child_result run(const struct process_spec *spec, const struct child_limits *limits,
                               const struct child_hooks *hooks)
{
    struct child_result result;
    struct err err = {.kind = ERR_NONE};
    assert_ok(child_run(&loop, spec, limits, hooks, &result, &err), &err);
    return result;
}

static void start(struct child *c, const struct process_spec *spec, const struct child_limits *limits,
                  const struct child_hooks *hooks)
{
    struct err err = {.kind = ERR_NONE};
    assert_ok(child_start(c, &loop, spec, limits, hooks, &err), &err);
}

static void await(void)
{
    struct err err = {.kind = ERR_NONE};
    assert_ok(loop_wait(&loop, &err), &err);
}

static int code_of(bool kept, rlim_t files, char *script)
{
    char *argv[] = {sh, dash_c, script, NULL};
    struct process_spec spec = spec_of(argv, kept);
    const struct child_limits limits = {.timeout_s = 20, .kill_grace_s = 1};
    spec.files = files;
    struct child_result result = run(&spec, &limits, &no_hooks);
    assert_true(result.process.ended && WIFEXITED(result.process.wait_status));
    return WEXITSTATUS(result.process.wait_status);
}

TEST_BETWEEN(a_workload_has_the_limit_of_files_that_was_given, begin, end)
{
    char is_99[] = "test \"$(ulimit -Sn)\" = 99";
    for (int kept = 0; kept < 2; kept++) {
        assert_int_equal(code_of(kept, 99, is_99), 0);
        assert_int_equal(code_of(kept, 0, is_99), 1);
    }
}

static void count(void *arg, double t_s)
{
    size_t *beats = arg;
    (void)t_s;
    ++*beats;
}

/* The program ends at once; what it left is given a second to end. */
TEST_BETWEEN(its_heart_beats_until_all_of_it_is_gone, begin, end)
{
    char script[] = "(trap '' TERM; while :; do sleep 0.05; done) & sleep 0.05";
    char *argv[] = {sh, dash_c, script, NULL};
    size_t beats;
    const struct child_limits limits = {.timeout_s = 20, .kill_grace_s = 1, .heartbeat_s = 0.2};
    const struct child_hooks hooks = {.heartbeat = count, .arg = &beats};
    for (int kept = 0; kept < 2; kept++) {
        const struct process_spec spec = spec_of(argv, kept);
        beats = 0;
        struct child_result result = run(&spec, &limits, &hooks);
        assert_true(result.group_gone && result.leftovers > 0);
        assert_in_range(beats, 2, 20);
    }
}

static enum stop_cause count_sample(void *arg, double t_s, uint64_t missed)
{
    size_t *samples = arg;
    (void)t_s;
    (void)missed;
    ++*samples;
    return STOP_NONE;
}

static void note_start(void *arg, const struct process *p)
{
    struct process *started = arg;
    *started = *p;
}

static const struct child_limits fast_samples = {
    .timeout_s = 20, .kill_grace_s = 1, .sample_interval_ms = 10};

static void start_one(struct child *c, bool kept, char *program, char *argument,
                      const struct child_hooks *hooks)
{
    char *argv[] = {program, argument, NULL};
    const struct process_spec spec = spec_of(argv, kept);
    start(c, &spec, &fast_samples, hooks);
}

/* What began the turn, another end, came before the program was born; its own end came within the turn. */
TEST_BETWEEN(the_end_of_another_is_not_taken_for_its_own, begin, end)
{
    char true_[] = "/bin/true";
    struct child c;
    loop.now_ns = clock_mono_ns();
    loop.signals.ready = true;
    start_one(&c, false, true_, NULL, &no_hooks);
    while (!child_turn(&c))
        usleep(1000);
    child_close(&c);
    assert_true(c.result.process.ended && c.result.wall_s >= 0);
}

/* Nobody looks for half a second after it has ended. */
TEST_BETWEEN(a_kept_program_is_timed_by_its_keeper, begin, end)
{
    char true_[] = "/bin/true";
    struct child c;
    start_one(&c, true, true_, NULL, &no_hooks);
    usleep(500000);
    do
        await();
    while (!child_turn(&c));
    child_close(&c);
    assert_true(c.result.wall_s > 0 && c.result.wall_s < 0.25);
}

TEST_BETWEEN(it_begins_in_its_folder, begin, end)
{
    char script[] = "test \"$(pwd)\" = /usr";
    char *argv[] = {sh, dash_c, script, NULL};
    struct process_spec spec = spec_of(argv, true);
    const struct child_limits limits = {.timeout_s = 20};
    for (int from = 0; from < 2; from++) {
        spec.from = from ? "/usr" : NULL;
        assert_int_equal(WEXITSTATUS(run(&spec, &limits, &no_hooks).process.wait_status), !from);
    }
}

/* Half of the samples that the time has room for, since other processes may use the CPU. */
TEST_BETWEEN(a_slow_start_leaves_the_others_their_samples, begin, end)
{
    char sleeps[] = "/bin/sleep", seconds[] = "5", slow[] = "slow";
    size_t samples = 0;
    struct process born = PROCESS_NONE;
    const struct child_hooks first_hooks = {.sample = count_sample, .arg = &samples},
                             slow_hooks = {.started = note_start, .arg = &born};
    struct child first, second;
    start_one(&first, true, sleeps, seconds, &first_hooks);
    while (samples == 0) {
        await();
        assert_false(child_turn(&first));
    }
    samples = 0;
    start_one(&second, true, slow, NULL, &slow_hooks);
    bool over = false;
    while (!over) {
        await();
        assert_false(child_turn(&first));
        over = child_turn(&second);
    }
    child_close(&second);
    child_close(&first);
    assert_in_range(samples, 50, 1000);
    assert_true(second.result.process.ended && second.result.process.exec_errno == 0);
    assert_true(born.pid == second.result.process.pid && born.pid > 0);
    assert_true(second.result.wall_s >= 0.9);
}

/* A run that is cancelled while a program starts. */
TEST_BETWEEN(a_start_that_does_not_end_can_be_stopped, begin, end)
{
    char stuck[] = "stuck";
    for (int kept = 0; kept < 2; kept++) {
        struct child c;
        start_one(&c, kept, stuck, NULL, &no_hooks);
        loop.stop = true;
        bool over = child_turn(&c);
        loop.stop = false;
        while (!over) {
            await();
            over = child_turn(&c);
        }
        child_close(&c);
        assert_true(c.result.group_gone);
        assert_int_equal(c.result.stop, STOP_CANCEL);
    }
}

TEST_BETWEEN(a_program_that_is_not_there_says_so, begin, end)
{
    char nothing[] = "/nothing";
    struct process born = PROCESS_NONE;
    const struct child_hooks hooks = {.started = note_start, .arg = &born};
    for (int kept = 0; kept < 2; kept++) {
        char *argv[] = {nothing, NULL};
        const struct process_spec spec = spec_of(argv, kept);
        struct child_result result = run(&spec, &fast_samples, &hooks);
        assert_int_equal(result.process.exec_errno, ENOENT);
        assert_int_equal(born.exec_errno, ENOENT);
        assert_true(result.group_gone && isnan(result.wall_s));
    }
}

/* As execvp() does: the first file of that name that can be executed, in the order of PATH. */
TEST_BETWEEN(a_program_is_searched_in_its_own_path, begin, end)
{
    char list[6 * FS_PATH_MAX], name[] = "tool", *argv[] = {name, NULL};
    put_bytes("path/a/tool/in", "", 0); /* a folder */
    put_bytes("path/b/tool", "exit 7\n", 7);
    assert_int_equal(chmod(put_bytes("path/c/tool", "exit 8\n", 7), 0700), 0);
    snprintf(list, sizeof list, "PATH=%s:%s:%s:%s:/usr/bin:/bin", in_scratch("path/none"),
             in_scratch("path/a"), in_scratch("path/b"), in_scratch("path/c"));
    char *const env[] = {list, NULL};
    for (int kept = 0; kept < 2; kept++) {
        struct process_spec spec = spec_of(argv, kept);
        spec.env = env;
        struct child_result result = run(&spec, &fast_samples, &no_hooks);
        assert_int_equal(WEXITSTATUS(result.process.wait_status), 8);
    }
}

/* A group of our own in the machine's control groups. False where there are none. */
static bool open_group(struct contain_group *g)
{
    struct layout l = {.proc = "/proc", .sysfs = "/sys"};
    struct hierarchy at;
    struct contain_place place = {.base = ""};
    char name[64];
    hierarchy_read(&at, &l);
    if (!hierarchy_is_ours(at.own))
        return false;
    memcpy(place.base, at.own, sizeof place.base);
    snprintf(name, sizeof name, "kernsweep-unit-%ld", (long)getpid());
    return contain_group_open(g, &place, name, NULL, NULL) == 0 && g->on;
}

/* A control group that only says whether it has anybody. */
static void set_populated(const struct contain_group *g, bool populated)
{
    char events[FS_PATH_MAX];
    const char *text = populated ? "populated 1\n" : "populated 0\n";
    assert_int_equal(fs_join(events, NULL, g->folder[0], "cgroup.events"), 0);
    assert_int_equal(fs_write_file(events, text, strlen(text), 0600, NULL), 0);
}

/* Nothing tells when a group becomes empty once its keeper is gone: it is looked at now and then. */
TEST_BETWEEN(waiting_for_a_group_without_its_keeper_takes_no_cpu, begin, end)
{
    enum { TURNS_MAX = 100 };
    char script[] = "kill -9 $PPID; sleep 20";
    char *argv[] = {sh, dash_c, script, NULL};
    const struct child_limits limits = {.timeout_s = 20, .kill_grace_s = 0.5};
    struct contain_group group = CONTAIN_GROUP_OFF;
    struct process_spec spec = spec_of(argv, true);
    struct child child;
    struct err err = {.kind = ERR_NONE};
    int turns = 0;
    spec.group = &group;
    snprintf(group.folder[0], sizeof group.folder[0], "/tmp/kernsweep-group-XXXXXX");
    assert_non_null(mkdtemp(group.folder[0]));
    group.on = true;
    set_populated(&group, true);
    start(&child, &spec, &limits, &no_hooks);
    for (bool over = false; !over && turns < TURNS_MAX; turns++) {
        await();
        over = child_turn(&child);
        if (child.phase == CHILD_KILL)
            set_populated(&group, false);
    }
    assert_int_equal(child.phase, CHILD_GONE);
    assert_in_range(turns, 1, TURNS_MAX - 1);
    child_close(&child);
    assert_ok(fs_remove_tree(group.folder[0], &err), &err);
}

/* The keeper is what proves the end of a test's processes: without it, only their group knows them. */
TEST_BETWEEN(what_lost_its_keeper_is_ended_with_its_group, begin, end)
{
    char script[] = "(setsid sh -c 'trap \"\" TERM; for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.1; done' &) ; "
                    "sleep 0.2; kill -9 "
                    "$PPID; sleep 20";
    char *argv[] = {sh, dash_c, script, NULL};
    const struct child_limits limits = {.timeout_s = 20, .kill_grace_s = 0.1};
    struct contain_group group = CONTAIN_GROUP_OFF;
    struct process_spec spec = spec_of(argv, true);
    spec.group = &group;
    assert_false(run(&spec, &limits, &no_hooks).group_gone);
    if (open_group(&group)) {
        assert_true(run(&spec, &limits, &no_hooks).group_gone);
        assert_true(contain_group_is_empty(&group));
        assert_true(contain_group_close(&group));
    }
}
