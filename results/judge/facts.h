/* facts: what was different around two runs: the node, the mode, the sources, and every recorded fact. Pure.
 * The owner calls fact_list_release().
 */
#ifndef KERNSWEEP_RESULTS_JUDGE_FACTS_H
#define KERNSWEEP_RESULTS_JUDGE_FACTS_H

#include "results/store/run_data.h"

/* A fact that differs between the sides; "" where a side does not know it. */
struct fact_change {
    char key[RUN_FACT_MAX];
    char base[RUN_FACT_MAX];
    char now[RUN_FACT_MAX];
};

struct fact_list {
    struct fact_change *items; /* node, mode and source first, then by key */
    size_t count;
};

/* a is the base. On error *out is empty. */
int compare_facts(const struct run_data *a, const struct run_data *b, struct fact_list *out, struct err *err);
void fact_list_release(struct fact_list *l);

#endif
