/* occupancy: how many waves of a kernel fit on a compute unit, and which limit says so.
 *
 * Pure arithmetic on what the compiler reported (resources.json) and what is known of the architecture; a
 * number that is not known is NaN and limits nothing. "Wave" and "compute unit" are AMD's words for a warp
 * and an SM.
 */
#ifndef KERNSWEEP_REPORTS_MODEL_OCCUPANCY_H
#define KERNSWEEP_REPORTS_MODEL_OCCUPANCY_H

#include <stdbool.h>

struct gpu_limits {
    const char *arch;     /* as compilers call it */
    double lds;           /* bytes a unit */
    double register_pool; /* waves x registers of a lane that a unit holds */
    int units;            /* compute units of the device */
    int waves;            /* a unit holds at most */
    int blocks;           /* likewise; 0: as many as their waves */
    int lanes;            /* of a wave */
    int register_granule;
    bool nvidia; /* whose words are warp, SM and shared memory */
};

/* NULL for an architecture that is not in the table. */
const struct gpu_limits *gpu_limits_of(const char *arch);

/* What the compiler and the launch say of one kernel. */
struct kernel_use {
    double vgprs; /* a lane, without AGPRs */
    double agprs;
    double scratch; /* bytes a lane */
    double lds;     /* bytes a block, static and dynamic */
    double threads; /* a block */
};

enum occupancy_limit { LIMIT_NONE, LIMIT_REGISTERS, LIMIT_LDS, LIMIT_SLOTS, LIMIT_BLOCKS };

struct occupancy {
    double waves_per_block;
    double lanes_used;   /* of the block's waves, as a share */
    double by_registers; /* waves a unit */
    double by_lds;
    double blocks; /* a unit, by the rule that limits */
    double waves;  /* a unit, likewise */
    enum occupancy_limit limit;
};

struct occupancy occupancy_of(const struct kernel_use *k, const struct gpu_limits *g);

#endif
