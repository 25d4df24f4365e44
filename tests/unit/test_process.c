/* What a program that is started finds. */
#include "tests/unit/support.h"

#include "executor/process/child.h"

#include <sys/wait.h>

static int code_of(struct loop *loop, bool kept, rlim_t files, char *script)
{
    char sh[] = "/bin/sh", c[] = "-c";
    char *argv[] = {sh, c, script, NULL}, *env[] = {NULL};
    const struct process_spec spec = {
        .argv = argv, .env = env, .cwd = "/", .input = -1, .kept = kept, .files = files};
    const struct child_limits limits = {.timeout_s = 20, .kill_grace_s = 1};
    const struct child_hooks hooks = {.arg = NULL};
    struct child_result result;
    struct err err = {.kind = ERR_NONE};
    assert_ok(child_run(loop, &spec, &limits, &hooks, &result, &err), &err);
    assert_true(result.process.ended && WIFEXITED(result.process.wait_status));
    return WEXITSTATUS(result.process.wait_status);
}

static void a_workload_has_the_limit_of_files_that_was_given(void **state)
{
    char is_99[] = "test \"$(ulimit -Sn)\" = 99";
    struct loop loop;
    struct err err = {.kind = ERR_NONE};
    (void)state;
    assert_ok(process_become_subreaper(&err), &err);
    assert_ok(loop_open(&loop, &err), &err);
    for (int kept = 0; kept < 2; kept++) {
        assert_int_equal(code_of(&loop, kept, 99, is_99), 0);
        assert_int_equal(code_of(&loop, kept, 0, is_99), 1);
    }
    loop_close(&loop);
}

static void count(void *arg, double t_s)
{
    size_t *beats = arg;
    (void)t_s;
    ++*beats;
}

/* The program ends at once; what it left is given a second to end. */
static void its_heart_beats_until_all_of_it_is_gone(void **state)
{
    char sh[] = "/bin/sh", c[] = "-c", script[] = "(trap '' TERM; while :; do sleep 0.05; done) & sleep 0.05";
    char *argv[] = {sh, c, script, NULL}, path[] = "PATH=/usr/bin:/bin", *env[] = {path, NULL};
    size_t beats = 0;
    const struct child_limits limits = {.timeout_s = 20, .kill_grace_s = 1, .heartbeat_s = 0.2};
    const struct child_hooks hooks = {.heartbeat = count, .arg = &beats};
    struct child_result result;
    struct loop loop;
    struct err err = {.kind = ERR_NONE};
    (void)state;
    assert_ok(loop_open(&loop, &err), &err);
    for (int kept = 0; kept < 2; kept++) {
        const struct process_spec spec = {.argv = argv, .env = env, .cwd = "/", .input = -1, .kept = kept};
        beats = 0;
        assert_ok(child_run(&loop, &spec, &limits, &hooks, &result, &err), &err);
        assert_true(result.group_gone && result.leftovers > 0);
        assert_in_range(beats, 2, 20);
    }
    loop_close(&loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_workload_has_the_limit_of_files_that_was_given),
        cmocka_unit_test(its_heart_beats_until_all_of_it_is_gone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
