/* nvml: NVIDIA GPUs. NVIDIA's library needs a dynamic program, and the executor is static: it embeds a small
 * helper (nvml_helper/helper.c), starts it from memory, and reads its answers from a shared page. The helper
 * is not a child of the executor, which would defeat the proof that a test left no process (see process), and
 * ends with the executor. Without an NVIDIA driver, or where the helper cannot run, nothing is measured. Open
 * it before process_become_subreaper().
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
    const void *asker; /* whose tick requested the last sample */
    int64_t asked_ns;
    int64_t spacing_ns; /* how long that sample serves the others, too: set by whoever samples */
};

void nvml_open(struct nvml *n, const struct layout *l);
void nvml_close(struct nvml *n);
/* A descriptor of the helper's program, in memory; the caller closes it. -1 with errno set. */
int nvml_program(void);
/* Waits for a new sample, at most timeout_ms. Not while a test is timed. */
bool nvml_fresh(struct nvml *n, int timeout_ms, struct nvml_facts *out);
/* The newest sample available. */
bool nvml_peek(const struct nvml *n, struct nvml_facts *out);
/* The same, and requests the next one without waiting. Of several askers, one asks for all of them, as long
 * as it does. asker: any pointer that is the asker's own. */
bool nvml_latest(struct nvml *n, const void *asker, struct nvml_facts *out);

#endif
