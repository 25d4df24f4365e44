/* near: finds the CPUs and the memory near some GPUs, and binds a process to them, for runs that have tests
 * on several GPUs at once. A process never gets more CPUs than this one may use; memory is preferred there,
 * not required. Reads sysfs; knows nothing of lanes.
 */
#pragma once

#include "executor/workdir/layout.h"

#include <sched.h>
#include <stdbool.h>

enum { NEAR_TEXT_MAX = 256 };

struct near {
    bool on; /* there is something to bind to */
    cpu_set_t cpus;
    char text[NEAR_TEXT_MAX]; /* "0-47,96-143", what is left of it for this process; cut with "..." */
    unsigned long nodes;      /* bits of NUMA nodes; 0: unknown */
};

void near_init(struct near *n);
/* Adds the CPUs near a PCI device ("0000:c1:00.0") and its NUMA node; false when sysfs does not say. */
bool near_add(struct near *n, const struct layout *l, const char *pci);
/* Keeps what this process may use, once all are added. Returns false when that is nothing, or everything. */
bool near_settle(struct near *n);
/* Errors of what could not be bound, which is then as it was; 0: none. */
struct near_failure {
    int cpus, memory;
};

/* To be called in a child before exec. Containers may forbid both; old kernels cannot prefer several
 * nodes. */
void near_apply(const struct near *n, struct near_failure *out);

/* Parses a list such as "0-3,8"; false for anything else. */
bool near_parse(const char *list, cpu_set_t *out);
