#include "executor/contain/signals.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* As <linux/landlock.h> has them since 6.12. */
struct ruleset {
    uint64_t fs, net, scoped;
};
enum { SCOPE_SIGNAL = 1 << 1, VERSION_FLAG = 1, VERSION_WITH_SCOPES = 6 };

int signals_keep_in(void)
{
    const struct ruleset rules = {.scoped = SCOPE_SIGNAL};
    long version = syscall(SYS_landlock_create_ruleset, NULL, (size_t)0, VERSION_FLAG);
    if (version < VERSION_WITH_SCOPES)
        return version < 0 ? errno : EOPNOTSUPP;
    int fd = (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof rules, 0);
    if (fd < 0)
        return errno;
    int rc = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && syscall(SYS_landlock_restrict_self, fd, 0) == 0
                 ? 0
                 : errno;
    close(fd);
    return rc;
}

/* Signal 0 tests the permission alone. */
bool signals_can_be_kept(void)
{
    int status = 0;
    pid_t parent = getpid(), pid = fork();
    if (pid == 0)
        _exit(signals_keep_in() == 0 && kill(parent, 0) != 0 && errno == EPERM ? 0 : 1);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
