/* container_end: the end of a test's or step's container: its engine is asked how it ended, told to remove
 * it, and asked whether it is gone. Each of these commands is a child in the supervisor's loop, so that the
 * tests beside it go on while an engine is slow; a request to stop ends none of them. A container counts as
 * gone only if the engine confirms it.
 */
#pragma once

#include "executor/process/child.h"
#include "executor/suite/container.h"

enum { CONTAINER_ANSWER_MAX = 64 };

enum container_end_phase { CONTAINER_ENDED, CONTAINER_ASKED, CONTAINER_TAKEN_AWAY, CONTAINER_LOOKED_FOR };

struct container_end_in {
    struct loop *loop;
    bool kept;                                /* other children run at the same time (see process) */
    void (*heartbeat)(void *arg, double t_s); /* t_s: of the command; may be NULL */
    void *arg;
};

/* Must not move between begin and its end. {0}: nothing to end. */
struct container_end {
    struct container_end_in in;
    enum container_engine engine;
    const char *name; /* borrowed: of the container_use */
    enum container_end_phase phase;
    struct child child; /* the engine's command, until its answer is taken */
    struct child_limits limits;
    char answer[CONTAINER_ANSWER_MAX];
    size_t len;
    bool gone; /* the engine said so, or there was no container */
    bool oom;  /* it was killed for memory */
};

/* Switches `use` off. Returns true if it is over at once, as without a container. */
bool container_end_begin(struct container_end *e, struct container_use *use,
                         const struct container_end_in *in);
/* To be called after each loop_wait(). Returns true once it is over. */
bool container_end_turn(struct container_end *e);
/* Waits until it is over, where nothing else in the loop is of interest. */
void container_end_finish(struct container_end *e);

/* Does all of it, waiting in the same way. Returns whether the container is gone. */
bool container_end_run(struct container_use *use, const struct container_end_in *in);
