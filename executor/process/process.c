#include "executor/process/process.h"

#include "common/base/alloc.h"
#include "common/base/clock.h"
#include "executor/process/isolate.h"
#include "executor/process/proctree.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KEEPER_FD = 3 };

/* What the child tells in memory that it shares until exec: a message would wake others while it is timed.
 * Its end of a pipe closes on exec. */
struct process_birth {
    pid_t pid;
    int64_t start_ns;
    int exec_errno;
    struct near_failure unbound;
};

int process_become_subreaper(struct err *err)
{
    if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0)
        return err_set_errno(err, ERR_INTERNAL, errno, "cannot become a subreaper");
    return 0;
}

void process_disown_orphans(bool on)
{
    (void)prctl(PR_SET_CHILD_SUBREAPER, !on, 0, 0, 0);
}

static void reset_signals(void)
{
    sigset_t none;
    for (int s = 1; s < NSIG; s++)
        signal(s, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* When memory runs out, the kernel should kill the test, not its supervisor. */
static void prefer_as_oom_victim(void)
{
    AUTO_CLOSE int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd >= 0)
        (void)!write(fd, "500", 3);
}

static void limit_files(rlim_t files)
{
    struct rlimit limit;
    if (files == 0 || getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = files;
    setrlimit(RLIMIT_NOFILE, &limit);
}

static int redirect(const struct process_spec *spec)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    int in = spec->input >= 0 ? spec->input : null;
    if (null < 0 || dup2(in, 0) < 0 || dup2(spec->output, 1) < 0 ||
        dup2(spec->without_stderr ? null : spec->output, 2) < 0)
        return -1;
    return 0;
}

static pid_t fork_into_group(const struct process_spec *spec, bool *inside)
{
    *inside = false;
    return spec->group ? contain_group_fork(spec->group, inside) : fork();
}

static int enter_group(const struct process_spec *spec, bool inside)
{
    errno = spec->group ? contain_group_enter(spec->group, inside) : 0;
    return errno == 0 ? 0 : -1;
}

static int enter_folder(const struct process_spec *spec)
{
    errno = spec->isolated ? isolate_enter(spec->cwd) : 0;
    if (errno == 0 && spec->signals_kept)
        errno = isolate_signals();
    return errno == 0 ? chdir(spec->from ? spec->from : spec->cwd) : -1;
}

/* What a child is told. */
struct child_of {
    const struct process_spec *spec;
    pid_t parent;
    struct process_birth *birth;
};

/* Finds the file that execvp() would, so that its search is over before the clock starts. What cannot be
 * found or does not fit is left to execvp(). out: char[FS_PATH_MAX] */
static void find_program(const char *name, char *out)
{
    const char *at = strchr(name, '/') ? NULL : getenv("PATH");
    snprintf(out, FS_PATH_MAX, "%s", at ? "" : name);
    while (at && *at && access(out, X_OK) != 0) {
        size_t n = strcspn(at, ":");
        if (snprintf(out, FS_PATH_MAX, "%.*s%s%s", (int)n, at, n > 0 ? "/" : "", name) >= FS_PATH_MAX)
            *out = '\0';
        at += n + (at[n] == ':');
    }
}

/* A keeper's memory is borrowed here until exec: see contain_group_spawn(). */
static _Noreturn void child_main(void *arg, bool inside)
{
    const struct child_of *of = arg;
    const struct process_spec *spec = of->spec;
    struct process_birth *birth = of->birth;
    char file[FS_PATH_MAX];
    const struct rlimit no_core = {.rlim_cur = 0, .rlim_max = RLIM_INFINITY};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != of->parent)
        _exit(127);
    birth->pid = getpid();
    setsid();
    reset_signals();
    setrlimit(RLIMIT_CORE, &no_core);
    limit_files(spec->files);
    prefer_as_oom_victim();
    if (spec->near)
        near_apply(spec->near, &birth->unbound);
    if (redirect(spec) == 0 && enter_group(spec, inside) == 0 && enter_folder(spec) == 0) {
        environ = (char **)spec->env;
        find_program(spec->argv[0], file);
        birth->exec_errno = 0;
        birth->start_ns = clock_mono_ns();
        execve(file, spec->argv, environ);
        execvp(spec->argv[0], spec->argv);
    }
    birth->exec_errno = errno;
    _exit(127);
}

/* A process that asked to be traced by its parent (PTRACE_TRACEME) has not ended but stopped, at a signal
 * that is now delivered. After exec that is a SIGTRAP of the kernel's own. */
static void stop_tracing(pid_t pid, int sig)
{
    ptrace(PTRACE_DETACH, pid, NULL, (void *)(intptr_t)(sig == SIGTRAP ? 0 : sig));
}

