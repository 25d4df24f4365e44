#include "executor/node/leftover.h"

#include "common/base/alloc.h"
#include "common/base/clock.h"
#include "common/base/text.h"
#include "executor/workdir/lock.h"
#include "executor/workdir/mark.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <unistd.h>

enum { ENVIRONMENT_MAX = 256 << 10, COMMAND_MAX = 160, LEFTOVERS_MAX = 256 };

static ssize_t read_proc(pid_t pid, const char *name, char *out, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/%s", (long)pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t total = 0, n;
    while ((size_t)total < size - 1 && (n = read(fd, out + total, size - 1 - (size_t)total)) > 0)
        total += n;
    close(fd);
    out[total] = '\0';
    return total;
}

static const char *find_variable(const char *env, size_t len, const char *name)
{
    size_t name_len = strlen(name);
    for (const char *p = env; p < env + len; p += strlen(p) + 1) {
        if (strncmp(p, name, name_len) == 0 && p[name_len] == '=')
            return p + name_len + 1;
    }
    return NULL;
}

/* Returns the other executor that is supervising a run now, if any: that run's processes are no leftovers. */
static struct lock_holder other_supervisor(const struct layout *l)
{
    char path[FS_PATH_MAX];
    struct lock_holder holder = {.held = false};
    if (fs_join(path, NULL, l->workdir, NODE_LOCK) != 0 || lock_look(path, &holder, NULL) != 0 ||
        holder.pid == getpid())
        holder.what[0] = '\0';
    return holder;
}

static json_t *describe_process(const char *mark, pid_t pid, const char *live, char *env)
{
    char command[COMMAND_MAX];
    ssize_t len = read_proc(pid, "environ", env, ENVIRONMENT_MAX);
    const char *own = len > 0 ? find_variable(env, (size_t)len, MARK_VARIABLE) : NULL;
    const char *run_id = len > 0 ? find_variable(env, (size_t)len, "KERNSWEEP_RUN_ID") : NULL;
    if (!own || strcmp(own, mark) != 0 || !run_id || strcmp(run_id, live) == 0 || !text_is_name(run_id))
        return NULL;
    len = read_proc(pid, "cmdline", command, sizeof command);
    for (ssize_t i = 0; i + 1 < len; i++) {
        if (command[i] == '\0')
            command[i] = ' ';
    }
    AUTO(buf_release) struct buf clean = {.max = COMMAND_MAX * 8};
    text_printable(&clean, command, strlen(command), COMMAND_MAX);
    return json_pack("{s:I, s:s, s:s}", "pid", (json_int_t)pid, "run_id", run_id, "command", buf_str(&clean));
}

json_t *leftover_list(const struct layout *l)
{
    struct lock_holder other = other_supervisor(l);
    json_t *out = json_array();
    AUTO_FREE char *env = xmalloc(ENVIRONMENT_MAX);
    char mark[WORKDIR_MARK_MAX];
    DIR *dir = mark_read(l, mark) ? opendir("/proc") : NULL;
    struct dirent *e;
    while (dir && json_array_size(out) < LEFTOVERS_MAX && (e = readdir(dir))) {
        json_t *item = isdigit((unsigned char)e->d_name[0])
                           ? describe_process(mark, (pid_t)strtol(e->d_name, NULL, 10), other.what, env)
                           : NULL;
        if (item)
            json_array_append_new(out, item);
    }
    if (dir)
        closedir(dir);
    return out;
}

/* Returns true when the process is gone before the deadline. */
static bool kill_one(pid_t pid, int64_t deadline_ns)
{
    int fd = pidfd_open(pid, 0);
    if (fd < 0)
        return true;
    struct pollfd p = {.fd = fd, .events = POLLIN};
    pidfd_send_signal(fd, SIGKILL, NULL, 0);
    int n = poll(&p, 1, clock_left_ms(deadline_ns));
    close(fd);
    return n > 0;
}

size_t leftover_kill(const struct layout *l, double limit_s, size_t *left)
{
    int64_t deadline_ns = clock_deadline_ns(limit_s);
    json_auto_t *list = leftover_list(l);
    json_t *item;
    size_t i, count = json_array_size(list);
    *left = 0;
    json_array_foreach(list, i, item)
    {
        if (!kill_one((pid_t)json_integer_value(json_object_get(item, "pid")), deadline_ns))
            (*left)++;
    }
    return count;
}
