/* A way to set clocks: NVML's locked clocks. The driver does not tell whether clocks are locked, so putting
 * them back means releasing them. */
#include "executor/node/clocks_control.h"

#include "common/base/text.h"
#include "executor/telemetry/nvml.h"

#include <stdio.h>

static bool nvml_works_with(const struct clocks_gpu *gpu)
{
    return gpu->nvidia;
}

static enum control_result run_helper(const char *const *words, struct err *err)
{
    struct run_result res;
    char said[200];
    if (nvml_command(words, NULL, &res, err) != 0)
        return CONTROL_FAILED;
    if (res.exited && res.exit_code == NVML_CONTROL_DONE)
        return CONTROL_DONE;
    text_printable_fixed(said, sizeof said, res.stderr_text, res.stderr_len > 0 ? res.stderr_len - 1 : 0);
    err_set(err, ERR_NODE, "NVML: %s", *said ? said : "the NVML helper failed");
    return res.exited && res.exit_code == NVML_CONTROL_DENIED ? CONTROL_DENIED : CONTROL_FAILED;
}

static enum control_result nvml_hold(const struct clocks_gpu *gpu, const struct clocks_request *want,
                                     struct err *err)
{
    char lower[16], upper[16];
    snprintf(lower, sizeof lower, "%d", want->mode == CLOCKS_FIXED ? want->mhz : 0);
    snprintf(upper, sizeof upper, "%d", want->mhz);
    return run_helper((const char *const[]){"lock", gpu->name, lower, upper, NULL}, err);
}

static enum control_result nvml_put_back(const struct clocks_gpu *gpu, const struct clocks_state *before,
                                         struct err *err)
{
    (void)before;
    return run_helper((const char *const[]){"release", gpu->name, NULL}, err);
}

const struct clocks_control clocks_by_nvml = {
    .name = "nvml",
    .works_with = nvml_works_with,
    .hold = nvml_hold,
    .put_back = nvml_put_back,
};