/* Waits as wait4() does for any child, but lets stopped ones go on. */
static pid_t wait_one(int options, int *status, struct rusage *usage)
{
    pid_t pid;
    while ((pid = wait4(-1, status, options, usage)) > 0 && WIFSTOPPED(*status))
        stop_tracing(pid, WSTOPSIG(*status));
    return pid;
}

/* What a keeper tells of its program: its end, and before that each time it was told to go on. */
struct keeper_report {
    int64_t end_ns;
    int status;
    struct rusage usage;
    bool continued; /* the rest is not set */
    bool none_left; /* nothing else is left either */
};

/* Whether no child is left, once those that have ended are reaped. */
static bool none_left(void)
{
    int status;
    struct rusage usage;
    pid_t pid;
    while ((pid = wait_one(WNOHANG, &status, &usage)) > 0 || (pid < 0 && errno == EINTR))
        continue;
    return pid < 0 && errno == ECHILD;
}

/* Who is told to go on was stopped, and did not see what became of the program meanwhile. */
static bool was_stopped(void)
{
    sigset_t pending;
    return sigpending(&pending) == 0 && sigismember(&pending, SIGCONT);
}

/* Reaps until there is no child, which exit code 0 proves. */
static _Noreturn void keep(pid_t program, int report)
{
    for (;;) {
        struct keeper_report r = {.status = 0};
        pid_t pid = wait_one(WCONTINUED, &r.status, &r.usage);
        r.end_ns = clock_mono_ns();
        r.continued = pid > 0 && WIFCONTINUED(r.status);
        if (pid == program && !r.continued && was_stopped()) {
            const struct keeper_report too = {.continued = true};
            (void)!write(report, &too, sizeof too);
        }
        if (pid == program) {
            r.none_left = !r.continued && none_left();
            (void)!write(report, &r, sizeof r);
        }
        if (pid < 0 && errno != EINTR)
            _exit(errno == ECHILD ? 0 : 1);
    }
}

/* The supervisor's stop signals stay blocked here, because it decides what is ended, and how. Its descriptors
 * are closed, so that its locks end with it. */
static _Noreturn void keeper_main(const struct process_spec *spec, pid_t parent, struct process_birth *birth,
                                  int report)
{
    pid_t self = getpid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0)
        _exit(0);
    struct child_of of = {.spec = spec, .parent = self, .birth = birth};
    pid_t program = contain_group_spawn(spec->group, child_main, &of);
    if (program < 0) { /* no process could be made, so none is left */
        birth->exec_errno = errno;
        _exit(0);
    }
    if (dup2(report, KEEPER_FD) < 0)
        _exit(1);
    closefrom(KEEPER_FD + 1);
    keep(program, KEEPER_FD);
}

