#include "executor/contain/aside.h"

#include "common/base/fs.h"
#include "executor/contain/hierarchy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PROCESSES_MAX = 64, ROUNDS_MAX = 8 };

/* The first of them, which are few here. */
static size_t read_processes(const char *folder, pid_t *out)
{
    char path[FS_PATH_MAX], line[32];
    size_t count = 0;
    FILE *f = fs_join(path, NULL, folder, "cgroup.procs") == 0 ? fopen(path, "re") : NULL;
    while (f && count < PROCESSES_MAX && fgets(line, sizeof line, f))
        out[count++] = (pid_t)strtol(line, NULL, 10);
    if (f)
        fclose(f);
    return count;
}

static int move_process(const char *folder, pid_t pid)
{
    char text[32];
    snprintf(text, sizeof text, "%ld", (long)pid);
    return hierarchy_write(folder, "cgroup.procs", text);
}

/* One that ends meanwhile, or may not be moved, is found by whoever enables a controller. */
static void move_helper(const char *stand, const char *own, pid_t helper)
{
    pid_t pid[PROCESSES_MAX];
    size_t count = helper > 0 ? read_processes(own, pid) : 0;
    for (size_t i = 0; i < count; i++) {
        if (pid[i] == helper)
            (void)move_process(stand, helper);
    }
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
    pid_t pid[PROCESSES_MAX];
    for (int round = 0; round < ROUNDS_MAX && rmdir(stand) != 0; round++) {
        size_t count = read_processes(stand, pid);
        for (size_t i = 0; i < count; i++)
            (void)move_process(own, pid[i]);
    }
}
