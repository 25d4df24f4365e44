/* hosts: whether one of the machines that shared a run is slower than the others.
 *
 * A scheduler spreads the tests of a run over equal machines (run_test.host). In each cell that several of
 * them ran, a machine's median is set against the middle of all machines' medians; the middle of these ratios
 * over the cells is its standing, and a sign test says whether so many cells lie on one side by chance. Pure:
 * reads a loaded run. Tests without a host, warm-up ones and those that are not OK take no part.
 */
#ifndef KERNSWEEP_RESULTS_JUDGE_HOSTS_H
#define KERNSWEEP_RESULTS_JUDGE_HOSTS_H

#include "results/judge/verdict.h"

enum host_verdict { HOST_ALIKE, HOST_SLOW, HOST_FAST, HOST_UNKNOWN, HOST_VERDICT_COUNT };

struct host_standing {
    char host[RUN_NAME_MAX];
    int tests;
    int cells;    /* that others ran too */
    int worse;    /* of these, the ones in which it is worse than the middle */
    double ratio; /* its value against the middle; NaN without such cells */
    double p;     /* of the sign test, adjusted over the machines; NaN without such cells */
    enum host_verdict verdict;
};

const char *host_verdict_name(enum host_verdict v);

/* By name; *out is to be free()d. A machine stands out when its ratio is beyond options->practical and the
 * sign test beyond chance; with too few cells for that test, beyond options->regression in every one. */
int hosts_compare(const struct run_data *run, enum metric m, const struct compare_options *options,
                  struct host_standing **out, size_t *count, struct err *err);

#endif
