#include "executor/process/proctree.h"

#include "common/base/alloc.h"
#include "executor/workdir/sysfile.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAIRS_MAX = 65536, STAT_MAX = 1024, CHILDREN_MAX = 32768 };

struct pair {
    pid_t pid, parent;
};

static pid_t parent_of(const char *pid)
{
    char folder[64], text[STAT_MAX], state;
    int parent;
    snprintf(folder, sizeof folder, "/proc/%.20s", pid);
    if (!sysfile_read(folder, "stat", text, sizeof text))
        return 0;
    const char *p = strrchr(text, ')');
    return p && sscanf(p + 1, " %c %d", &state, &parent) == 2 ? parent : 0;
}

static size_t read_pairs(struct pair *pairs, size_t max)
{
    size_t count = 0;
    DIR *dir = opendir("/proc");
    struct dirent *e;
    while (dir && count < max && (e = readdir(dir))) {
        if (!isdigit((unsigned char)e->d_name[0]))
            continue;
        pid_t parent = parent_of(e->d_name);
        if (parent > 0)
            pairs[count++] = (struct pair){.pid = (pid_t)strtol(e->d_name, NULL, 10), .parent = parent};
    }
    if (dir)
        closedir(dir);
    return count;
}

static bool add_pid(struct proctree *t, pid_t pid)
{
    for (size_t i = 0; i < t->count; i++) {
        if (t->pid[i] == pid)
            return false;
    }
    if (t->count == PROCTREE_MAX)
        return false;
    t->pid[t->count++] = pid;
    return true;
}

static void add_children(struct proctree *t, pid_t parent, const struct pair *pairs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (pairs[i].parent == parent)
            add_pid(t, pairs[i].pid);
    }
}

void proctree_descendants(struct proctree *t, pid_t root)
{
    AUTO_FREE struct pair *pairs = xmalloc(PAIRS_MAX * sizeof *pairs);
    t->count = 0;
    size_t count = read_pairs(pairs, PAIRS_MAX);
    add_children(t, root, pairs, count);
    for (size_t i = 0; i < t->count; i++) /* grows during the loop */
        add_children(t, t->pid[i], pairs, count);
}

void proctree_note(struct proctree_seen *s, pid_t pid)
{
    if (!proctree_has_seen(s, pid))
        s->pid[s->count++ % PROCTREE_SEEN_MAX] = pid;
}

bool proctree_has_seen(const struct proctree_seen *s, pid_t pid)
{
    for (size_t i = 0; i < s->count && i < PROCTREE_SEEN_MAX; i++)
        if (s->pid[i] == pid)
            return true;
    return false;
}

static void add_listed(struct proctree *t, const char *task)
{
    char text[CHILDREN_MAX], *p = text, *end;
    if (!sysfile_read(task, "children", text, sizeof text))
        return;
    for (long pid = strtol(p, &end, 10); end != p; p = end, pid = strtol(p, &end, 10))
        add_pid(t, (pid_t)pid);
}

void proctree_listed(struct proctree *t, pid_t root)
{
    t->count = 0;
    add_pid(t, root);
    for (size_t i = 0; i < t->count; i++) {
        char path[64];
        struct dirent *e;
        snprintf(path, sizeof path, "/proc/%ld/task", (long)t->pid[i]);
        DIR *dir = opendir(path);
        while (dir && (e = readdir(dir))) {
            char task[400];
            snprintf(task, sizeof task, "%s/%s", path, e->d_name);
            if (isdigit((unsigned char)e->d_name[0]))
                add_listed(t, task);
        }
        if (dir)
            closedir(dir);
    }
}
