#include "common/contract/settings.h"

#include <string.h>

static const char *const modes[] = {"perf", "debug", NULL};
static const char *const prompt_tokens[] = {"if_printed", "required", NULL};

static bool is_model(const char *path)
{
    return path[0] != '~' || (path[1] == '/' && path[2] && path[2] != '~');
}

const struct key settings_keys[] = {
    {KEY_AT(struct settings, ticket), .kind = KEY_NAME, .in = IN_BOTH, .required = true,
     .most = LIMIT_TICKET},
    {KEY_AT(struct settings, tag), .kind = KEY_NAME, .in = IN_BOTH, .or_empty = true, .most = LIMIT_TICKET,
     .text = ""},
    {KEY_AT(struct settings, mode), .kind = KEY_WORD, .in = IN_BOTH, .words = modes, .text = "perf"},
    {KEY_AT(struct settings, model), .kind = KEY_TEXT, .in = IN_BOTH, .least = 1, .most = 1024,
     .accepts = is_model, .expected = "a path on the node, absolute or below the home folder"},
    {KEY_AT(struct settings, build_timeout_s), .kind = KEY_NUMBER, .in = IN_BOTH, .least = 0.001,
     .most = DAY_S, .usual = 600},
    {KEY_AT(struct settings, lock_wait_s), .kind = KEY_NUMBER, .in = IN_BOTH, .most = WEEK_S},
    {KEY_AT(struct settings, kill_grace_s), .kind = KEY_NUMBER, .in = IN_BOTH, .most = 600, .usual = 2},
    {KEY_AT(struct settings, hang_after_s), .kind = KEY_NUMBER, .in = IN_BOTH, .most = DAY_S},
    {KEY_AT(struct settings, no_output_timeout_s), .kind = KEY_NUMBER, .in = IN_BOTH, .most = DAY_S},
    {KEY_AT(struct settings, vram_settle_s), .kind = KEY_NUMBER, .in = IN_BOTH, .most = 600, .usual = 10},
    {KEY_AT(struct settings, vram_tolerance_bytes), .kind = KEY_COUNT, .in = IN_BOTH, .most = 1LL << 40,
     .usual = 64 << 20},
    {.name = "interval_ms",
     .object = "sampling",
     .job_name = "sample_interval_ms",
     .offset = offsetof(struct settings, sample_interval_ms),
     .kind = KEY_COUNT,
     .in = IN_BOTH,
     .least = 5,
     .most = 60000,
     .usual = 100},
    {KEY_AT(struct settings, log_limit_bytes), .kind = KEY_COUNT, .in = IN_BOTH, .least = 4096,
     .most = 256 << 20, .usual = 1 << 20},
    {KEY_AT(struct settings, prompt_tokens), .kind = KEY_CHOICE, .in = IN_BOTH, .words = prompt_tokens},
    {.name = "source", .kind = KEY_PART, .in = IN_BOTH},
    {.name = "env", .kind = KEY_PART, .in = IN_BOTH},
    {.name = "secrets", .kind = KEY_PART, .in = IN_BOTH},
    {.name = "timings", .kind = KEY_PART, .in = IN_BOTH},
    {.name = "scheduler", .kind = KEY_PART, .in = IN_BOTH},
    {.name = "variants", .kind = KEY_PART, .in = IN_BOTH, .required = true},
    {.name = NULL},
};

bool settings_mode_ok(const char *mode)
{
    return strcmp(mode, modes[0]) == 0 || strcmp(mode, modes[1]) == 0;
}
