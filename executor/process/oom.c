#include "executor/process/oom.h"

#include "common/base/alloc.h"
#include "executor/workdir/sysfile.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RECORD_MAX = 8192, RECORDS_MAX = 10000, COUNTERS_MAX = 32 << 10 };

/* Finds this process's counter file, in cgroup v2 ("0::/path") or in v1's memory controller. */
static bool own_cgroup(const struct layout *l, char *out)
{
    AUTO_FCLOSE FILE *f = sysfile_open(l->proc, "self/cgroup");
    char line[FS_PATH_MAX];
    bool found = false;
    while (f && fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = '\0';
        const char *controllers = strchr(line, ':');
        const char *place = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!place)
            continue;
        bool v1 = strncmp(controllers, ":memory:", 8) == 0;
        if (!v1 && strncmp(line, "0::", 3) != 0)
            continue;
        int n = snprintf(out, FS_PATH_MAX, "%.1000s/fs/cgroup%s%.2000s/%s", l->sysfs, v1 ? "/memory" : "",
                         place + 1, v1 ? "memory.oom_control" : "memory.events");
        found |= n > 0;
        if (v1)
            break; /* where both are mounted, v1 has the memory controller */
    }
    return found;
}

static int64_t read_kills(int fd)
{
    AUTO_FREE char *text = xmalloc(COUNTERS_MAX);
    ssize_t n = fd >= 0 ? pread(fd, text, COUNTERS_MAX - 1, 0) : -1;
    if (n <= 0)
        return -1;
    text[n] = '\0';
    const char *p = strncmp(text, "oom_kill ", 9) == 0 ? text - 1 : strstr(text, "\noom_kill ");
    return p ? strtoll(p + 10, NULL, 10) : -1;
}

void oom_open(struct oom *o, const struct layout *l)
{
    char path[FS_PATH_MAX];
    *o = (struct oom){.cgroup = -1, .vmstat = -1};
    o->kernel_log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (own_cgroup(l, path))
        o->cgroup = open(path, O_RDONLY | O_CLOEXEC);
    if (fs_join(path, NULL, l->proc, "vmstat") == 0)
        o->vmstat = open(path, O_RDONLY | O_CLOEXEC);
}

void oom_close(struct oom *o)
{
    const int fds[] = {o->kernel_log, o->cgroup, o->vmstat};
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++) {
        if (fds[i] >= 0)
            close(fds[i]);
    }
    *o = (struct oom){.kernel_log = -1, .cgroup = -1, .vmstat = -1};
}

void oom_mark(struct oom *o)
{
    if (o->kernel_log >= 0)
        lseek(o->kernel_log, 0, SEEK_END);
    o->cgroup_kills = read_kills(o->cgroup);
    o->vmstat_kills = read_kills(o->vmstat);
}

/* Each read() returns one record, "prefix;text". Later records of others do not replace one of the test's. */
static enum oom_found search_kernel_log(int fd, const struct proctree_seen *own, char *out)
{
    static const char words[] = "Killed process ";
    char record[RECORD_MAX];
    enum oom_found found = OOM_NOTHING;
    for (int i = 0; fd >= 0 && i < RECORDS_MAX; i++) {
        ssize_t n = read(fd, record, sizeof record - 1);
        if (n <= 0)
            break; /* no more; or overwritten before we read it, then the counters show it */
        record[n] = '\0';
        const char *text = strchr(record, ';');
        const char *killed = text ? strstr(text, words) : NULL;
        if (!killed)
            continue;
        pid_t pid = (pid_t)strtol(killed + sizeof words - 1, NULL, 10);
        bool here = !own || proctree_has_seen(own, pid);
        if (!here && found == OOM_HERE)
            continue;
        snprintf(out, OOM_EVIDENCE_MAX, "kernel log: %.*s", (int)strcspn(text + 1, "\n"), text + 1);
        found = here ? OOM_HERE : OOM_SOMEWHERE;
    }
    return found;
}

/* Whether a counter rose since it was marked; out then says so. */
static bool has_risen(int fd, int64_t before, const char *what, char *out)
{
    int64_t now = before >= 0 ? read_kills(fd) : -1;
    if (now > before)
        snprintf(out, OOM_EVIDENCE_MAX, "%s rose from %" PRId64 " to %" PRId64, what, before, now);
    return now > before;
}

enum oom_found oom_evidence(struct oom *o, const struct proctree_seen *own, char *out)
{
    enum oom_found logged = search_kernel_log(o->kernel_log, own, out);
    if (logged != OOM_NOTHING)
        return logged;
    if (!has_risen(o->cgroup, o->cgroup_kills, "the memory cgroup's oom_kill", out) &&
        !has_risen(o->vmstat, o->vmstat_kills, "the system's oom_kill (/proc/vmstat)", out))
        return OOM_NOTHING;
    return own ? OOM_SOMEWHERE : OOM_HERE;
}
