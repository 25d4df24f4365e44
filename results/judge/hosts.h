/* hosts: whether one of the machines that shared a run is slower than the others.
 *
 * A scheduler distributes the tests of a run over equal machines (run_test.host). In each cell that several
 * of them ran, a machine's median is divided by the median of all machines' medians; the median of these
 * ratios over the cells is the machine's ratio, and a sign test tells whether it may be chance. Pure: reads a
 * loaded run. Tests without a host, warm-up tests and tests that are not OK are ignored.
 */
#ifndef KERNSWEEP_RESULTS_JUDGE_HOSTS_H
#define KERNSWEEP_RESULTS_JUDGE_HOSTS_H

#include "results/judge/verdict.h"

enum host_speed { HOST_ALIKE, HOST_SLOW, HOST_FAST, HOST_UNKNOWN, HOST_SPEED_COUNT };

struct host_standing {
    char host[RUN_NAME_MAX];
    int tests;
    int cells;    /* that others ran too */
    int worse;    /* of these, how many in which it is worse than the median machine */
    double ratio; /* NaN without such cells */
    double p;     /* of the sign test, adjusted over the machines; NaN without such cells */
    enum host_speed speed;
};

const char *host_speed_name(enum host_speed s);

/* Sorted by name; the caller frees *out. A machine is slow or fast if its ratio exceeds options->practical
 * and the sign test is significant; with too few cells for that test, if the ratio exceeds
 * options->regression and all cells agree in direction. */
int hosts_compare(const struct run_data *run, enum metric m, const struct compare_options *options,
                  struct host_standing **out, size_t *count, struct err *err);

#endif
