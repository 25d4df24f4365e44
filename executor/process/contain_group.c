#include "executor/process/contain_group.h"

#include "common/base/alloc.h"
#include "common/base/clock.h"
#include "executor/process/hierarchy.h"
#include "executor/workdir/sysfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { REMOVE_WAIT_MS = 10, DEPTH_MAX = 16, AWAIT_ROUNDS = 20 };

static const double close_limit_s = 1;

static int open_procs(const char *folder, struct err *err)
{
    char path[FS_PATH_MAX];
    if (fs_join(path, err, folder, "cgroup.procs") != 0)
        return -1;
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    return fd >= 0 ? fd : err_set_errno(err, ERR_NODE, errno, "cannot open %s", path);
}

/* Adds the group's folder below `base`. Returns its number, or -1 on error. */
static int add_folder(struct contain_group *g, const char *base, const char *name, struct err *err)
{
    int i = 0;
    while (g->procs[i] >= 0)
        i++;
    if (hierarchy_make(g->folder[i], base, name, err) != 0)
        return -1;
    g->procs[i] = open_procs(g->folder[i], err);
    return g->procs[i] < 0 ? -1 : i;
}

/* Finds the group's folder for one controller: its own in version 2, or one more in version 1. */
static int find_controller(struct contain_group *g, const struct contain_place *place, const char *base,
                           const char *name, char *out, struct err *err)
{
    int i = strcmp(base, place->base) == 0 ? 0 : add_folder(g, base, name, err);
    if (i < 0)
        return -1;
    memcpy(out, g->folder[i], FS_PATH_MAX);
    return 0;
}

static int set_limit(const char *folder, const char *file, int64_t value, struct err *err)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, value);
    int rc = hierarchy_write(folder, file, text);
    return rc == 0 ? 0 : err_set_errno(err, ERR_NODE, rc, "cannot set %s to %s in %s", file, text, folder);
}

/* Swap would only make the test slow; where it is not accounted for, it cannot be limited. */
static int limit_memory(struct contain_group *g, int64_t bytes, struct err *err)
{
    g->v1_memory = strcmp(g->memory, g->folder[0]) != 0;
    if (g->v1_memory) {
        if (set_limit(g->memory, "memory.limit_in_bytes", bytes, err) != 0)
            return -1;
        (void)set_limit(g->memory, "memory.memsw.limit_in_bytes", bytes, NULL);
        return 0;
    }
    (void)hierarchy_write(g->memory, "memory.swap.max", "0");
    (void)hierarchy_write(g->memory, "memory.oom.group", "1"); /* half a test is of no use */
    return set_limit(g->memory, "memory.max", bytes, err);
}

static int set_limits(struct contain_group *g, const struct contain_place *place, const char *name,
                      struct err *err)
{
    const struct contain_limits *l = &g->limits;
    if (l->memory_bytes > 0 && (find_controller(g, place, place->memory, name, g->memory, err) != 0 ||
                                limit_memory(g, l->memory_bytes, err) != 0))
        return -1;
    if (l->processes > 0 && (find_controller(g, place, place->pids, name, g->pids, err) != 0 ||
                             set_limit(g->pids, "pids.max", l->processes, err) != 0))
        return -1;
    return 0;
}

int contain_group_open(struct contain_group *g, const struct contain_place *place, const char *name,
                       const struct contain_limits *limits, struct err *err)
{
    *g = CONTAIN_GROUP_OFF;
    if (limits)
        g->limits = *limits;
    if ((g->limits.memory_bytes > 0 && !*place->memory) || (g->limits.processes > 0 && !*place->pids))
        return err_set(err, ERR_NODE, "this node cannot enforce the plan's limits");
    if (!*place->base)
        return 0;
    g->on = true;
    if (add_folder(g, place->base, name, err) >= 0 && set_limits(g, place, name, err) == 0)
        return 0;
    contain_group_close(g);
    return limits && (limits->memory_bytes > 0 || limits->processes > 0) ? -1 : 0;
}

static pid_t clone_into(const char *folder)
{
    AUTO_CLOSE int fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    struct clone_args args = {.flags = CLONE_INTO_CGROUP, .exit_signal = SIGCHLD, .cgroup = (__u64)fd};
    return (pid_t)syscall(SYS_clone3, &args, sizeof args);
}

pid_t contain_group_fork(const struct contain_group *g, bool *inside)
{
    *inside = g->on;
    pid_t pid = g->on ? clone_into(g->folder[0]) : -1;
    if (pid >= 0)
        return pid;
    *inside = false;
    return fork();
}

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define POISONS_STACKS
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define POISONS_STACKS
#endif
#if (defined(__x86_64__) || defined(__aarch64__)) && !defined(POISONS_STACKS)
#define CAN_BORROW 1
#else
#define CAN_BORROW 0
#endif

/* A system call of which the child returns on the stack of its suspended parent. libc's syscall() would
 * return twice through one address there, so that this must not be a function of its own. */
