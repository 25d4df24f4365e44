#include "executor/run/profiler.h"

#include "common/base/alloc.h"
#include "common/base/buf.h"

#include <stdlib.h>
#include <string.h>

bool profiler_is_admin_only(const char *params)
{
    const char *at = strstr(params, "RmProfilingAdminOnly:");
    return at && strtol(at + strlen("RmProfilingAdminOnly:"), NULL, 10) == 1;
}

void profiler_command(const struct counters *c, enum counters_tool tool, const char *csv, const char *folder,
                      struct strvec *out)
{
    const char *names[LIMIT_COUNTERS + 1];
    AUTO(buf_release) struct buf list = {.max = (size_t)LIMIT_COUNTERS * (LIMIT_COUNTER_NAME + 1)};
    counters_names(c, tool, names);
    if (tool == COUNTERS_ROCPROFV3) {
        strvec_pushl(out, "rocprofv3", "--pmc", NULL);
        strvec_push_all(out, names);
        strvec_pushl(out, "--output-format", "csv", "-d", folder, "-o", "counters", "--", NULL);
        return;
    }
    for (size_t i = 0; names[i]; i++)
        buf_printf(&list, "%s%s", i ? "," : "", names[i]);
    strvec_pushl(out, "ncu", "--csv", "--page", "raw", "--print-units", "base", "--metrics", buf_str(&list),
                 "--clock-control", "none", "--target-processes", "all", "--log-file", csv, NULL);
}
