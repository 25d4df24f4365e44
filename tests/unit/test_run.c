/* run: input and output arrive completely, and no program outlives its limits. */
#include "tests/unit/support.h"

#include "common/base/alloc.h"
#include "common/base/clock.h"
#include "common/base/run.h"
#include "common/base/strvec.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static int shell(const char *script, struct run *run, struct run_result *res, struct err *err)
{
    const char *const argv[] = {"sh", "-c", script, NULL};
    run->argv = argv;
    return run_program(run, res, err);
}

static void output_and_exit_code_arrive(void **state)
{
    (void)state;
    AUTO(buf_release) struct buf out = {.max = 100};
    struct err err = {0};
    struct run_result res;
    struct run run = {.on_stdout = run_collect, .on_stdout_arg = &out, .input = "abc", .input_len = 3};
    assert_int_equal(shell("cat; echo oops >&2; exit 3", &run, &res, &err), 0);
    assert_true(res.exited);
    assert_int_equal(res.exit_code, 3);
    assert_string_equal(buf_str(&out), "abc");
    assert_string_equal(res.stderr_text, "oops\n");
    assert_int_equal(res.sent, 3);
    assert_int_equal(res.received, 8);
    assert_err(run_expect_success(&res, "sh", &err), &err, ERR_STORAGE, "sh failed with exit code 3: oops");
}

static void a_megabyte_goes_both_ways(void **state)
{
    (void)state;
    enum { SIZE = 3 << 20 };
    struct buf in, out;
    struct err err = {0};
    struct run_result res;
    static const char *const argv[] = {"cat", NULL};
    buf_init(&in, SIZE);
    buf_init(&out, SIZE);
    for (int i = 0; i < SIZE; i++)
        buf_putc(&in, (char)(i * 31 % 251));
    assert_int_equal(run_capture(argv, &in, 30, &out, &res, &err), 0);
    assert_int_equal(out.len, SIZE);
    assert_memory_equal(in.data, out.data, SIZE);
    buf_release(&in);
    buf_release(&out);
}

static void input_that_nobody_reads_is_dropped(void **state)
{
    (void)state;
    struct err err = {0};
    struct run_result res;
    char *big = calloc(1, 4 << 20);
    struct run run = {.input = big, .input_len = 4 << 20};
    assert_int_equal(shell("exec true", &run, &res, &err), 0);
    assert_true(res.exited && res.exit_code == 0);
    free(big);
}

static void environment_and_folder_are_the_callers(void **state)
{
    (void)state;
    AUTO(strvec_release) struct strvec env = {0};
    AUTO(buf_release) struct buf out = {.max = 200};
    struct err err = {0};
    struct run_result res;
    strvec_pushl(&env, "PATH=/usr/bin:/bin", "WORD=two words", NULL);
    struct run run = {
        .env = strvec_argv(&env), .cwd = "/usr", .on_stdout = run_collect, .on_stdout_arg = &out};
    assert_int_equal(shell("echo \"$WORD,$HOME,$(pwd)\"", &run, &res, &err), 0);
    assert_string_equal(buf_str(&out), "two words,,/usr\n");
}

static void a_program_that_is_missing_ends_with_127(void **state)
{
    (void)state;
    static const char *const argv[] = {"/nonexistent/program", "x", NULL};
    struct err err = {0};
    struct run_result res;
    assert_int_equal(run_capture(argv, NULL, 10, NULL, &res, &err), 0);
    assert_int_equal(res.exit_code, SPAWN_NOT_FOUND);
    assert_non_null(strstr(res.stderr_text, "/nonexistent/program: No such file"));
}

static void no_words_are_no_program(void **state)
{
    (void)state;
    struct strvec argv = {0};
    struct err err = {0};
    struct run_result res;
    strvec_take(&argv, NULL);
    assert_err(run_capture(strvec_argv(&argv), NULL, 10, NULL, &res, &err), &err, ERR_INTERNAL, "no program");
    assert_int_equal(res.stop, RUN_FAULT);
}

/* True for a zombie too, as its new parent may be slow to reap it. */
static bool is_gone(int pid)
{
    char path[64], state = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    assert_true(pid > 0);
    for (int i = 0; i < 500 && state != 'Z'; i++) {
        FILE *f = fopen(path, "r");
        if (!f)
            return true;
        if (fscanf(f, "%*d %*s %c", &state) != 1)
            state = 0;
        fclose(f);
        usleep(10000);
    }
    return state == 'Z';
}

