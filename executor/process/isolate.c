#include "executor/process/isolate.h"

#include "common/base/alloc.h"
#include "common/base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int write_file(const char *path, const char *text)
{
    AUTO_CLOSE int fd = open(path, O_WRONLY | O_CLOEXEC);
    return fd < 0 || write(fd, text, strlen(text)) < 0 ? errno : 0;
}

/* Maps our own ids to themselves in the new user namespace. */
static int map_ids(uid_t uid, gid_t gid)
{
    char map[64];
    int rc = write_file("/proc/self/setgroups", "deny");
    if (rc != 0)
        return rc;
    snprintf(map, sizeof map, "%u %u 1", (unsigned)uid, (unsigned)uid);
    rc = write_file("/proc/self/uid_map", map);
    snprintf(map, sizeof map, "%u %u 1", (unsigned)gid, (unsigned)gid);
    return rc != 0 ? rc : write_file("/proc/self/gid_map", map);
}

static int enter_namespaces(int more)
{
    uid_t uid = geteuid();
    gid_t gid = getegid();
    return unshare(CLONE_NEWUSER | CLONE_NEWNS | more) != 0 ? errno : map_ids(uid, gid);
}

static int set_read_only(const char *path, bool on, unsigned flags)
{
    struct mount_attr attr = {.attr_set = on ? MOUNT_ATTR_RDONLY : 0, .attr_clr = on ? 0 : MOUNT_ATTR_RDONLY};
    return mount_setattr(AT_FDCWD, path, flags, &attr, sizeof attr) != 0 ? errno : 0;
}

static bool is_below(const char *folder, const char *parent)
{
    size_t n = strlen(parent);
    return strncmp(folder, parent, n) == 0 && (folder[n] == '/' || folder[n] == '\0');
}

/* A folder that is not there is left out: nothing can be written to it either. */
static int mount_memory(const char *folder)
{
    static const char *const places[] = {"/tmp", "/var/tmp", "/dev/shm"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (!is_below(folder, places[i]) && fs_is_dir(places[i]) &&
            mount("tmpfs", places[i], "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") != 0)
            return errno;
    }
    return 0;
}

/* Leaves nothing writable but the folder, and memory in place of the node's own temporary folders. */
static int protect(const char *folder)
{
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount(folder, folder, NULL, MS_BIND, NULL) != 0)
        return errno;
    int rc = set_read_only("/", true, AT_RECURSIVE);
    if (rc != 0)
        return rc;
    rc = set_read_only(folder, false, 0);
    return rc != 0 ? rc : mount_memory(folder);
}

/* What was mounted in an outer namespace is locked in an inner one, even for its root. /proc is made writable
 * meanwhile, because the inner namespace's ids are written there. */
static int enter_inner(void)
{
    int rc = set_read_only("/proc", false, 0);
    if (rc != 0)
        return rc;
    rc = enter_namespaces(0);
    return rc != 0 ? rc : set_read_only("/proc", true, 0);
}

int isolate_enter(const char *folder)
{
    int rc = enter_namespaces(CLONE_NEWIPC);
    if (rc != 0)
        return rc;
    rc = protect(folder);
    return rc != 0 ? rc : enter_inner();
}

/* This is as in <linux/landlock.h> since 6.12. */
struct ruleset {
    uint64_t fs, net, scoped;
};
enum { SCOPE_SIGNAL = 1 << 1, VERSION_FLAG = 1, VERSION_WITH_SCOPES = 6 };

int isolate_signals(void)
{
    const struct ruleset rules = {.scoped = SCOPE_SIGNAL};
    long version = syscall(SYS_landlock_create_ruleset, NULL, (size_t)0, VERSION_FLAG);
    if (version < VERSION_WITH_SCOPES)
        return version < 0 ? errno : EOPNOTSUPP;
    AUTO_CLOSE int fd = (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof rules, 0);
    if (fd < 0)
        return errno;
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && syscall(SYS_landlock_restrict_self, fd, 0) == 0
               ? 0
               : errno;
}

/* The trial runs in a child, as there is no way back. */
static bool holds(bool (*trial)(pid_t parent))
{
    int status = 0;
    pid_t parent = getpid(), pid = fork();
    if (pid == 0)
        _exit(!trial(parent));
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool can_enter(pid_t parent)
{
    (void)parent;
    return isolate_enter("/proc/self") == 0 || isolate_enter("/") == 0;
}

/* Signal 0 tests the permission alone. */
static bool cannot_signal(pid_t parent)
{
    return isolate_signals() == 0 && kill(parent, 0) != 0 && errno == EPERM;
}

bool isolate_works(void)
{
    return holds(can_enter);
}

bool isolate_signals_works(void)
{
    return holds(cannot_signal);
}
