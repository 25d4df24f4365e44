#include "harness/commands/measure/bisect_run.h"

#include "common/base/alloc.h"
#include "common/base/spawn.h"
#include "common/base/strvec.h"
#include "harness/commands/measure/bisect_output.h"
#include "results/store/location.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

enum { REPORT_MAX = 4 << 20, WAIT_MS = 500 };

/* Opens "bisect/<search><suffix>" beside the store. */
static int open_beside(const char *db, const char *search, const char *suffix, int flags, char *path,
                       struct err *err)
{
    char dir[FS_PATH_MAX], name[BISECT_NAME_MAX + 8];
    snprintf(name, sizeof name, "%s%s", search, suffix);
    if (location_own(db, "bisect", dir, err) != 0 || fs_mkdir_p(dir, 0700, err) != 0 ||
        fs_join(path, err, dir, name) != 0)
        return -1;
    int fd = open(path, flags | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    return fd >= 0 ? fd : err_set_errno(err, ERR_STORAGE, errno, "%s: cannot open", path);
}

static int wait_for_lock(int fd, const char *path, const struct session_options *o, struct err *err)
{
    for (bool waited = false; flock(fd, LOCK_EX | LOCK_NB) != 0; waited = true) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return err_set_errno(err, ERR_STORAGE, errno, "%s: cannot lock", path);
        if (!waited)
            fprintf(o->progress, "another process is working on this search: waiting for it\n");
        if (o->interrupted && *o->interrupted)
            return err_set(err, ERR_INTERRUPTED, "no longer waiting; the other process continues");
        poll(NULL, 0, WAIT_MS);
    }
    return 0;
}

static int write_report(const struct bisect_state *b, struct store *s, FILE *progress, struct err *err)
{
    char path[FS_PATH_MAX];
    AUTO(buf_release) struct buf text = {.max = REPORT_MAX};
    if (bisect_report_path(b, path, err) != 0)
        return -1;
    bisect_write_markdown(b, s, &text);
    if (!buf_ok(&text))
        return err_set(err, ERR_INTERNAL, "the report of the search is too long");
    if (fs_write_file(path, buf_str(&text), text.len, 0644, err) != 0)
        return -1;
    fprintf(progress, "report  %s\n", path);
    return 0;
}

/* Another process may have worked on the search since it was loaded. */
static int reload(struct bisect_state *b, struct store *s, struct err *err)
{
    struct bisect_state now = {.commits = NULL};
    bool found;
    if (bisect_state_load(&now, s, b->name, true, &found, err) != 0)
        return -1;
    if (found) {
        bisect_state_release(b);
        *b = now;
    }
    return 0;
}

int bisect_run_locked(struct bisect_state *b, struct store *s, const struct bisect_settings *o,
                      struct err *err)
{
    struct bisect_settings own = *o;
    char path[FS_PATH_MAX];
    AUTO_CLOSE int fd = open_beside(o->session.db, b->name, ".lock", O_RDWR, path, err);
    if (fd < 0 || wait_for_lock(fd, path, &o->session, err) != 0 || reload(b, s, err) != 0)
        return -1;
    own.session.artifacts = b->request.artifacts;
    own.session.overrides.node = *b->request.node ? b->request.node : NULL;
    bool ended = *b->ended_at;
    if (bisect_run(b, s, &own, err) != 0)
        return -1;
    return *b->ended_at && !ended ? write_report(b, s, o->session.progress, err) : 0;
}

/* setsid --fork makes the process independent of this one (spawn.h). */
static void fill_argv(struct strvec *argv, const struct cmd_env *env, const char *self, const char *name)
{
    strvec_pushl(argv, "setsid", "--fork", self, "bisect", "--continue", name, "--db", env->db, NULL);
    if (env->ssh_config)
        strvec_pushl(argv, "--ssh-config", env->ssh_config, NULL);
    if (env->transport)
        strvec_pushl(argv, "--transport", env->transport, NULL);
}

static int start(const struct strvec *argv, int log, struct err *err)
{
    int status;
    AUTO_CLOSE int none = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (none < 0)
        return err_set_errno(err, ERR_STORAGE, errno, "/dev/null: cannot open");
    const struct spawn s = {.argv = strvec_argv(argv), .fds = {none, log, log}};
    pid_t pid = spawn_start(&s, err);
    if (pid < 0)
        return -1;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0
               ? 0
               : err_set(err, ERR_STORAGE,
                         "setsid (util-linux) could not start the search: run it without --detach");
}

int bisect_detach(const struct cmd_env *env, const char *name, char *log, struct err *err)
{
    char self[FS_PATH_MAX];
    AUTO(strvec_release) struct strvec argv = {0};
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0)
        return err_set(err, ERR_INTERNAL, "cannot determine the path of this command");
    self[n] = '\0';
    AUTO_CLOSE int fd = open_beside(env->db, name, ".log", O_WRONLY | O_APPEND, log, err);
    if (fd < 0)
        return -1;
    fill_argv(&argv, env, self, name);
    return start(&argv, fd, err);
}
