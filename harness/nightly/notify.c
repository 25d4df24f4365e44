#include "harness/nightly/notify.h"

#include "common/base/clock.h"
#include "common/base/fs.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

void notify_news_text(unsigned news, char *out)
{
    static const struct {
        unsigned bit;
        const char *name;
    } names[] = {{NEWS_REGRESSION, "regression"},
                 {NEWS_FAILURE, "failure"},
                 {NEWS_BLOCKED, "blocked"},
                 {NEWS_RECOVERED, "recovered"}};
    size_t n = 0;
    out[0] = '\0';
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (news & names[i].bit)
            n += (size_t)snprintf(out + n, 64 - n, "%s%s", n ? "," : "", names[i].name);
    if (n == 0)
        snprintf(out, 64, "quiet");
}

/* The summary in a file without a name, so that a command that reads nothing cannot block us. */
static int summary_fd(const json_t *summary, struct err *err)
{
    int fd = memfd_create("summary", MFD_CLOEXEC);
    if (fd < 0)
        return err_set_errno(err, ERR_INTERNAL, errno, "notify: no memory file");
    if (json_dumpfd(summary, fd, JSON_INDENT(2) | JSON_SORT_KEYS) != 0 || lseek(fd, 0, SEEK_SET) != 0) {
        close(fd);
        return err_set(err, ERR_INTERNAL, "notify: cannot write the summary");
    }
    return fd;
}

static const char **make_argv(const json_t *run)
{
    size_t n = json_array_size(run);
    const char **argv = calloc(n + 1, sizeof *argv);
    for (size_t i = 0; argv && i < n; i++)
        argv[i] = json_string_value(json_array_get(run, i));
    return argv;
}

static void become(const char **argv, int in, const char *news, const char *report)
{
    setpgid(0, 0);
    signal(SIGPIPE, SIG_DFL);
    dup2(in, STDIN_FILENO);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    setenv("KERNSWEEP_NEWS", news, 1);
    setenv("KERNSWEEP_REPORT", report, 1);
    execvp(argv[0], (char *const *)argv);
    _exit(127);
}

/* Waits at most the deadline, then ends the whole group. */
static int reap(pid_t pid, const char *name, struct err *err)
{
    int status = 0;
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    struct pollfd p = {.fd = fd, .events = POLLIN};
    int64_t deadline = clock_deadline_ns(NOTIFY_DEADLINE_S);
    int ready = 0;
    while (fd >= 0 && (ready = poll(&p, 1, clock_left_ms(deadline))) < 0 && errno == EINTR)
        continue;
    bool late = ready == 0;
    kill(-pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    if (fd >= 0)
        close(fd);
    if (late)
        return err_set(err, ERR_STORAGE, "notify: %s took more than %d s and was ended", name,
                       NOTIFY_DEADLINE_S);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        return err_set(err, ERR_STORAGE, "notify: cannot run %s", name);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return err_set(err, ERR_STORAGE, "notify: %s failed (%s %d)", name,
                       WIFEXITED(status) ? "exit code" : "signal",
                       WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
    return 0;
}

static int run_one(const json_t *run, const json_t *summary, const char *news, const char *report,
                   struct err *err)
{
    const char **argv = make_argv(run);
    if (!argv || !argv[0]) {
        free(argv);
        return err_set(err, ERR_INTERNAL, "notify: no memory, or no command");
    }
    int in = summary_fd(summary, err);
    int rc = -1;
    if (in >= 0) {
        fflush(NULL);
        pid_t pid = fork();
        if (pid == 0)
            become(argv, in, news, report);
        rc = pid < 0 ? err_set_errno(err, ERR_INTERNAL, errno, "notify: cannot fork")
                     : reap(pid, argv[0], err);
        close(in);
    }
    free(argv);
    return rc;
}

int notify_all(const json_t *entries, unsigned news, const json_t *summary, const char *report,
               struct err *err)
{
    char text[64];
    int failed = 0;
    size_t i;
    const json_t *entry;
    notify_news_text(news, text);
    json_array_foreach(entries, i, entry)
    {
        struct err one = {0};
        if (!(plan_nightly_wants(entry) & (news | NEWS_ALWAYS)))
            continue;
        if (run_one(json_object_get(entry, "run"), summary, text, report, &one) != 0 && failed++ == 0)
            *err = one;
    }
    return failed;
}