static inline __attribute__((always_inline)) long call_clone(long number, unsigned long first,
                                                             unsigned long second)
{
#if !CAN_BORROW
    (void)number, (void)first, (void)second;
    return -ENOSYS;
#elif defined(__x86_64__)
    register long r10 __asm__("r10") = 0, r8 __asm__("r8") = 0;
    long rc;
    __asm__ volatile("syscall"
                     : "=a"(rc)
                     : "a"(number), "D"(first), "S"(second), "d"(0L), "r"(r10), "r"(r8)
                     : "rcx", "r11", "memory");
    return rc;
#else
    register long x8 __asm__("x8") = number, x2 __asm__("x2") = 0, x3 __asm__("x3") = 0, x4 __asm__("x4") = 0;
    register unsigned long x0 __asm__("x0") = first, x1 __asm__("x1") = second;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4) : "memory");
    return (long)x0;
#endif
}

static _Noreturn void run_child(contain_program program, void *arg, bool inside)
{
    program(arg, inside);
    _exit(127);
}

pid_t contain_group_spawn(const struct contain_group *g, contain_program program, void *arg)
{
    const unsigned long borrow = CLONE_VM | CLONE_VFORK;
    int folder = g && g->on ? open(g->folder[0], O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    struct clone_args args = {
        .flags = CLONE_INTO_CGROUP | borrow, .exit_signal = SIGCHLD, .cgroup = (__u64)folder};
    long pid = folder >= 0 ? call_clone(SYS_clone3, (unsigned long)&args, sizeof args) : -ENOSYS;
    if (pid == 0)
        run_child(program, arg, true);
    alloc_auto_close(&folder);
    if (pid < 0)
        pid = call_clone(SYS_clone, borrow | SIGCHLD, 0);
    if (pid == 0)
        run_child(program, arg, false);
    if (pid > 0)
        return (pid_t)pid;
    bool inside = false;
    pid = g ? contain_group_fork(g, &inside) : fork();
    if (pid == 0)
        run_child(program, arg, inside);
    return (pid_t)pid;
}

int contain_group_enter(const struct contain_group *g, bool inside)
{
    for (int i = inside ? 1 : 0; g->on && i < CONTAIN_FOLDERS && g->procs[i] >= 0; i++) {
        if (write(g->procs[i], "0", 1) != 1)
            return errno;
    }
    return 0;
}

/* Kernels before 5.14 cannot kill a group at once, so the caller repeats this until the group is empty. */
static void kill_each(const char *folder)
{
    AUTO_FCLOSE FILE *f = sysfile_open(folder, "cgroup.procs");
    char line[32];
    while (f && fgets(line, sizeof line, f)) {
        pid_t pid = (pid_t)strtol(line, NULL, 10);
        if (pid > 1 && pid != getpid())
            kill(pid, SIGKILL);
    }
}

static void kill_folder(const char *folder)
{
    if (hierarchy_write(folder, "cgroup.kill", "1") != 0)
        kill_each(folder);
}

void contain_group_kill(const struct contain_group *g)
{
    if (g->on)
        kill_folder(g->folder[0]);
}

bool contain_group_is_empty(const struct contain_group *g)
{
    return !g->on || hierarchy_number(g->folder[0], "cgroup.events", "populated") == 0;
}

bool contain_group_await_empty(const struct contain_group *g)
{
    for (int i = 0; i < AWAIT_ROUNDS && !contain_group_is_empty(g); i++)
        poll(NULL, 0, 1);
    return contain_group_is_empty(g);
}

struct contain_hits contain_group_hits(const struct contain_group *g)
{
    struct contain_hits hits = {.memory_kills = -1, .refused = -1};
    if (*g->memory)
        hits.memory_kills =
            hierarchy_number(g->memory, g->v1_memory ? "memory.oom_control" : "memory.events", "oom_kill");
    if (*g->pids)
        hits.refused = hierarchy_number(g->pids, "pids.events", "max");
    return hits;
}

/* Kills and removes what is in the folders below. */
static void remove_below(const char *folder, int depth)
{
    char path[FS_PATH_MAX];
    struct dirent *e;
    DIR *dir = depth < DEPTH_MAX ? opendir(folder) : NULL;
    while (dir && (e = readdir(dir))) {
        if (e->d_type != DT_DIR || e->d_name[0] == '.' || fs_join(path, NULL, folder, e->d_name) != 0)
            continue;
        kill_folder(path);
        remove_below(path, depth + 1);
        rmdir(path);
    }
    if (dir)
        closedir(dir);
}

bool contain_folder_remove(const char *folder, double limit_s)
{
    int64_t deadline_ns = clock_deadline_ns(limit_s);
    for (;;) {
        if (rmdir(folder) == 0 || errno == ENOENT)
            return true;
        if (clock_left_ms(deadline_ns) == 0)
            return false;
        kill_folder(folder);
        remove_below(folder, 0);
        poll(NULL, 0, REMOVE_WAIT_MS); /* there is nothing to wait on: groups have no pidfd */
    }
}

bool contain_group_close(struct contain_group *g)
{
    bool gone = true;
    for (int i = 0; g->on && i < CONTAIN_FOLDERS; i++) {
        if (g->procs[i] >= 0)
            close(g->procs[i]);
        if (*g->folder[i])
            gone &= contain_folder_remove(g->folder[i], close_limit_s);
    }
    *g = CONTAIN_GROUP_OFF;
    return gone;
}
