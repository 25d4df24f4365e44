/* several: child processes that do not end when they are told to, and those that do. A test that hangs is
 * ended by SIGALRM. */
#include "tests/unit/support.h"

#include "harness/session/several.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

enum { NODES = 3, HANGS_S = 60 };

static volatile sig_atomic_t interrupted;

/* What the children tell besides what they print: memory that they share with the test. */
struct shared {
    pid_t pid[NODES];
};

static struct shared *share(void)
{
    struct shared *s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(s != MAP_FAILED);
    *s = (struct shared){.pid = {0}};
    return s;
}

static int run_nodes(several_fn *fn, struct shared *shared, struct several_end *ends)
{
    static const char *const labels[NODES] = {"a", "b", "c"};
    struct err err = {0};
    FILE *null = fopen("/dev/null", "we");
    const struct several s = {.labels = labels,
                              .count = NODES,
                              .fn = fn,
                              .arg = shared,
                              .progress = null,
                              .interrupted = &interrupted};
    interrupted = 0;
    alarm(HANGS_S);
    int rc = several_run(&s, ends, &err);
    alarm(0);
    fclose(null);
    return rc;
}

static _Noreturn void stay(void)
{
    for (;;)
        pause();
}

/* The last of them is how the user presses Ctrl-C, as soon as all have begun. */
static int ignores_the_end(void *arg, size_t index, struct relay *r)
{
    struct shared *shared = arg;
    (void)r;
    signal(SIGTERM, SIG_IGN);
    shared->pid[index] = getpid();
    while (index == NODES - 1 && (!shared->pid[0] || !shared->pid[1]))
        usleep(1000);
    if (index == NODES - 1)
        kill(getppid(), SIGUSR1);
    stay();
}

static void interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

TEST(an_interruption_ends_children_that_ignore_it)
{
    struct shared *shared = share();
    struct several_end ends[NODES];
    signal(SIGUSR1, interrupt);
    assert_int_equal(run_nodes(ignores_the_end, shared, ends), 0);
    for (size_t i = 0; i < NODES; i++) {
        assert_int_equal(ends[i].code, EXIT_INTERRUPTED);
        assert_int_equal(kill(shared->pid[i], 0), -1);
    }
    munmap(shared, sizeof *shared);
}

/* The first closes its pipes, so that it can say nothing more, and stays. */
static int stays(void *arg, size_t index, struct relay *r)
{
    struct shared *shared = arg;
    (void)r;
    shared->pid[index] = getpid();
    if (index > 0)
        return (int)index;
    closefrom(0);
    stay();
}

TEST(a_child_that_is_done_but_stays_is_killed)
{
    struct shared *shared = share();
    struct several_end ends[NODES];
    assert_int_equal(run_nodes(stays, shared, ends), 0);
    assert_int_equal(ends[0].code, EXIT_LOCAL);
    assert_non_null(strstr(ends[0].failure, "killed by signal 9"));
    assert_int_equal(kill(shared->pid[0], 0), -1);
    assert_int_equal(ends[1].code, 1);
    assert_int_equal(ends[2].code, 2);
    munmap(shared, sizeof *shared);
}
