/* gpu_metrics: reads the table that amdgpu publishes in sysfs as `gpu_metrics`, versions 1.3 to 1.9.
 *
 * The table begins with its size and version. The layout of 1.3 to 1.8 moved between driver releases, even
 * within one version, so such a table is read beyond its head only if its size is that of a layout described
 * here (the kernel's public header kgd_pp_interface.h, natural alignment); the size tells the two 1.6 and the
 * two 1.8 apart. Of other sizes of 1.4 to 1.8 only the first 16 bytes are read, which are the same in all of
 * them. 1.9 is a list of entries that say what they are and how wide, in any order: what is not known is
 * skipped by its width. Other versions are not read. A field of all ones, or beyond what such a quantity can
 * be, is one that the driver does not fill. throttle_status of 1.4 and 1.5 is not read: the driver leaves it
 * 0 on the cards that have these versions, whether they throttle or not. Pure: bytes in, numbers out; NaN is
 * unknown.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GPU_METRICS_BYTES_MAX = 4096, GPU_METRICS_DIES = 8, GPU_METRICS_RESIDENCIES = 5 };

/* The counters of how long each throttler was active, in units of `accumulations`. */
enum { RESIDENCY_PROCHOT, RESIDENCY_POWER, RESIDENCY_SOCKET, RESIDENCY_REGULATOR, RESIDENCY_MEMORY };

/* A counter that wraps at its own width. */
struct gpu_counter {
    uint64_t value, most; /* most 0: unknown */
};

struct gpu_metrics {
    int format, content; /* 1, 6 */
    bool whole;          /* false: only a part of the table could be read */
    double power_w, hotspot_c, memory_c;
    double busy, memory_busy; /* percent */
    double energy_j;
    double sclk_mhz, sclk_low_mhz; /* mean of the dies, and the slowest */
    int dies;
    double mclk_mhz;
    int partitions;                          /* -1: unknown */
    double partition_busy[GPU_METRICS_DIES]; /* percent, the busiest die of each partition, or each die */
    bool has_status;
    uint64_t status; /* indep_throttle_status */
    struct gpu_counter accumulations, residency[GPU_METRICS_RESIDENCIES];
};

/* Returns false if nothing of the table is known; what it says of its version is given nevertheless. */
bool gpu_metrics_read(const void *bytes, size_t len, struct gpu_metrics *out);
/* Gives the reasons to throttle between two readings (enum throttle): the bits of the later status, and each
 * throttler that was active for at least a tenth of the time. Returns false if they are unknown, as where the
 * counters stand still, or say that all throttlers were active at once, which some firmware does at rest. */
bool gpu_metrics_throttle(const struct gpu_metrics *before, const struct gpu_metrics *now, unsigned *out);
