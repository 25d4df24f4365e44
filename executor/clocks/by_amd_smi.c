/* A way to set clocks: AMD's program amd-smi. Where sudo lets a user run it, it can set what the user cannot
 * write to sysfs; what it did is read there. */
#include "executor/clocks/tool.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define PROGRAM "amd-smi"

static bool amd_smi_works_with(const struct clocks_gpu *gpu)
{
    return !gpu->nvidia && *gpu->pci && tool_find(PROGRAM, NULL);
}

static enum control_result set_level(const struct clocks_gpu *gpu, const char *level, struct err *err)
{
    struct tool_words w = {{"set", "--gpu", "", "--perf-level", ""}};
    bool determinism = strcmp(level, "perf_determinism") == 0;
    snprintf(w.word[2], TOOL_WORD_MAX, "%s", gpu->pci);
    snprintf(w.word[4], TOOL_WORD_MAX, "%s", determinism ? "determinism" : level);
    for (char *p = w.word[4]; *p; p++)
        *p = (char)toupper((unsigned char)*p);
    return tool_run(PROGRAM, &w, err);
}

static enum control_result set_limit(const struct clocks_gpu *gpu, const char *which, int mhz,
                                     struct err *err)
{
    struct tool_words w = {{"set", "--gpu", "", "--clk-limit", "sclk", "", ""}};
    snprintf(w.word[2], TOOL_WORD_MAX, "%s", gpu->pci);
    snprintf(w.word[5], TOOL_WORD_MAX, "%s", which);
    snprintf(w.word[6], TOOL_WORD_MAX, "%d", mhz);
    return tool_run(PROGRAM, &w, err);
}

static enum control_result set_determinism(const struct clocks_gpu *gpu, int mhz, struct err *err)
{
    struct tool_words w = {{"set", "--gpu", "", "--perf-determinism", ""}};
    snprintf(w.word[2], TOOL_WORD_MAX, "%s", gpu->pci);
    snprintf(w.word[4], TOOL_WORD_MAX, "%d", mhz);
    return tool_run(PROGRAM, &w, err);
}

static enum control_result set_manual(const struct clocks_gpu *gpu, int min_mhz, int max_mhz, struct err *err)
{
    enum control_result r = set_level(gpu, "manual", err);
    if (r == CONTROL_DONE)
        r = set_limit(gpu, "min", min_mhz, err);
    return r == CONTROL_DONE ? set_limit(gpu, "max", max_mhz, err) : r;
}

static enum control_result amd_smi_hold(const struct clocks_gpu *gpu, const struct clocks_request *want,
                                        struct err *err)
{
    struct clocks_state before, expected;
    clocks_state_read(gpu, &before);
    control_expected(want, &before, &expected);
    enum control_result r = want->mode == CLOCKS_FIXED ? set_manual(gpu, want->mhz, want->mhz, err)
                                                       : set_determinism(gpu, want->mhz, err);
    return r == CONTROL_DONE ? control_await(gpu, &expected, err) : r;
}

static enum control_result amd_smi_put_back(const struct clocks_gpu *gpu, const struct clocks_state *before,
                                            struct err *err)
{
    enum control_result r;
    if (strcmp(before->level, "perf_determinism") == 0 && before->max_mhz > 0)
        r = set_determinism(gpu, before->max_mhz, err);
    else if (strcmp(before->level, "manual") == 0 && before->max_mhz > 0)
        r = set_manual(gpu, before->min_mhz, before->max_mhz, err);
    else
        r = set_level(gpu, before->level, err);
    return r == CONTROL_DONE ? control_await(gpu, before, err) : r;
}

const struct clocks_control clocks_by_amd_smi = {
    .name = "amd-smi",
    .works_with = amd_smi_works_with,
    .hold = amd_smi_hold,
    .put_back = amd_smi_put_back,
};
