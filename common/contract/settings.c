#include "common/contract/settings.h"

#include <string.h>

static const char *const modes[] = {"perf", "debug", NULL};
static const char *const prompt_tokens[] = {"if_printed", "required", NULL};
static const char *const clocks[] = {"process", "simulated", NULL};

static bool is_model(const char *path)
{
    return path[0] != '~' || (path[1] == '/' && path[2] && path[2] != '~');
}

const struct key settings_keys[] = {
#define SETTING(type, member, ...)                                                                           \
    {KEY_AT(struct settings, member), .kind = KEY_##type, .in = IN_BOTH, __VA_ARGS__},
#define SETTING_IN(type, member, group, plan_name, ...)                                                      \
    {.name = plan_name,                                                                                      \
     .object = group,                                                                                        \
     .job_name = #member,                                                                                    \
     .offset = offsetof(struct settings, member),                                                            \
     .kind = KEY_##type,                                                                                     \
     .in = IN_BOTH,                                                                                          \
     __VA_ARGS__},
#include "common/contract/settings.def"
    {.name = "source", .kind = KEY_PART, .in = IN_BOTH},
    {.name = "env", .kind = KEY_PART, .in = IN_BOTH},
    {.name = "secrets", .kind = KEY_PART, .in = IN_BOTH},
    {.name = "timings", .kind = KEY_PART, .in = IN_BOTH},
    {.name = "metrics", .kind = KEY_PART, .in = IN_BOTH},
    {.name = "scheduler", .kind = KEY_PART, .in = IN_BOTH},
    {.name = "counters", .kind = KEY_PART, .in = IN_BOTH},
    {.name = "variants", .kind = KEY_PART, .in = IN_BOTH, .required = true},
    {.name = NULL},
};

bool settings_mode_ok(const char *mode)
{
    return strcmp(mode, modes[0]) == 0 || strcmp(mode, modes[1]) == 0;
}
