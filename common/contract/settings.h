/* settings: the simple keys that a plan shares with the job made from it: names, and the limits of a test. A
 * new one needs only a member here and a row in settings.c. Strings are borrowed from the JSON. Times are in
 * seconds.
 */
#ifndef KERNSWEEP_COMMON_CONTRACT_SETTINGS_H
#define KERNSWEEP_COMMON_CONTRACT_SETTINGS_H

#include "common/contract/keys.h"

#define DAY_S 86400.0
#define WEEK_S (7 * DAY_S)
/* Bounds of the time-outs that a plan gives per context and a job per test. */
#define TEST_TIMEOUT_MIN_S 0.001
#define TEST_TIMEOUT_MAX_S WEEK_S
enum { LIMIT_CONTEXT = 1 << 30, LIMIT_TICKET = 32 };

enum prompt_tokens { PROMPT_TOKENS_IF_PRINTED, PROMPT_TOKENS_REQUIRED };

struct settings {
    const char *ticket, *tag;
    const char *mode;  /* "perf" or "debug" */
    const char *model; /* a file on the node that the tests read, or NULL */
    double build_timeout_s, lock_wait_s, kill_grace_s;
    double hang_after_s, no_output_timeout_s; /* 0: off */
    double vram_settle_s;                     /* longest wait for GPU memory to be freed after a test */
    int64_t vram_tolerance_bytes;
    int64_t sample_interval_ms, log_limit_bytes;
    enum prompt_tokens prompt_tokens;
};

/* Includes the parts that both documents have: env, secrets, source, timings, scheduler, variants. */
extern const struct key settings_keys[];

bool settings_mode_ok(const char *mode);

#endif
