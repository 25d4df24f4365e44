#include "common/contract/occupancy.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum { SIMDS = 4, SGPR_GRANULE = 16 };

/* CDNA: four SIMDs of eight waves, 512 registers per lane, VGPRs and AGPRs in one pool, and 800 SGPRs;
 * gfx1250: of 16 waves of 32 lanes, 1024 registers. NVIDIA: four partitions of 16384 registers, which are 512
 * per lane of one warp. */
static const struct gpu_limits table[] = {
    {"gfx90a", 65536, 512, 0, SIMDS * 512, 104, 32, 0, 64, 8, 800, false},
    {"gfx942", 65536, 512, 0, SIMDS * 512, 304, 32, 0, 64, 8, 800, false},
    {"gfx950", 163840, 1280, 0, SIMDS * 512, 256, 32, 0, 64, 8, 800, false},
    {"gfx1250", 327680, 1, 0, SIMDS * 1024, 0, 64, 0, 32, 16, 0, false},
    {"sm_80", 167936, 128, 1024, SIMDS * 512, 108, 64, 32, 32, 8, 0, true},
    {"sm_90", 233472, 128, 1024, SIMDS * 512, 132, 64, 32, 32, 8, 0, true},
    {"sm_100", 233472, 128, 1024, SIMDS * 512, 148, 64, 32, 32, 8, 0, true},
    {"sm_103", 233472, 128, 1024, SIMDS * 512, 0, 64, 32, 32, 8, 0, true},
    {"sm_120", 102400, 128, 1024, SIMDS * 512, 0, 48, 24, 32, 8, 0, true},
};

const struct gpu_limits *gpu_limits_of(const char *arch)
{
    for (size_t i = 0; arch && i < sizeof table / sizeof *table; i++) {
        size_t len = strlen(table[i].arch);
        /* "gfx942:sramecc+:xnack-" and "sm_90a" are the same architecture */
        if (strncmp(arch, table[i].arch, len) == 0 && (!arch[len] || strchr(":af", arch[len])))
            return &table[i];
    }
    return NULL;
}

static double align_up(double v, double to)
{
    return ceil(v / to) * to;
}

/* The AGPRs of a lane follow its VGPRs, aligned to four. */
static double registers_of(const struct kernel_use *k)
{
    return k->agprs > 0 ? align_up(k->vgprs, 4) + k->agprs : k->vgprs;
}

static double waves_by_sgprs(const struct kernel_use *k, const struct gpu_limits *g)
{
    return g->sgpr_pool > 0 && k->sgprs > 0 ? SIMDS * floor(g->sgpr_pool / align_up(k->sgprs, SGPR_GRANULE))
                                            : INFINITY;
}

static double waves_by_registers(const struct kernel_use *k, const struct gpu_limits *g)
{
    double each = align_up(registers_of(k), g->register_granule);
    if (isnan(each))
        return (double)NAN;
    return fmin(fmin(g->waves, waves_by_sgprs(k, g)), SIMDS * floor(g->register_pool / SIMDS / each));
}

static double blocks_by_lds(const struct kernel_use *k, const struct gpu_limits *g)
{
    return floor(g->lds / (align_up(k->lds, g->lds_granule) + g->lds_reserved));
}

static enum occupancy_limit limit_of(const struct occupancy *o, const struct gpu_limits *g, double by_blocks)
{
    if (o->by_lds <= o->waves)
        return LIMIT_LDS;
    if (o->waves < g->waves && o->by_registers <= o->waves)
        return LIMIT_REGISTERS;
    return o->waves < g->waves && by_blocks <= o->waves ? LIMIT_BLOCKS : LIMIT_SLOTS;
}

struct occupancy occupancy_of(const struct kernel_use *k, const struct gpu_limits *g)
{
    struct occupancy o = {.limit = LIMIT_NONE};
    o.waves_per_block = ceil(k->threads / g->lanes);
    o.lanes_used = k->threads / (o.waves_per_block * g->lanes);
    o.by_registers = waves_by_registers(k, g);
    o.by_lds = k->lds > 0 ? blocks_by_lds(k, g) * o.waves_per_block : (double)NAN;
    double by_blocks = g->blocks ? g->blocks * o.waves_per_block : INFINITY;
    /* fmin() takes the number where one is NaN */
    o.waves = fmin(fmin(g->waves, by_blocks), fmin(o.by_registers, o.by_lds));
    o.limit = limit_of(&o, g, by_blocks);
    o.blocks = floor(o.waves / o.waves_per_block);
    return o;
}

double occupancy_per_simd(const struct kernel_use *k, const struct gpu_limits *g)
{
    return floor(waves_by_registers(k, g) / SIMDS);
}
