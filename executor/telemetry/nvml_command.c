#include "executor/telemetry/nvml_command.h"

#include "executor/telemetry/nvml.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

enum { WORDS_MAX = 5 };

static const double limit_s = 15;

int nvml_command(const char *const *words, struct buf *out, struct run_result *res, struct err *err)
{
    char path[64];
    const char *argv[WORDS_MAX + 2] = {path};
    int program = nvml_program();
    if (program < 0)
        return err_set_errno(err, ERR_INTERNAL, errno, "cannot keep the NVML helper in memory");
    for (size_t i = 0; i < WORDS_MAX && words[i]; i++)
        argv[i + 1] = words[i];
    /* Not /proc/self: the child has closed its other descriptors when it executes the program. */
    snprintf(path, sizeof path, "/proc/%ld/fd/%d", (long)getpid(), program);
    struct run run = {
        .argv = argv, .on_stdout = out ? run_collect : NULL, .on_stdout_arg = out, .deadline_s = limit_s};
    int rc = run_program(&run, res, err);
    close(program);
    return rc;
}
