#include "executor/contain/isolate.h"

#include "common/base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

static int write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    int rc = write(fd, text, strlen(text)) < 0 ? errno : 0;
    close(fd);
    return rc;
}

/* A user namespace in which we are who we are. */
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

/* Where a folder is not there, nothing can be written to it either. */
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

int isolate_enter(const char *folder)
{
    int rc = enter_namespaces(CLONE_NEWIPC);
    if (rc != 0)
        return rc;
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount(folder, folder, NULL, MS_BIND, NULL) != 0)
        return errno;
    rc = set_read_only("/", true, AT_RECURSIVE);
    if (rc == 0)
        rc = set_read_only(folder, false, 0);
    if (rc == 0)
        rc = mount_memory(folder);
    if (rc == 0)
        rc = set_read_only("/proc", false, 0); /* where the ids of the inner namespace are written */
    /* What was mounted in an outer namespace is locked in an inner one, for its root, too. */
    if (rc == 0)
        rc = enter_namespaces(0);
    return rc != 0 ? rc : set_read_only("/proc", true, 0);
}

bool isolate_works(void)
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0)
        _exit(isolate_enter("/proc/self") == 0 || isolate_enter("/") == 0 ? 0 : 1);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
