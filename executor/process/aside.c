#include "executor/process/aside.h"

#include "common/base/alloc.h"
#include "common/base/fs.h"
#include "executor/process/hierarchy.h"
#include "executor/workdir/sysfile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS_MAX = 8 };

struct members {
    pid_t *pid; /* owned */
    size_t count, cap;
};

static void read_members(struct members *m, const char *folder)
{
    AUTO_FCLOSE FILE *f = sysfile_open(folder, "cgroup.procs");
    char line[32];
    *m = (struct members){.pid = NULL};
    while (f && fgets(line, sizeof line, f)) {
        ALLOC_GROW(m->pid, m->count + 1, m->cap);
        m->pid[m->count++] = (pid_t)strtol(line, NULL, 10);
    }
}

static int move_process(const char *folder, pid_t pid)
{
    char text[32];
    snprintf(text, sizeof text, "%ld", (long)pid);
    return hierarchy_write(folder, "cgroup.procs", text);
}

/* A helper that cannot be moved is not an error here: it is one when a controller is enabled. */
static void move_helper(const char *stand, const char *own, pid_t helper)
{
    struct members m = {.pid = NULL};
    if (helper > 0)
        read_members(&m, own);
    for (size_t i = 0; i < m.count; i++) {
        if (m.pid[i] == helper)
            (void)move_process(stand, helper);
    }
    free(m.pid);
}

int aside_enter(char *stand, const char *own, pid_t helper, struct err *err)
{
    char name[64];
    snprintf(name, sizeof name, "kernsweep-executor-%ld", (long)getpid());
    if (hierarchy_make(stand, own, name, err) != 0)
        return -1;
    int rc = hierarchy_write(stand, "cgroup.procs", "0");
    if (rc != 0)
        return err_set_errno(err, ERR_NODE, rc, "cannot move to %s", stand);
    move_helper(stand, own, helper);
    return 0;
}

void aside_leave(const char *stand, const char *own)
{
    struct members m;
    for (int round = 0; round < ROUNDS_MAX && rmdir(stand) != 0; round++) {
        read_members(&m, stand);
        for (size_t i = 0; i < m.count; i++)
            (void)move_process(own, m.pid[i]);
        free(m.pid);
    }
}
