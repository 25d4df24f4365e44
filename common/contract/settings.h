/* settings: the simple keys that a plan and the job made from it have in common: names, and the limits within
 * which a test runs. A new one is a row of settings.def. Strings are borrowed from the JSON.
 */
#pragma once

#include "common/contract/keys.h"

#define DAY_S 86400.0
#define WEEK_S (7 * DAY_S)
/* Bounds of the time-outs that a plan gives per context and a job per test. */
#define TEST_TIMEOUT_MIN_S 0.001
#define TEST_TIMEOUT_MAX_S WEEK_S
/* Bounds of the half width of a median's interval, in percent. */
#define UNTIL_MIN 0.01
#define UNTIL_MAX 100.0
enum { LIMIT_CONTEXT = 1 << 30, LIMIT_TICKET = 32, CLOCKS_MHZ_MAX = 5000 };

enum prompt_tokens { PROMPT_TOKENS_IF_PRINTED, PROMPT_TOKENS_REQUIRED };
/* Whose time the printed timings are: the process's own, so none exceeds its wall time, or a simulator's. */
enum clock { CLOCK_OF_PROCESS, CLOCK_SIMULATED };

/* What a run does with the GPUs' shader clock: nothing, set its upper limit, or set both limits to one
 * frequency. */
enum clocks_mode { CLOCKS_LEAVE, CLOCKS_DETERMINISM, CLOCKS_FIXED };
/* What becomes of a run whose samples do not show those clocks. */
enum clocks_unverified { CLOCKS_BLOCK, CLOCKS_WARN };

/* What stays on one GPU of several, and what is spread over them. */
enum gpu_placement {
    PLACEMENT_POINT, /* all variants of a point: they compare with each other */
    PLACEMENT_CELL,
    PLACEMENT_EVERY, /* each cell is measured on each GPU */
};

struct settings {
#define SETTING(kind, member, ...) KEY_TYPE_##kind member;
#define SETTING_IN(kind, member, ...) KEY_TYPE_##kind member;
#include "common/contract/settings.def"
};

/* Includes the parts that both documents have: env, secrets, source, timings, metrics,
 * scheduler, gpus, variants. */
extern const struct key settings_keys[];

extern const char *const placement_names[];
extern const char *const clocks_mode_names[];
extern const char *const clocks_unverified_names[];

/* Checks what no row can express. root: the plan or the job; scheduled: its tests run through a scheduler. */
int settings_check(const struct settings *s, const struct json_at *root, bool scheduled, struct err *err);
bool settings_mode_ok(const char *mode);
