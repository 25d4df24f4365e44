/* launches: whether a kernel's time grows with batch x heads although the device has room.
 *
 * One launch is one measured shape of a kernel. It is held against the smallest launch of the same kernel,
 * length and head size: how much more work it is, how much longer it takes, and how much longer one may
 * expect, which is the rounds that the blocks of its grid need on the device's units. A kernel whose grid
 * is unknown (a library's) is judged as if each block handled LAUNCH_QUERIES queries. Knows nothing of
 * stores and reports; numbers that were not measured are NaN, and what needs them is NaN or false.
 */
#ifndef KERNSWEEP_RESULTS_JUDGE_LAUNCHES_H
#define KERNSWEEP_RESULTS_JUDGE_LAUNCHES_H

#include <stdbool.h>
#include <stddef.h>

/* A launch counts as serialised when its time grows by this share of the work or more while units stay idle.
 */
#define LAUNCH_SERIAL_SHARE 0.8

enum { LAUNCH_QUERIES = 64 };

struct launch {
    const char *kernel;
    double ms;
    double batch;
    double heads;
    double seq;
    double head_dim;
    double blocks; /* of the grid */
    double block_threads;
    double query_threads; /* of a block, that compute */
    double units;         /* of the device */
};

struct launch_growth {
    bool has_fellow; /* the same kernel was launched at this length with more or less work: else the rest says
                        nothing */
    bool largest;    /* none of the same kernel and length has more work */
    bool grid_known;
    double work; /* batch x heads, against the smallest launch; so the next two */
    double expected;
    double actual;
    double blocks; /* of the grid; where that is not known, as many as LAUNCH_QUERIES a block make */
    bool serialised;
};

struct launch_growth launch_growth(const struct launch *all, size_t count, size_t index);

#endif
