/* occupancy: how many waves of a kernel fit on a compute unit, and what limits them.
 *
 * Pure arithmetic on what the compiler reported (resources.json) and what is known of the architecture; an
 * unknown number is NaN and limits nothing. "Wave" and "compute unit" are AMD's words for a warp
 * and an SM.
 */
#pragma once

#include <stdbool.h>

struct gpu_limits {
    const char *arch;     /* as compilers name it */
    double lds;           /* bytes per unit */
    int lds_granule;      /* a block gets a multiple of it */
    int lds_reserved;     /* bytes of a block that the system takes */
    double register_pool; /* waves x registers per lane that a unit holds */
    int units;            /* compute units of the device; 0: not the same for all */
    int waves;            /* at most, per unit */
    int blocks;           /* at most, per unit; 0: as many as their waves allow */
    int lanes;            /* of a wave */
    int register_granule;
    int sgpr_pool; /* of a SIMD; 0: SGPRs limit nothing */
    bool nvidia;   /* reports then say warp, SM and shared memory */
};

/* NULL for an architecture that is not in the table. */
const struct gpu_limits *gpu_limits_of(const char *arch);

/* What is known about one kernel from the compiler and the launch. */
struct kernel_use {
    double vgprs; /* per lane, without AGPRs */
    double agprs;
    double sgprs;   /* per wave */
    double scratch; /* bytes per lane */
    double lds;     /* bytes per block, static and dynamic */
    double threads; /* per block */
};

enum occupancy_limit { LIMIT_NONE, LIMIT_REGISTERS, LIMIT_LDS, LIMIT_SLOTS, LIMIT_BLOCKS };

struct occupancy {
    double waves_per_block;
    double lanes_used;   /* of the block's waves, as a share */
    double by_registers; /* waves per unit */
    double by_lds;
    double blocks; /* per unit, by the lowest limit */
    double waves;  /* per unit, by the lowest limit */
    enum occupancy_limit limit;
};

/* Returns how many waves of a SIMD (NVIDIA: warps of a partition) its registers let in; NaN unknown. */
double occupancy_per_simd(const struct kernel_use *k, const struct gpu_limits *g);
struct occupancy occupancy_of(const struct kernel_use *k, const struct gpu_limits *g);
