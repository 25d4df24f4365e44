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

TEST(output_and_exit_code_arrive)
{
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

TEST(a_megabyte_goes_both_ways)
{
    enum { SIZE = 3 << 20 };
    AUTO(buf_release) struct buf in = {.max = SIZE};
    AUTO(buf_release) struct buf out = {.max = SIZE};
    struct err err = {0};
    struct run_result res;
    static const char *const argv[] = {"cat", NULL};
    for (int i = 0; i < SIZE; i++)
        buf_putc(&in, (char)(i * 31 % 251));
    assert_int_equal(run_capture(argv, &in, 30, &out, &res, &err), 0);
    assert_int_equal(out.len, SIZE);
    assert_memory_equal(in.data, out.data, SIZE);
}

TEST(input_that_nobody_reads_is_dropped)
{
    struct err err = {0};
    struct run_result res;
    char *big = calloc(1, 4 << 20);
    struct run run = {.input = big, .input_len = 4 << 20};
    assert_int_equal(shell("exec true", &run, &res, &err), 0);
    assert_true(res.exited && res.exit_code == 0);
    free(big);
}

TEST(environment_and_folder_are_the_callers)
{
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

TEST(a_program_that_is_missing_ends_with_127)
{
    static const char *const argv[] = {"/nonexistent/program", "x", NULL};
    struct err err = {0};
    struct run_result res;
    assert_int_equal(run_capture(argv, NULL, 10, NULL, &res, &err), 0);
    assert_int_equal(res.exit_code, SPAWN_NOT_FOUND);
    assert_non_null(strstr(res.stderr_text, "/nonexistent/program: No such file"));
}

TEST(no_words_are_no_program)
{
    AUTO(strvec_release) struct strvec argv = {0};
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

TEST(a_deadline_ends_the_whole_group)
{
    struct err err = {0};
    struct run_result res;
    AUTO(buf_release) struct buf out = {.max = 100};
    struct run run = {.deadline_s = 0.5, .on_stdout = run_collect, .on_stdout_arg = &out};
    assert_err(shell("sleep 100 & echo $!; wait", &run, &res, &err), &err, ERR_STORAGE,
               "sh: did not finish within 0.5 s");
    assert_int_equal(res.stop, RUN_DEADLINE);
    assert_true(is_gone((int)strtol(buf_str(&out), NULL, 10)));
}

TEST(term_comes_before_kill)
{
    struct err err = {0};
    struct run_result res;
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

TEST(silence_and_the_users_flag_end_it)
{
    static const volatile sig_atomic_t stop_now = 1;
    struct err err = {0};
    struct run_result res;
    struct run silent = {.stall_s = 0.3}, stopped = {.interrupted = &stop_now};
    assert_err(shell("sleep 100", &silent, &res, &err), &err, ERR_STORAGE, "sh: no data for 0.3 s");
    assert_int_equal(res.stop, RUN_STALL);
    assert_err(shell("sleep 100", &stopped, &res, &err), &err, ERR_INTERRUPTED, "interrupted");
    assert_int_equal(res.stop, RUN_INTERRUPT);
}

TEST(too_much_output_ends_it)
{
    static const char *const argv[] = {"yes", NULL};
    struct err err = {0};
    struct run_result res;
    AUTO(buf_release) struct buf out = {.max = 1000};
    assert_err(run_capture(argv, NULL, 30, &out, &res, &err), &err, ERR_STORAGE, "more than 1000 bytes");
    assert_int_equal(res.stop, RUN_FAULT);
}

TEST(a_signal_has_a_name)
{
    struct err err = {0};
    struct run_result res;
    struct run run = {0};
    assert_int_equal(shell("kill -KILL $$", &run, &res, &err), 0);
    assert_false(res.exited);
    assert_string_equal(res.signal, "KILL");
}

TEST(the_end_of_stderr_is_kept)
{
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

TEST(the_caller_is_asked_while_nothing_moves)
{
    int asked = 0;
    struct err err = {0};
    struct run_result res;
    struct run run = {.on_wait = count, .on_wait_arg = &asked};
    assert_int_equal(shell("sleep 1", &run, &res, &err), 0);
    assert_true(asked >= 2);
}
