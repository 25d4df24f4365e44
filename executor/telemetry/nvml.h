/* nvml: NVIDIA GPUs. NVIDIA's library needs a dynamic program, and the executor is static: it embeds a small
 * helper (nvml_helper/helper.c), starts it from memory, and reads its answers from a shared page. The helper
 * is not a child of the executor, which would defeat the proof that a test left no process (see process), and
 * ends with the executor. Without an NVIDIA driver, or where the helper cannot run, nothing is measured. Open
 * it before process_become_subreaper().
 */
#pragma once

#include "common/base/run.h"
#include "executor/telemetry/nvml_helper/control.h"
#include "executor/telemetry/nvml_helper/page.h"
#include "executor/workdir/layout.h"

#include <stdbool.h>
#include <sys/types.h>

enum { NVML_USERS_MAX = NVML_GPUS_MAX * NVML_PROCESSES_MAX };

/* A process on a GPU. */
struct nvml_user {
    int64_t pid;
    int32_t gpu;
    double used_bytes;
};

/* What is known of all GPUs, each as of its own newest sample. */
struct nvml_facts {
    int32_t gpu_count, process_count;
    char driver[NVML_TEXT_MAX];
    double cpu_s; /* CPU time of the helper so far */
    struct nvml_gpu gpu[NVML_GPUS_MAX];
    struct nvml_user process[NVML_USERS_MAX];
};

struct nvml {
    int ask;  /* -1 when there is no helper */
    int done; /* eventfd: readable when what was asked for by nvml_ask() may be there; -1 as `ask` */
    struct nvml_page *page;
    uint64_t sent;     /* requests */
    uint32_t used;     /* by index: the GPUs that ticks ask for; 0: all */
    const void *asker; /* whose tick requested the last sample */
    int64_t asked_ns;
    int64_t spacing_ns; /* how long that sample serves the others, too: set by whoever samples */
};

void nvml_open(struct nvml *n, const struct layout *l);
void nvml_close(struct nvml *n);
/* Returns 0 if there is no helper. */
pid_t nvml_helper_pid(const struct nvml *n);
/* Requests a sample in which everything of the GPUs is new, and waits for nothing. gpus: at most
 * NVML_GPUS_MAX indices; count 0: all GPUs. Returns what to ask nvml_answered() about; 0: no helper. */
uint64_t nvml_ask(struct nvml *n, const int32_t *gpus, size_t count);
/* Whether nvml_peek() gives what was requested of these GPUs. */
bool nvml_answered(const struct nvml *n, uint64_t request, const int32_t *gpus, size_t count);
/* Makes `done` wait for the next answer. */
void nvml_drain(const struct nvml *n);
/* Waits for a sample in which everything is new, at most timeout_ms. Not to be called while tests run. */
bool nvml_fresh(struct nvml *n, int timeout_ms, struct nvml_facts *out);
/* Gives the newest sample available. */
bool nvml_peek(const struct nvml *n, struct nvml_facts *out);
/* Gives that of one GPU, with its power of the last seconds. */
bool nvml_peek_one(const struct nvml *n, int32_t gpu, struct nvml_sample *out);
/* Gives the same, and requests the next one, of the GPUs in n->used, without waiting. One of several askers
 * requests for all of them, as long as it goes on. asker: any pointer that is the asker's own. */
bool nvml_latest(struct nvml *n, const void *asker, struct nvml_facts *out);

/* Runs the helper as a command (nvml_helper/control.h): a process of its own that ends before the call
 * returns. words: after the program's name, NULL-terminated, at most 5. out (may be NULL): its standard
 * output. Returns -1 when it could not be run; else its exit code is in res. */
int nvml_command(const char *const *words, struct buf *out, struct run_result *res, struct err *err);
