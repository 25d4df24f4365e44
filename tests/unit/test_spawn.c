/* spawn: a program ends with the process that started it, whenever that dies. */
#include "tests/unit/support.h"

#include "common/base/spawn.h"

#include <poll.h>
#include <pthread.h>
#include <unistd.h>

/* As on a busy machine: the parent is gone before its child does anything. */
static void be_slow(void)
{
    poll(NULL, 0, 300);
}

/* Starts a program that has `out` open until it ends, and dies. */
static void start_and_die(int out, bool slow)
{
    const char *const argv[] = {"sleep", "30", NULL};
    const struct spawn s = {.argv = argv, .fds = {out, out, out}};
    if (slow)
        pthread_atfork(NULL, NULL, be_slow);
    if (spawn_start(&s, NULL) > 0 && !slow)
        poll(NULL, 0, 300);
    _exit(0);
}

TEST(a_program_ends_with_who_started_it)
{
    for (int slow = 0; slow < 2; slow++) {
        int out[2];
        assert_int_equal(pipe(out), 0);
        if (fork() == 0)
            start_and_die(out[1], slow);
        close(out[1]);
        struct pollfd ended = {.fd = out[0], .events = POLLIN};
        if (poll(&ended, 1, 10000) != 1)
            fail_msg("the program goes on, slow %d", slow);
        close(out[0]);
    }
}

GROUP(NULL, NULL);
