/* nvml: NVIDIA GPUs. NVIDIA's library can only be loaded by a dynamic program, and this one is static: a
 * small helper (nvml/helper.c), which the executor carries inside and starts from memory, loads it and
 * answers through a shared page. The helper is nobody's child here (it would spoil the proof that a test left
 * nothing, see process) and ends with the executor. Without an NVIDIA driver, or where the helper cannot run,
 * nothing is measured. Open it before process_become_subreaper().
 */
#ifndef KERNSWEEP_EXECUTOR_TELEMETRY_NVML_H
#define KERNSWEEP_EXECUTOR_TELEMETRY_NVML_H

#include "executor/telemetry/nvml_helper/page.h"
#include "executor/workdir/layout.h"

#include <stdbool.h>

struct nvml {
    int ask;  /* -1 when there is no helper */
    int done; /* eventfd */
    struct nvml_page *page;
};

void nvml_open(struct nvml *n, const struct layout *l);
void nvml_close(struct nvml *n);
/* Waits for a new sample, at most timeout_ms. For moments at which nothing is timed. */
bool nvml_fresh(struct nvml *n, int timeout_ms, struct nvml_facts *out);
/* The newest sample that is there; asks for the next without waiting. */
bool nvml_latest(struct nvml *n, struct nvml_facts *out);

#endif
