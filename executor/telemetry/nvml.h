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
    int ask;          /* -1 when there is no helper */
    int done;         /* eventfd */
    int64_t share_ns; /* several read the samples: requests closer together than this are one; 0: none are */
    int64_t asked_ns; /* when the last sample was requested */
    struct nvml_page *page;
};

void nvml_open(struct nvml *n, const struct layout *l);
void nvml_close(struct nvml *n);
/* A descriptor of the helper's program, in memory; the caller closes it. -1 with errno set. */
int nvml_program(void);
/* Waits for a new sample, at most timeout_ms. Not while a test is timed. */
bool nvml_fresh(struct nvml *n, int timeout_ms, struct nvml_facts *out);
/* The newest sample available. */
bool nvml_peek(const struct nvml *n, struct nvml_facts *out);
/* The same, and requests the next one without waiting. */
bool nvml_latest(struct nvml *n, struct nvml_facts *out);

#endif
