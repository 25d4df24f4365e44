#include "common/contract/settings.h"

#include "common/contract/size.h"

#include <string.h>

static const char *const modes[] = {"perf", "debug", NULL};
static const char *const prompt_tokens[] = {"if_printed", "required", NULL};
static const char *const clocks[] = {"process", "simulated", NULL};
const char *const placement_names[] = {"point", "cell", "every", NULL};
const char *const clocks_mode_names[] = {"leave", "determinism", "fixed", NULL};
const char *const clocks_unverified_names[] = {"block", "warn", NULL};

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
    {.name = "gpus", .kind = KEY_PART, .in = IN_BOTH},
    {.name = "variants", .kind = KEY_PART, .in = IN_BOTH, .required = true},
    {.name = NULL},
};

bool settings_mode_ok(const char *mode)
{
    return strcmp(mode, modes[0]) == 0 || strcmp(mode, modes[1]) == 0;
}

int settings_check(const struct settings *s, const struct json_at *root, bool scheduled, struct err *err)
{
    struct json_at at = json_member(root, "clocks");
    const char *mode = clocks_mode_names[s->clocks_mode];
    if (s->clocks_mode == CLOCKS_LEAVE) {
        if (s->clocks_mhz == 0 || !at.value || json_object_get(at.value, "mode"))
            return 0;
        return json_fail(&at, err, "\"mhz\" needs a \"mode\": \"determinism\" or \"fixed\"");
    }
    if (s->clocks_mhz == 0)
        return json_fail(&at, err, "the mode \"%s\" needs \"mhz\"", mode);
    if (scheduled)
        return json_fail(&at, err,
                         "the mode \"%s\" is not available through a scheduler: have the cluster set clocks "
                         "(Slurm: --gpu-freq)",
                         mode);
    return 0;
}
