/* child: one process under supervision, from its start until it and all its descendants are gone: output,
 * time-outs, heart beats, samples, and TERM followed by KILL after a grace period. Several may be supervised
 * in one loop: each is given a turn after every wait. Knows nothing of tests, builds or files: the hooks do.
 * Units: seconds in doubles, else nanoseconds.
 */
#pragma once

#include "common/base/err.h"
#include "executor/process/ending.h"
#include "executor/process/loop.h"
#include "executor/process/process.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct child_limits {
    double timeout_s;
    double kill_grace_s;
    double no_output_timeout_s; /* 0: off */
    double heartbeat_s;         /* 0: off */
    int64_t sample_interval_ms; /* 0: off */
    double linger_s;            /* how long what it started may go on once it has ended */
    bool finishes;              /* a request to stop does not end it */
    bool samples_together;      /* at the same instants as other children, so that one wake-up serves all */
};

/* Each may be NULL. t_s: seconds since the child's start. */
struct child_hooks {
    /* Called once the program runs, or could not be started. */
    void (*started)(void *arg, const struct process *p);
    void (*output)(void *arg, const char *data, size_t len);
    void (*heartbeat)(void *arg, double t_s);
    /* missed: ticks lost before this one. Returns why the child must be stopped, or STOP_NONE. */
    enum stop_cause (*sample)(void *arg, double t_s, uint64_t missed);
    /* Called before TERM, to inspect a process that is about to be stopped. */
    void (*stopping)(void *arg, const struct process *p, enum stop_cause cause);
    void *arg;
};

struct child_result {
    struct process process;
    enum stop_cause stop;
    double wall_s;      /* NaN when it did not run */
    double frozen_s;    /* of that, how long nothing ran here: a frozen control group or machine */
    unsigned leftovers; /* descendants that were alive when it exited by itself */
    bool group_gone;    /* proven: no descendant is left */
};

enum child_phase { CHILD_RUNNING, CHILD_LINGERS, CHILD_TERM, CHILD_KILL, CHILD_GONE, CHILD_STUCK };

/* Must not move between start and close. */
struct child {
    struct loop *loop; /* borrowed, as the limits are */
    const struct child_limits *limits;
    struct child_hooks hooks;
    struct child_result result;
    enum child_phase phase;
    bool born; /* its start is complete: time-outs and samples count from it */
    struct loop_watch process, birth, output, deadline, grace, heartbeat, sample;
    bool joined; /* the loop's beat: see samples_together */
    int64_t last_output_ns;
    int64_t kill_since_ns;
    char *data; /* owned; what is read at once */
};

/* To be closed even after a failure. spec is needed during the call only. */
int child_start(struct child *c, struct loop *loop, const struct process_spec *spec,
                const struct child_limits *limits, const struct child_hooks *hooks, struct err *err);
/* To be called after each loop_wait(). Returns true once all of it is gone, or survives SIGKILL. */
bool child_turn(struct child *c);
/* Completes result, and kills what is still there if it is not over. */
void child_close(struct child *c);

/* Starts, supervises and closes one child alone. */
int child_run(struct loop *loop, const struct process_spec *spec, const struct child_limits *limits,
              const struct child_hooks *hooks, struct child_result *out, struct err *err);

/* Says how the child ended; program: argv[0]. */
void child_ending(const struct child_result *r, const struct child_limits *limits, const char *program,
                  struct ending *out);
