/* launches: whether a kernel's time grows with batch x heads although the device has room.
 *
 * One launch is one measured shape of a kernel. It is compared with the smallest launch of the same kernel,
 * length and head size: how much more work it is, how much longer it takes, and how much longer it should
 * take, which follows from the number of waves that the blocks of its grid need on the device's units. A
 * kernel whose grid is unknown (a library's) is judged as if each block handled LAUNCH_QUERIES queries.
 * Numbers that were not measured are NaN, and results that depend on them are NaN or false.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* A launch is serialised if its time grows by at least this share of the work while units stay idle. */
#define LAUNCH_SERIAL_SHARE 0.8

#define LAUNCH_OUTGROWN 2

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
    double query_threads; /* of a block, without those that only load */
    double units;         /* of the device */
};

struct launch_growth {
    bool has_peer; /* the same kernel was launched at this length with other work; the rest is meaningless if
                      not */
    bool largest;  /* none of the same kernel and length has more work */
    bool grid_known;
    double work;     /* batch x heads, relative to the smallest launch */
    double expected; /* time, relative to the smallest launch */
    double actual;
    double blocks; /* of the grid; if unknown, with LAUNCH_QUERIES queries per block */
    bool serialised;
};

struct launch_growth launch_growth(const struct launch *all, size_t count, size_t index);
/* For the largest launch of a kernel whose time grows like its work: the launch of another kernel at the same
 * shape whose time grows least over the same work, and at least LAUNCH_OUTGROWN times less. `count` if there
 * is none. */
size_t launch_outgrown_by(const struct launch *all, size_t count, size_t index);
