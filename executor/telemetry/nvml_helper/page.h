/* page: what the NVML helper passes to the executor, in shared memory. Each GPU has a slot, which a thread of
 * the helper writes and the executor copies; `turn` is a sequence lock: odd during a write, increased by two
 * with each sample. What is not available is NaN, or -1 for integers.
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

enum {
    NVML_GPUS_MAX = 16,
    NVML_PROCESSES_MAX = 32,
    NVML_TEXT_MAX = 96,
    NVML_PCI_MAX = 32,
    NVML_POWERS_MAX = 128
};

/* A byte on the helper's pipe is one of these plus a GPU's index. It requests a sample of that GPU in which
 * slow values may be a tenth of a second old and the list of processes half a second, or one with all new. */
#define NVML_ASK_TICK 0x40
#define NVML_ASK_NEW 0x80
/* Requests the latter of all GPUs. */
#define NVML_ASK_ALL '!'

/* The helper's open descriptors; 0 is a pipe on which each byte requests a sample, and whose end makes it
 * exit. */
enum { NVML_FD_PAGE = 3, NVML_FD_DONE = 4 };

struct nvml_gpu {
    char name[NVML_TEXT_MAX], uuid[NVML_TEXT_MAX];
    char pci[NVML_PCI_MAX]; /* as sysfs has it: 0000:c1:00.0; "" unknown */
    int32_t major, minor;   /* compute capability */
    double total_bytes, used_bytes;
    double busy, mem_busy; /* percent */
    double power_w, temp_c, sm_mhz, mem_mhz;
    double energy_j;       /* since the driver was loaded; only where all is new */
    double uncorrectable;  /* memory errors since the driver was loaded; as energy_j */
    double event_reasons;  /* NVML's bits of what limits the clock */
    uint64_t slow_samples; /* how often load, power, temperature, clocks and reasons were read */
};

struct nvml_process {
    int64_t pid;
    double used_bytes;
};

/* The power as the driver itself noted it, at a time of CLOCK_MONOTONIC. */
struct nvml_power {
    double at_s, watts;
};

struct nvml_sample {
    struct nvml_gpu gpu;
    double cpu_s; /* CPU time of the helper so far */
    int32_t process_count;
    struct nvml_process process[NVML_PROCESSES_MAX];
    int32_t power_count; /* of the last seconds; only where all is new */
    struct nvml_power power[NVML_POWERS_MAX];
};

struct nvml_slot {
    _Atomic uint32_t turn;
    _Atomic uint64_t served; /* requests, in the order in which they were made, as far as they were for it */
    struct nvml_sample sample;
};

struct nvml_page {
    _Atomic int32_t gpu_count; /* 0: nothing is known yet, and the rest has no meaning */
    char driver[NVML_TEXT_MAX];
    int32_t pid; /* the helper's */
    struct nvml_slot slot[NVML_GPUS_MAX];
};
