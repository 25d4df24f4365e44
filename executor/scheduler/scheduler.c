#include "executor/scheduler/scheduler.h"

#include <stdlib.h>
#include <string.h>

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