static int share_birth(struct process *p, struct err *err)
{
    void *at =
        mmap(NULL, sizeof *p->told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (at == MAP_FAILED)
        return err_set_errno(err, ERR_INTERNAL, errno, "cannot share memory");
    p->told = at;
    *p->told = (struct process_birth){.start_ns = clock_mono_ns(), .exec_errno = ECHILD};
    return 0;
}

static int open_pipe(int fds[2], struct err *err)
{
    return pipe2(fds, O_CLOEXEC) == 0 ? 0 : err_set_errno(err, ERR_INTERNAL, errno, "cannot make a pipe");
}

/* From here on process_is_born() tells what becomes of the program's start. */
static void await_birth(struct process *p, int from)
{
    p->birth = from;
    p->start_ns = p->told->start_ns;
    p->exec_errno = ECHILD;
    fcntl(p->birth, F_SETFL, O_NONBLOCK);
}

/* The pipe ends with exec, or with the child. */
bool process_is_born(struct process *p)
{
    char unused;
    ssize_t got = -1;
    while (p->told && (got = read(p->birth, &unused, sizeof unused)) < 0 && errno == EINTR)
        continue;
    if (!p->told)
        return true;
    if (p->told->pid > 0)
        p->pid = p->told->pid;
    if (got != 0)
        return false;
    p->start_ns = p->told->start_ns;
    if (p->exec_errno == ECHILD) /* the caller has not given up */
        p->exec_errno = p->told->exec_errno;
    p->unbound = p->told->unbound;
    return true;
}

void process_forget_birth(struct process *p)
{
    if (p->told)
        munmap(p->told, sizeof *p->told);
    alloc_auto_close(&p->birth);
    p->told = NULL;
    p->birth = -1;
}

/* Kills the child if it returns -1. */
static int watch_program(struct process *p, const char *program, struct err *err)
{
    p->pidfd = pidfd_open(p->pid, 0);
    if (p->pidfd >= 0)
        return 0;
    int saved = errno;
    kill(p->pid, SIGKILL);
    return err_set_errno(err, ERR_INTERNAL, saved, "cannot watch %.200s", program);
}

int process_start(struct process *p, const struct process_spec *spec, struct err *err)
{
    int birth[2] = {-1, -1}, report[2] = {-1, -1};
    bool inside = false;
    pid_t parent = getpid();
    *p = PROCESS_NONE;
    p->group = spec->group;
    if (share_birth(p, err) != 0 || open_pipe(birth, err) != 0 ||
        (spec->kept && open_pipe(report, err) != 0)) {
        process_forget_birth(p);
        alloc_auto_close(&birth[0]);
        alloc_auto_close(&birth[1]);
        return -1;
    }
    pid_t pid = spec->kept ? fork() : fork_into_group(spec, &inside);
    if (pid == 0 && spec->kept)
        keeper_main(spec, parent, p->told, report[1]);
    if (pid == 0)
        child_main(&(struct child_of){.spec = spec, .parent = parent, .birth = p->told}, inside);
    int saved = errno;
    close(birth[1]);
    alloc_auto_close(&report[1]);
    p->report = report[0];
    if (pid < 0) {
        close(birth[0]);
        process_forget_birth(p);
        return err_set_errno(err, ERR_INTERNAL, saved, "cannot start %.200s", spec->argv[0]);
    }
    await_birth(p, birth[0]);
    if (spec->kept) {
        p->keeper = pid;
        fcntl(p->report, F_SETFL, O_NONBLOCK);
        return 0;
    }
    p->pid = pid;
    return watch_program(p, spec->argv[0], err);
}

void process_close(struct process *p)
{
    alloc_auto_close(&p->pidfd);
    alloc_auto_close(&p->report);
    process_forget_birth(p);
    p->pidfd = p->report = -1;
}

int process_watch_fd(const struct process *p)
{
    return p->keeper > 0 ? p->report : p->pidfd;
}

static void note_end(struct process *p, int64_t now_ns, int status, const struct rusage *usage)
{
    p->ended = true;
    p->end_ns = now_ns;
    p->wait_status = status;
    p->usage = *usage;
}

static bool reap_all(struct process *p, int64_t now_ns)
{
    for (;;) {
        int status;
        struct rusage usage;
        pid_t pid = wait_one(WNOHANG, &status, &usage);
        if (pid == p->pid)
            note_end(p, now_ns, status, &usage);
        if (pid == 0)
            return false;
        if (pid < 0 && errno != EINTR)
            return errno == ECHILD;
    }
}

/* The keeper ends when it has no child left; killed, it takes the program with it. */
static void reap_keeper(struct process *p, int64_t now_ns)
{
    int status = 0;
    pid_t pid = waitpid(p->keeper, &status, 0);
    p->gone = pid == p->keeper && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    p->lost = !p->gone;
    if (!p->ended)
        note_end(p, now_ns, SIGKILL, &(struct rusage){.ru_maxrss = 0});
}

static bool read_reports(struct process *p, int64_t now_ns)
{
    struct keeper_report r = {.none_left = false};
    ssize_t n = 0;
    while (!p->gone && !p->lost && (n = read(p->report, &r, sizeof r)) != -1) {
        if (n == (ssize_t)sizeof r && r.continued)
            p->continued = true;
        else if (n == (ssize_t)sizeof r)
            note_end(p, r.end_ns, r.status, &r.usage);
        if (n == 0 || r.none_left)
            reap_keeper(p, now_ns);
    }
    return p->gone;
}

static bool has_group(const struct process *p)
{
    return p->group && p->group->on;
}

bool process_is_lost(const struct process *p)
{
    return p->lost && !has_group(p);
}

bool process_reap(struct process *p, int64_t now_ns)
{
    bool none_left = p->keeper > 0 ? read_reports(p, now_ns) : reap_all(p, now_ns);
    if (!has_group(p))
        return none_left;
    return none_left ? contain_group_await_empty(p->group) : p->lost && contain_group_is_empty(p->group);
}

unsigned process_signal_all(const struct process *p, int sig)
{
    struct proctree tree;
    if (!p->ended && p->pid > 0)
        kill(-p->pid, sig); /* atomic for the group: no fork can escape it */
    if (sig == SIGKILL && has_group(p))
        contain_group_kill(p->group);
    if (p->lost)
        return 0; /* what is left has become somebody else's child */
    if (p->keeper > 0)
        kill(p->keeper, SIGCONT); /* its program may have stopped it, and then nobody would reap */
    proctree_descendants(&tree, p->keeper > 0 ? p->keeper : getpid());
    for (size_t i = 0; i < tree.count; i++)
        kill(tree.pid[i], sig);
    return (unsigned)tree.count;
}
