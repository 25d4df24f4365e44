#include "harness/commands/measure/bisect_detach.h"

#include "common/base/spawn.h"
#include "common/base/strvec.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int open_log(const char *db, const char *name, char *log, struct err *err)
{
    char base[FS_PATH_MAX], dir[FS_PATH_MAX], file[256];
    fs_parent(db, base);
    snprintf(file, sizeof file, "%.200s.log", name);
    if (fs_join(dir, err, base, "bisect") != 0 || fs_mkdir_p(dir, 0700, err) != 0 ||
        fs_join(log, err, dir, file) != 0)
        return -1;
    int fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    return fd >= 0 ? fd : err_set_errno(err, ERR_STORAGE, errno, "%s: cannot open", log);
}

/* setsid forks, so that the process does not end with us (spawn.h). */
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
    int status, none = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (none < 0)
        return err_set_errno(err, ERR_STORAGE, errno, "/dev/null: cannot open");
    const struct spawn s = {.argv = strvec_argv(argv), .fds = {none, log, log}};
    pid_t pid = spawn_start(&s, err);
    close(none);
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
    struct strvec argv = {0};
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0)
        return err_set(err, ERR_INTERNAL, "cannot determine the path of this command");
    self[n] = '\0';
    int fd = open_log(env->db, name, log, err);
    if (fd < 0)
        return -1;
    fill_argv(&argv, env, self, name);
    int rc = strvec_check(&argv, err) != 0 ? -1 : start(&argv, fd, err);
    strvec_release(&argv);
    close(fd);
    return rc;
}
