#include "executor/process/process.h"

#include "common/base/clock.h"
#include "executor/process/proctree.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXEC_WAIT_MS = 30000 };

/* What the child reports before exec; its end of the pipe closes on exec. */
struct birth {
    int64_t start_ns;
    int exec_errno;
};

int process_become_subreaper(struct err *err)
{
    if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0)
        return err_set_errno(err, ERR_INTERNAL, errno, "cannot become a subreaper");
    return 0;
}

static void reset_signals(void)
{
    sigset_t none;
    for (int s = 1; s < NSIG; s++)
        signal(s, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Out of memory, the kernel should kill the test, not its supervisor. */
static void prefer_as_oom_victim(void)
{
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd >= 0) {
        (void)!write(fd, "500", 3);
        close(fd);
    }
}

static int redirect(const struct process_spec *spec)
{
    int in = spec->input >= 0 ? spec->input : open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (in < 0 || dup2(in, 0) < 0 || dup2(spec->output, 1) < 0 || dup2(spec->output, 2) < 0)
        return -1;
    return 0;
}

static _Noreturn void child_main(const struct process_spec *spec, pid_t parent, int report)
{
    struct birth birth = {.start_ns = 0};
    const struct rlimit no_core = {.rlim_cur = 0, .rlim_max = RLIM_INFINITY};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(127);
    setsid();
    reset_signals();
    setrlimit(RLIMIT_CORE, &no_core);
    prefer_as_oom_victim();
    if (redirect(spec) == 0 && chdir(spec->cwd) == 0) {
        environ = (char **)spec->env;
        birth.start_ns = clock_mono_ns();
        (void)!write(report, &birth, sizeof birth);
        execvp(spec->argv[0], spec->argv);
    }
    birth.exec_errno = errno;
    (void)!write(report, &birth, sizeof birth);
    _exit(127);
}

/* Reads until exec, or the child's end, closes the pipe. */
static int read_birth(int fd, struct birth *birth)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    for (;;) {
        int n = poll(&p, 1, EXEC_WAIT_MS);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return -1;
        ssize_t got = read(fd, birth, sizeof *birth);
        if (got == 0)
            return 0;
        if (got < 0 && errno != EINTR)
            return -1;
    }
}

int process_start(struct process *p, const struct process_spec *spec, struct err *err)
{
    struct birth birth = {.exec_errno = ECHILD};
    int report[2];
    *p = (struct process){.pidfd = -1};
    if (pipe2(report, O_CLOEXEC) != 0)
        return err_set_errno(err, ERR_INTERNAL, errno, "cannot make a pipe");
    pid_t parent = getpid();
    p->pid = fork();
    if (p->pid == 0)
        child_main(spec, parent, report[1]);
    int saved = errno;
    close(report[1]);
    if (p->pid < 0) {
        close(report[0]);
        return err_set_errno(err, ERR_INTERNAL, saved, "cannot start %.200s", spec->argv[0]);
    }
    if (read_birth(report[0], &birth) != 0)
        birth.exec_errno = ETIMEDOUT;
    close(report[0]);
    p->start_ns = birth.start_ns;
    p->exec_errno = birth.exec_errno;
    p->pidfd = pidfd_open(p->pid, 0);
    if (p->pidfd < 0) {
        saved = errno;
        kill(p->pid, SIGKILL);
        return err_set_errno(err, ERR_INTERNAL, saved, "cannot watch %.200s", spec->argv[0]);
    }
    return 0;
}

void process_close(struct process *p)
{
    if (p->pidfd >= 0)
        close(p->pidfd);
    p->pidfd = -1;
}

/* A process that asked to be traced by its parent (PTRACE_TRACEME) has not ended but stopped, at a signal
 * that is now delivered. After exec that is a SIGTRAP of the kernel's own. */
static void stop_tracing(pid_t pid, int sig)
{
    ptrace(PTRACE_DETACH, pid, NULL, (void *)(intptr_t)(sig == SIGTRAP ? 0 : sig));
}

bool process_reap(struct process *p, int64_t now_ns)
{
    for (;;) {
        int status;
        struct rusage usage;
        pid_t pid = wait4(-1, &status, WNOHANG, &usage);
        if (pid > 0 && WIFSTOPPED(status)) {
            stop_tracing(pid, WSTOPSIG(status));
            continue;
        }
        if (pid == p->pid) {
            p->ended = true;
            p->end_ns = now_ns;
            p->wait_status = status;
            p->usage = usage;
        }
        if (pid == 0)
            return false;
        if (pid < 0 && errno != EINTR)
            return errno == ECHILD;
    }
}

unsigned process_signal_all(const struct process *p, int sig)
{
    struct proctree tree;
    if (!p->ended && p->pid > 0)
        kill(-p->pid, sig); /* atomic for the group: no fork can escape it */
    proctree_descendants(&tree, getpid());
    for (size_t i = 0; i < tree.count; i++)
        kill(tree.pid[i], sig);
    return (unsigned)tree.count;
}
