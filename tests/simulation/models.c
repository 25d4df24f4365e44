#include "tests/simulation/simulated.h"

#include <string.h>

static const struct noise_model models[] = {
    {.name = "common-0.5", .node = 0.005, .within = 0.007},
    {.name = "common-1.5", .node = 0.015, .within = 0.007},
    {.name = "common-3", .node = 0.03, .within = 0.007},
    {.name = "cell-1.5", .cell = 0.015, .within = 0.007},
    {.name = "clock-by-night", .clock_night = 0.07, .within = 0.007},
    {.name = "clock-within", .clock_test = 0.07, .within = 0.007},
    {.name = "clock-cut", .clock_cut = 0.07, .within = 0.007},
    {.name = "ar1-node", .node = 0.02, .node_memory = 0.7, .within = 0.007},
    {.name = "ar1-cell", .cell = 0.02, .cell_memory = 0.7, .within = 0.007},
    {.name = "heavy-tail", .node = 0.005, .tail = 0.3, .within = 0.007},
    {.name = "ramp", .node = 0.005, .drift = 0.003, .within = 0.007},
    {.name = "steps-1", .node = 0.005, .step = 0.01, .within = 0.007},
    {.name = "steps-2.5", .node = 0.005, .step = 0.025, .within = 0.007},
    {.name = "ticks",
     .node = 0.005,
     .within = 0.007,
     .tick = 0.0005,
     .low = 0.005,
     .high = 0.06,
     .metric = METRIC_KERNEL_MS},
    {.name = "spikes", .node = 0.005, .spike = 0.2, .within = 0.007},
    {.name = "night-spikes", .node = 0.005, .spikes = 0.03, .within = 0.007},
    {.name = "uneven", .node = 0.005, .uneven = 0.07, .uneven_by = 0.03, .within = 0.007},
    {.name = "states", .node = 0.005, .states = 0.08, .within = 0.007},
    {.name = "mix-loud", .node = 0.015, .node_memory = 0.5, .cell = 0.01, .tail = 0.15, .within = 0.01},
    {.name = "mix-steps", .node = 0.01, .cell = 0.005, .step = 0.01, .spike = 0.1, .within = 0.007},
    {.name = "mix-drift", .node = 0.01, .cell = 0.003, .drift = 0.001, .clock_night = 0.03, .within = 0.007},
};

const struct noise_model *noise_models(size_t *count)
{
    *count = sizeof models / sizeof *models;
    return models;
}

const struct noise_model *noise_model_named(const char *name)
{
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        if (strcmp(models[i].name, name) == 0)
            return &models[i];
    return NULL;
}
