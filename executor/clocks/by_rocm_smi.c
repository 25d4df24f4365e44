/* A way to set clocks: rocm-smi, amd-smi's predecessor, which names GPUs by their number among AMD's. */
#include "executor/clocks/tool.h"

#include <stdio.h>
#include <string.h>

#define PROGRAM "rocm-smi"

static bool rocm_smi_works_with(const struct clocks_gpu *gpu)
{
    return !gpu->nvidia && tool_find(PROGRAM, NULL);
}

/* second may be "". */
static enum control_result set(const struct clocks_gpu *gpu, const char *option, const char *first,
                               const char *second, struct err *err)
{
    struct tool_words w = {{"-d", "", "--autorespond", "y", "", "", ""}};
    snprintf(w.word[1], TOOL_WORD_MAX, "%d", gpu->index);
    snprintf(w.word[4], TOOL_WORD_MAX, "%s", option);
    snprintf(w.word[5], TOOL_WORD_MAX, "%s", first);
    snprintf(w.word[6], TOOL_WORD_MAX, "%s", second);
    return tool_run(PROGRAM, &w, err);
}

static enum control_result set_range(const struct clocks_gpu *gpu, int min_mhz, int max_mhz, struct err *err)
{
    char lower[16], upper[16];
    snprintf(lower, sizeof lower, "%d", min_mhz);
    snprintf(upper, sizeof upper, "%d", max_mhz);
    enum control_result r = set(gpu, "--setperflevel", "manual", "", err);
    return r == CONTROL_DONE ? set(gpu, "--setsrange", lower, upper, err) : r;
}

static enum control_result set_determinism(const struct clocks_gpu *gpu, int mhz, struct err *err)
{
    char text[16];
    snprintf(text, sizeof text, "%d", mhz);
    return set(gpu, "--setperfdeterminism", text, "", err);
}

static enum control_result rocm_smi_hold(const struct clocks_gpu *gpu, const struct clocks_request *want,
                                         struct err *err)
{
    struct clocks_state before, expected;
    clocks_state_read(gpu, &before);
    control_expected(want, &before, &expected);
    enum control_result r = want->mode == CLOCKS_FIXED ? set_range(gpu, want->mhz, want->mhz, err)
                                                       : set_determinism(gpu, want->mhz, err);
    return r == CONTROL_DONE ? control_await(gpu, &expected, err) : r;
}

static enum control_result rocm_smi_put_back(const struct clocks_gpu *gpu, const struct clocks_state *before,
                                             struct err *err)
{
    enum control_result r;
    if (strcmp(before->level, "perf_determinism") == 0 && before->max_mhz > 0)
        r = set_determinism(gpu, before->max_mhz, err);
    else if (strcmp(before->level, "manual") == 0 && before->max_mhz > 0)
        r = set_range(gpu, before->min_mhz, before->max_mhz, err);
    else
        r = set(gpu, "--setperflevel", before->level, "", err);
    return r == CONTROL_DONE ? control_await(gpu, before, err) : r;
}

const struct clocks_control clocks_by_rocm_smi = {
    .name = "rocm-smi",
    .works_with = rocm_smi_works_with,
    .hold = rocm_smi_hold,
    .put_back = rocm_smi_put_back,
};
