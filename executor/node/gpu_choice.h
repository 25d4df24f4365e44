/* gpu_choice: which GPUs of the node a run may use, in groups of as many as a test gets, from what the plan
 * wants, what the node has and what this process was granted. Pure: reads no files and takes no locks; the
 * caller locks the groups and drops those that it did not get.
 *
 * Groups are neighbours by index, at the same places whatever other runs hold, so that a cell finds its GPU
 * again. With "one", they are in the order in which they are to be tried: where the run's tests ran last
 * comes first.
 */
#pragma once

#include "executor/node/gpu_use.h"

/* What this process was given of the node. */
struct gpu_grant {
    const char *list;  /* of indices, unique ids or PCI addresses; NULL: unknown, or all */
    bool by_scheduler; /* which gave the GPUs to this run alone */
};

/* Finds out what was granted. amd: whose GPUs the node has. */
typedef void gpu_granted(struct gpu_grant *out, bool amd);

enum gpu_rule {
    GPU_RULE_EVERY, /* all groups, or the run is blocked */
    GPU_RULE_SOME,  /* those that are free, at least one */
    GPU_RULE_FIRST, /* the first that is free, and no other */
};

struct gpu_choice {
    enum gpu_rule rule;
    bool choose;           /* the tests see their group only; false: what their environment lets them see */
    struct gpu_use *group; /* owned */
    size_t count;          /* 0: the node has no GPU that is known */
    size_t granted;        /* as many as a scheduler gave beyond the plan's gres; 0: no more than that */
};

/* gpus: node.json's. ERR_NODE where the plan lists a GPU that is not there, or no test would have enough.
 * gpu_choice_release() must be called even after a failure. */
int gpu_choice_make(struct gpu_choice *out, const struct job *job, const json_t *gpus,
                    const struct gpu_grant *grant, struct err *err);
void gpu_choice_drop(struct gpu_choice *c, size_t group);
void gpu_choice_release(struct gpu_choice *c);
