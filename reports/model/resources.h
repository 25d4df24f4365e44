/* resources: what a compiler reported for the kernels of one variant (resources.json), decoded, with the
 * occupancy that follows from the limits of its architecture. Foreign JSON: what is missing or of the wrong
 * type is NaN or "". The owner calls resources_release(). schemas/resources.schema.json describes the file.
 */
#pragma once

#include "common/base/err.h"
#include "common/contract/occupancy.h"
#include "results/store/run_data.h"

enum { RESOURCES_KERNELS_MAX = 256, RESOURCES_PORTS_MAX = 8 };

struct port_use {
    char name[32];
    double cycles; /* of the hot loop, on that port alone */
};

struct kernel_resources {
    char name[RUN_FACT_MAX];
    struct kernel_use use;
    double vgpr_spills;
    double sgpr_spills;
    double useful_threads; /* per block, that compute a result */
    double kv_passes;      /* how often K or V is read per output */
    double blocks;         /* the launch has, at the run's largest context */
    double lds_dynamic;    /* bytes per block that the launch requests */
    bool ran;              /* a recorded launch fits it, or it is the only one of its build */
    struct port_use ports[RESOURCES_PORTS_MAX];
    size_t n_ports;
    bool has_occupancy;
    struct occupancy occupancy;
};

struct variant_resources {
    char arch[64];
    char compiler[RUN_FACT_MAX];
    const struct gpu_limits *limits; /* NULL: unknown architecture */
    struct kernel_resources *kernels;
    size_t count;
    size_t ran; /* of the kernels; 0: which of them ran was not recorded */
};

int resources_decode(const char *body, const char *place, struct variant_resources *out, struct err *err);
void resources_release(struct variant_resources *r);

/* Whether the first known architecture is NVIDIA's; reports then use NVIDIA's terms. */
bool resources_nvidia(const struct variant_resources *list, size_t count);

/* The port that bounds the hot loop; NULL without data about ports. */
const struct port_use *resources_bound(const struct kernel_resources *k);
