/* contain_group: the control group of one test, build or gate: it is entered before exec, killed at once, and
 * proven empty by the kernel. Limits are set before anything runs in it. Without control groups a group is
 * "off": each function then does nothing and says so. Several may be there at the same time. Whoever opens
 * one closes it; closing kills what is in it.
 */
#pragma once

#include "common/base/err.h"
#include "common/base/fs.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct contain_limits {
    int64_t memory_bytes; /* 0: none */
    int64_t processes;    /* 0: none */
};

/* Where groups are made. */
struct contain_place {
    char base[FS_PATH_MAX];   /* in version 2; "": no control groups */
    char memory[FS_PATH_MAX]; /* where its memory is limited: base, or a folder of version 1; "": nowhere */
    char pids[FS_PATH_MAX];
};

enum { CONTAIN_FOLDERS = 3 };

struct contain_group {
    bool on;
    bool v1_memory;
    char folder[CONTAIN_FOLDERS][FS_PATH_MAX];   /* version 2's, then those of version 1 */
    int procs[CONTAIN_FOLDERS];                  /* their cgroup.procs, for the child that enters; -1 */
    char memory[FS_PATH_MAX], pids[FS_PATH_MAX]; /* of the above, the ones with the limits; "" */
    struct contain_limits limits;
};

/* What the limits did. */
struct contain_hits {
    int64_t memory_kills; /* processes killed for memory; -1 unknown */
    int64_t refused;      /* processes that could not be started; -1 unknown */
};

#define CONTAIN_GROUP_OFF ((struct contain_group){.procs = {-1, -1, -1}})

/* name: a plain one. If no group can be made and there are no limits, the group is off, and 0 is returned. */
int contain_group_open(struct contain_group *g, const struct contain_place *place, const char *name,
                       const struct contain_limits *limits, struct err *err);
/* Kills what is in it, waits a moment for its end and removes it. Returns false when something survives. */
bool contain_group_close(struct contain_group *g);

/* As fork(), but the child begins in the group's folder of version 2 where the kernel can do that (5.7 and
 * later): to move it there afterwards takes some 10 ms. *inside, in both processes: whether it did. */
pid_t contain_group_fork(const struct contain_group *g, bool *inside);
/* What a child runs: it does not return. inside: whether it began in the group's folder of version 2. */
typedef void (*contain_program)(void *arg, bool inside);
/* Runs it in a child that borrows this process's memory until it executes something, as after vfork(): exec
 * then has no copy to throw away, which takes a fifth of the time of a small program. What it changes in
 * memory stays changed. Where that is not to be had, it is a child as any other. g: may be NULL. */
pid_t contain_group_spawn(const struct contain_group *g, contain_program program, void *arg);
/* To be called in a child between fork and exec. inside: from contain_group_fork(). Returns 0, or the
 * errno. */
int contain_group_enter(const struct contain_group *g, bool inside);
/* Sends SIGKILL to all of it, at once where the kernel can. */
void contain_group_kill(const struct contain_group *g);
/* Whether the kernel says that it is empty; true when off. */
bool contain_group_is_empty(const struct contain_group *g);
/* Waits for that, once all processes are reaped: some kernels take them out of the group a moment later. */
bool contain_group_await_empty(const struct contain_group *g);
struct contain_hits contain_group_hits(const struct contain_group *g);

/* Kills and removes a group's folder and those in it. Returns true when it is gone. */
bool contain_folder_remove(const char *folder, double limit_s);
