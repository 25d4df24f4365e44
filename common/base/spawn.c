#include "common/base/spawn.h"

#include "common/base/alloc.h"
#include "common/base/program_env.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static _Noreturn void exit_unexecutable(const char *what)
{
    int why = errno;
    dprintf(2, "%s: %s\n", what, strerrordesc_np(why));
    _exit(why == ENOENT ? SPAWN_NOT_FOUND : SPAWN_NOT_EXECUTABLE);
}

/* Runs in the child, after fork(). The copies above 2 keep dup2() from overwriting a descriptor that is still
 * needed. The casts are safe: execvp() changes neither list. */
static _Noreturn void exec_program(const struct spawn *s, pid_t parent)
{
    sigset_t none;
    int high[3];
    sigemptyset(&none);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) /* which died before */
        _exit(SPAWN_NOT_EXECUTABLE);
    if (!s->keep_terminal)
        setsid();
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    for (int i = 0; i < 3; i++)
        high[i] = fcntl(s->fds[i], F_DUPFD_CLOEXEC, 3);
    for (int i = 0; i < 3; i++) {
        if (high[i] < 0 || dup2(high[i], i) < 0)
            _exit(SPAWN_NOT_EXECUTABLE);
    }
    close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
    if (s->cwd && chdir(s->cwd) < 0) {
        dprintf(2, "%s: %s\n", s->cwd, strerrordesc_np(errno));
        _exit(SPAWN_NOT_EXECUTABLE);
    }
    char *const *argv = (char *const *)(uintptr_t)s->argv;
    if (s->env)
        environ = (char **)(uintptr_t)s->env;
    execvp(argv[0], argv);
    exit_unexecutable(argv[0]);
}

pid_t spawn_start(const struct spawn *s, struct err *err)
{
    if (!s->argv || !s->argv[0])
        return err_set(err, ERR_INTERNAL, "no program to start");
    AUTO(strvec_release) struct strvec env = {0};
    struct spawn chosen = *s;
    if (!s->env && program_env(s->argv[0], &env))
        chosen.env = strvec_argv(&env);
    pid_t parent = getpid(), pid = fork();
    if (pid == 0)
        exec_program(&chosen, parent);
    return pid > 0 ? pid : err_set_errno(err, ERR_INTERNAL, errno, "%s: cannot start a process", s->argv[0]);
}

int spawn_on_socket(const char *const *argv, bool input, bool keep_terminal, pid_t *pid, int *fd,
                    struct err *err)
{
    int pair[2];
    AUTO_CLOSE int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return err_set_errno(err, ERR_INTERNAL, errno, "%s: cannot make a socket", argv[0]);
    AUTO_CLOSE int theirs = pair[1];
    const struct spawn s = {
        .argv = argv, .fds = {input ? theirs : null, theirs, null}, .keep_terminal = keep_terminal};
    fcntl(pair[0], F_SETFL, O_NONBLOCK);
    pid_t started = spawn_start(&s, err);
    if (started < 0) {
        close(pair[0]);
        return -1;
    }
    *pid = started;
    *fd = pair[0];
    return 0;
}

void spawn_kill(pid_t pid)
{
    if (pid <= 0)
        return;
    kill(-pid, SIGKILL);
    kill(pid, SIGKILL); /* in case it is not (yet) a group leader */
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        continue;
}

bool spawn_find(const char *name, char *out)
{
    const char *path = getenv("PATH");
    while (path && *path) {
        size_t len = strcspn(path, ":");
        int n = snprintf(out, SPAWN_PATH_MAX, "%.*s/%s", (int)len, path, name);
        if (len > 0 && n > 0 && n < SPAWN_PATH_MAX && access(out, X_OK) == 0)
            return true;
        path += len + (path[len] == ':');
    }
    *out = '\0';
    return false;
}

bool spawn_on_path(const char *name)
{
    char ignored[SPAWN_PATH_MAX];
    return spawn_find(name, ignored);
}
