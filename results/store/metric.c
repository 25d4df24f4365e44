#include "results/store/metric.h"

#include <string.h>

static const struct metric_info table[METRIC_COUNT] = {
    [METRIC_PREFILL_S] = {"prefill_s", "Prefill (s)", "s", true, false, 1e-6},
    [METRIC_TOK_PER_S] = {"tok_per_s", "tok/s", "tok/s", false, false, 0},
    [METRIC_WALL_S] = {"wall_s", "Wall (s)", "s", true, false, 5e-3},
    [METRIC_MODEL_LOAD_S] = {"model_load_s", "Load (s)", "s", true, false, 5e-3},
    [METRIC_TOKENIZE_S] = {"tokenize_s", "Tokenize (s)", "s", true, false, 5e-3},
    [METRIC_DECODE_S] = {"decode_s", "Decode (s)", "s", true, false, 1e-3},
    [METRIC_VRAM_PEAK] = {"vram_peak_bytes", "Peak VRAM (bytes)", "bytes", true, false, 1 << 20},
    [METRIC_RSS_PEAK] = {"rss_peak_bytes", "Peak RSS (bytes)", "bytes", true, false, 1 << 20},
    [METRIC_KERNEL_MS] = {"kernel_ms", "Kernel (ms)", "ms", true, false, 1e-4},
    [METRIC_TFLOPS] = {"tflops", "TFLOP/s", "TFLOP/s", false, false, 0},
    [METRIC_SCRATCH_BYTES] = {"scratch_bytes", "Scratch (bytes/lane)", "bytes", true, true, 0},
    [METRIC_VGPRS] = {"vgprs", "VGPRs", "", true, true, 0},
};

const struct metric_info *metric_info(enum metric m)
{
    return &table[m];
}

bool metric_from_name(const char *name, enum metric *out)
{
    for (int i = 0; i < METRIC_COUNT; i++)
        if (strcmp(table[i].name, name) == 0) {
            *out = (enum metric)i;
            return true;
        }
    return false;
}

enum metric metric_primary(enum metric wanted, const struct metric_set *measured)
{
    const enum metric choices[] = {wanted, METRIC_PREFILL_S, METRIC_KERNEL_MS, METRIC_WALL_S};
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++)
        if (measured->has[choices[i]])
            return choices[i];
    return wanted;
}
