/* facts: the differences between the circumstances of two runs: node, mode, sources and every recorded fact.
 * Pure. The owner calls fact_list_release().
 */
#pragma once

#include "results/store/run_data.h"

/* A fact that differs between the runs; "" where unknown. */
struct fact_change {
    char key[RUN_FACT_MAX];
    char base[RUN_FACT_MAX];
    char now[RUN_FACT_MAX];
};

struct fact_list {
    struct fact_change *items; /* node, mode and source first, then by key */
    size_t count;
    size_t cap;
};

/* a is the base. */
void compare_facts(const struct run_data *a, const struct run_data *b, struct fact_list *out);
/* Nothing if they are the same. */
void fact_list_add(struct fact_list *out, const char *key, const char *base, const char *now);
void fact_list_release(struct fact_list *l);
