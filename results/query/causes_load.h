/* causes_load: what the causes of a comparison are read from: the runs that stand for "before" with their
 * kernels and plans, and the clocks of the nights. Errors: ERR_STORAGE. */
#ifndef KERNSWEEP_RESULTS_QUERY_CAUSES_LOAD_H
#define KERNSWEEP_RESULTS_QUERY_CAUSES_LOAD_H

#include "results/query/against.h"

/* Fills in c->causes anew: again after suspects have been measured in turns. */
int causes_load(const struct against *a, const struct run_data *now, struct comparison *c, struct err *err);

#endif
