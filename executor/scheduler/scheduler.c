#include "executor/scheduler/scheduler.h"

#include <stdlib.h>
#include <string.h>

/* The node itself as a scheduler: nothing is submitted, and the GPUs that tests use are locked, because
 * nothing else protects them from other runs. */
static bool local_is_here(void)
{
    return true;
}

static int local_identify(struct task_identity *out, struct err *err)
{
    *out = (struct task_identity){.host = ""};
    return err_set(err, ERR_INPUT, "this process is not a scheduler's task: it is started by a job's script");
}

static void local_granted(struct gpu_grant *out, bool amd)
{
    (void)amd;
    *out = (struct gpu_grant){.list = gpu_use_environment()};
}

const struct scheduler_ops scheduler_local = {
    .kind = "local",
    .title = "this node",
    .cancel_command = "",
    .is_here = local_is_here,
    .identify = local_identify,
    .granted = local_granted,
};

static const struct scheduler_ops *const schedulers[] = {
    &scheduler_slurm,
};

const struct scheduler_ops *scheduler_for(const struct scheduler *how)
{
    for (size_t i = 0; how->on && i < sizeof schedulers / sizeof *schedulers; i++) {
        if (strcmp(schedulers[i]->kind, how->kind) == 0)
            return schedulers[i];
    }
    return &scheduler_local;
}

const struct scheduler_ops *scheduler_here(void)
{
    for (size_t i = 0; i < sizeof schedulers / sizeof *schedulers; i++) {
        if (schedulers[i]->is_here())
            return schedulers[i];
    }
    return &scheduler_local;
}

bool task_state_is_final(enum task_state state)
{
    return state == TASK_CANCELLED || state == TASK_ENDED;
}

void task_list_release(struct task_list *list)
{
    free(list->item);
    *list = (struct task_list){.item = NULL};
}
