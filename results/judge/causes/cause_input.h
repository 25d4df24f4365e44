/* cause_input: what causes are found from besides the comparison. Plain data; everything is borrowed. */
#pragma once

#include "results/judge/causes/cause_differences.h"
#include "results/judge/nights/nights.h"
#include "results/judge/together.h"

struct causes_input {
    struct cause_run now;
    int64_t base_key;                /* the store's row of the base; 0: none */
    const struct nights *nights;     /* of the primary metric; NULL: none */
    const struct together *together; /* how much cells suffer from tests beside them; NULL: not known */
    const struct history *clocks;    /* METRIC_SCLK_MHZ on those nights; NULL: none */
    const struct cause_run *befores; /* the runs that causes_before() and causes_onset() named */
    size_t n_befores;
    /* Makes what a before and an onset (NULL: none) hold readable until the next call; false: it is not. NULL
     * if everything is readable; else only which runs they are before it is called. */
    bool (*open)(void *arg, const struct cause_run *before, const struct cause_run *onset);
    void *arg;
};
