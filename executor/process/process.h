/* process: starts one program in a session of its own and ends everything it started.
 * Orphans become children of their nearest ancestor that is a subreaper, so "no child left" (ECHILD) proves
 * to it that all of the program is gone, double-forked daemons and zombies included. That ancestor is this
 * process, which then must not have any other child at the same time; or, where several programs run at once
 * or one is timed, a keeper: one small process for each, between this one and the program, which only waits
 * and so knows to the microsecond when it ended. In a control group, the kernel's
 * word that the group is empty is needed, too; it is enough where the keeper was lost. Times are
 * CLOCK_MONOTONIC nanoseconds.
 */
#pragma once

#include "common/base/err.h"
#include "executor/process/contain_group.h"
#include "executor/process/near.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

struct process {
    pid_t pid;
    int pidfd;                  /* of the program, or of nothing when it is kept */
    pid_t keeper;               /* 0: none */
    int report;                 /* what the keeper reports; -1: none */
    int birth;                  /* readable when the program's start is complete; -1: it is over */
    struct process_birth *told; /* shared with it until then; NULL: it is over */
    bool gone;                  /* proven by the keeper: nothing of the program is left */
    bool lost;                  /* the keeper was killed: without a control group nothing can be proven */
    int64_t start_ns;           /* just before exec; until it is born, when it was asked for */
    int exec_errno;             /* not 0: exec failed with it, and nothing runs */
    struct near_failure unbound;
    bool continued; /* its keeper saw that it had been stopped, and was told to go on */
    bool ended;
    int64_t end_ns;
    int wait_status;
    struct rusage usage;
    const struct contain_group *group; /* borrowed; NULL or off: none */
};

#define PROCESS_NONE ((struct process){.pidfd = -1, .report = -1, .birth = -1})

struct process_spec {
    char *const *argv;
    char *const *env; /* also where PATH comes from */
    const char *cwd;
    const char *from;                  /* the folder that it begins in; NULL: cwd */
    int output;                        /* stdout and stderr */
    bool without_stderr;               /* stdout alone: what it says on stderr is lost */
    int input;                         /* -1: /dev/null */
    const struct near *near;           /* CPUs and memory to bind it to; NULL: none */
    rlim_t files;                      /* soft limit of open files; 0: as this process has it */
    const struct contain_group *group; /* that it runs in; NULL: none */
    bool isolated;                     /* nothing but cwd is writable to it (see isolate) */
    bool signals_kept;                 /* it can signal only what it has started itself (see isolate) */
    bool kept;                         /* with a keeper of its own: others run beside it, or it is timed */
};

/* Makes this process inherit orphans. */
int process_become_subreaper(struct err *err);
/* For a program that leaves a daemon behind on purpose, which must not become ours: between `true` and
 * `false` orphans go to init. To be used only while no program runs that is to be proven gone. */
void process_disown_orphans(bool on);

/* Returns -1 when no process could be made. Does not wait for exec, which may take long where the program or
 * its folder is on a slow file system: see process_is_born(). */
int process_start(struct process *p, const struct process_spec *spec, struct err *err);
/* Returns true once its start is complete: pid, start_ns and exec_errno are final. To be called again each
 * time p->birth is readable. */
bool process_is_born(struct process *p);
/* Closes p->birth, which nobody may watch any more: another child, forked meanwhile, may hold the pipe until
 * its own exec, so that closing alone does not end a watch. */
void process_forget_birth(struct process *p);
void process_close(struct process *p);

/* Returns a descriptor that is readable when something ended; -1: only SIGCHLD tells. */
int process_watch_fd(const struct process *p);
/* Whether nothing can prove that it is gone. */
bool process_is_lost(const struct process *p);
/* Reaps what ended; now_ns is recorded as p's end when it is among it (a keeper records the time itself).
 * Returns true when nothing of p is left. */
bool process_reap(struct process *p, int64_t now_ns);
/* Sends the signal to p's group (while p is not reaped) and to every descendant of its keeper, or of this
 * process. Returns how many processes there were. */
unsigned process_signal_all(const struct process *p, int sig);