static void a_deadline_ends_the_whole_group(void **state)
{
    (void)state;
    struct err err = {0};
    struct run_result res;
    AUTO(buf_release) struct buf out = {.max = 100};
    struct run run = {.deadline_s = 0.5, .on_stdout = run_collect, .on_stdout_arg = &out};
    assert_err(shell("sleep 100 & echo $!; wait", &run, &res, &err), &err, ERR_STORAGE,
               "sh: did not finish within 0.5 s");
    assert_int_equal(res.stop, RUN_DEADLINE);
    assert_true(is_gone((int)strtol(buf_str(&out), NULL, 10)));
}

static void term_comes_before_kill(void **state)
{
    (void)state;
    struct err err = {0};
    struct run_result res;
    AUTO(buf_release) struct buf out = {.max = 100};
    char path[] = "/tmp/kernsweep-test-run.XXXXXX", script[200], text[8] = "";
    int fd = mkstemp(path);
    snprintf(script, sizeof script, "trap 'echo term >%s; exit' TERM; sleep 100 & wait", path);
    struct run run = {.deadline_s = 0.5, .grace_s = 10};
    int64_t before = clock_mono_ns();
    assert_int_equal(shell(script, &run, &res, &err), -1);
    assert_true(clock_mono_ns() - before < 8000000000);
    assert_int_equal(read(fd, text, sizeof text - 1), 5);
    assert_string_equal(text, "term\n");
    close(fd);
    unlink(path);
}

static void silence_and_the_users_flag_end_it(void **state)
{
    (void)state;
    static const volatile sig_atomic_t stop_now = 1;
    struct err err = {0};
    struct run_result res;
    struct run silent = {.stall_s = 0.3}, stopped = {.interrupted = &stop_now};
    assert_err(shell("sleep 100", &silent, &res, &err), &err, ERR_STORAGE, "sh: no data for 0.3 s");
    assert_int_equal(res.stop, RUN_STALL);
    assert_err(shell("sleep 100", &stopped, &res, &err), &err, ERR_INTERRUPTED, "interrupted");
    assert_int_equal(res.stop, RUN_INTERRUPT);
}

static void too_much_output_ends_it(void **state)
{
    (void)state;
    static const char *const argv[] = {"yes", NULL};
    struct err err = {0};
    struct run_result res;
    AUTO(buf_release) struct buf out = {.max = 1000};
    assert_err(run_capture(argv, NULL, 30, &out, &res, &err), &err, ERR_STORAGE, "more than 1000 bytes");
    assert_int_equal(res.stop, RUN_FAULT);
}

static void a_signal_has_a_name(void **state)
{
    (void)state;
    struct err err = {0};
    struct run_result res;
    struct run run = {0};
    assert_int_equal(shell("kill -KILL $$", &run, &res, &err), 0);
    assert_false(res.exited);
    assert_string_equal(res.signal, "KILL");
}

static void the_end_of_stderr_is_kept(void **state)
{
    (void)state;
    struct err err = {0};
    struct run_result res;
    struct run run = {0};
    assert_int_equal(shell("seq 100000 >&2", &run, &res, &err), 0);
    assert_int_equal(res.stderr_len, RUN_STDERR_MAX);
    assert_string_equal(res.stderr_text + RUN_STDERR_MAX - 7, "100000\n");
}

static void count(void *arg)
{
    ++*(int *)arg;
}

static void the_caller_is_asked_while_nothing_moves(void **state)
{
    (void)state;
    int asked = 0;
    struct err err = {0};
    struct run_result res;
    struct run run = {.on_wait = count, .on_wait_arg = &asked};
    assert_int_equal(shell("sleep 1", &run, &res, &err), 0);
    assert_true(asked >= 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(output_and_exit_code_arrive),
        cmocka_unit_test(a_megabyte_goes_both_ways),
        cmocka_unit_test(input_that_nobody_reads_is_dropped),
        cmocka_unit_test(environment_and_folder_are_the_callers),
        cmocka_unit_test(a_program_that_is_missing_ends_with_127),
        cmocka_unit_test(no_words_are_no_program),
        cmocka_unit_test(a_deadline_ends_the_whole_group),
        cmocka_unit_test(term_comes_before_kill),
        cmocka_unit_test(silence_and_the_users_flag_end_it),
        cmocka_unit_test(too_much_output_ends_it),
        cmocka_unit_test(a_signal_has_a_name),
        cmocka_unit_test(the_caller_is_asked_while_nothing_moves),
        cmocka_unit_test(the_end_of_stderr_is_kept),
    };
    return cmocka_run_group_tests_name("run", tests, NULL, NULL);
}
