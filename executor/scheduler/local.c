/* The node itself as a scheduler: nothing is submitted, and the GPUs that tests use are locked, because
 * nothing else protects them from other runs. */
#include "executor/scheduler/scheduler.h"

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
