/* process: starts one program in a session of its own and ends everything it started.
 * This process is a child subreaper: orphans become our children, so "no child left" (ECHILD) proves that all
 * of it is gone, double-forked daemons and zombies included. Therefore the executor must not have any other
 * child at the same time. Times are CLOCK_MONOTONIC nanoseconds.
 */
#ifndef KERNSWEEP_EXECUTOR_PROCESS_PROCESS_H
#define KERNSWEEP_EXECUTOR_PROCESS_PROCESS_H

#include "common/base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

struct process {
    pid_t pid;
    int pidfd;
    int64_t start_ns; /* just before exec */
    int exec_errno;   /* not 0: exec failed with it, and nothing runs */
    bool ended;
    int64_t end_ns;
    int wait_status;
    struct rusage usage;
};

struct process_spec {
    char *const *argv;
    char *const *env; /* also where PATH comes from */
    const char *cwd;
    int output; /* stdout and stderr */
    int input;  /* -1: /dev/null */
};

/* Makes this process inherit orphans. */
int process_become_subreaper(struct err *err);

/* 0 also when exec failed (see exec_errno); -1 when no process could be made. */
int process_start(struct process *p, const struct process_spec *spec, struct err *err);
void process_close(struct process *p);

/* Reaps all children that ended; now_ns is recorded as p's end when it is among them. True when no child is
 * left. */
bool process_reap(struct process *p, int64_t now_ns);
/* Sends the signal to p's group (while p is not reaped) and to every descendant of this process.
 * Returns how many processes there were. */
unsigned process_signal_all(const struct process *p, int sig);

#endif
