/* The NVML helper: a separate program, because the executor is static and NVIDIA's library must be loaded by
 * the node's own dynamic loader. The executor embeds it, starts it from memory where there is an NVIDIA
 * driver, and requests samples through a pipe; it exits when the pipe closes. It declares the prototypes
 * itself, so that no part of CUDA is needed to build it. */
#include "executor/telemetry/nvml_helper/control.h"
#include "executor/telemetry/nvml_helper/due.h"
#include "executor/telemetry/nvml_helper/page.h"

#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { NVML_UNCORRECTED = 1, NVML_VOLATILE = 0 };
enum { NVML_TEMPERATURE_GPU = 0, NVML_CLOCK_SM = 1, NVML_CLOCK_MEM = 2, NVML_POWER_INSTANT = 186 };
enum { NVML_TOTAL_POWER = 0, NVML_UNSIGNED_INT = 1, NOTED_MAX = 1024 };

/* The driver updates load, power, temperature and clocks no faster. */
static const double slow_interval_s = 0.1;
/* So much earlier than the ticks they are read, since the driver may be busy, as with a process that starts.
 */
static const double ahead_s = 0.03;
static const double process_interval_s = 0.5;

struct memory_info {
    unsigned long long total, free, used;
};

struct utilization {
    unsigned gpu, memory;
};

struct process_info {
    unsigned pid;
    unsigned long long used;
    unsigned gpu_instance, compute_instance;
};

struct pci_info {
    char legacy[16];
    unsigned domain, bus, device, id, subsystem;
    char address[32]; /* 00000000:C1:00.0 */
};

struct field_value {
    unsigned field, scope;
    long long timestamp, latency_us;
    unsigned type; /* 1: unsigned int */
    int rc;
    union {
        double d;
        unsigned u;
        unsigned long long ull;
    } value;
};

struct noted {
    unsigned long long at_us; /* since 1970 */
    union {
        double d;
        unsigned u;
        unsigned long long ull;
    } value;
};

struct library {
    int (*init)(void);
    int (*driver_version)(char *, unsigned);
    int (*count)(unsigned *);
    int (*handle)(unsigned, void **);
    int (*name)(void *, char *, unsigned);
    int (*uuid)(void *, char *, unsigned);
    int (*pci)(void *, struct pci_info *);
    int (*errors)(void *, int, int, unsigned long long *);
    int (*capability)(void *, int *, int *);
    int (*memory)(void *, struct memory_info *);
    int (*utilization)(void *, struct utilization *);
    int (*power)(void *, unsigned *);
    int (*temperature)(void *, int, unsigned *);
    int (*clock)(void *, int, unsigned *);
    int (*processes)(void *, unsigned *, struct process_info *);
    int (*energy)(void *, unsigned long long *);
    int (*event_reasons)(void *, unsigned long long *);
    int (*fields)(void *, int, struct field_value *);
    int (*noted)(void *, int, unsigned long long, int *, unsigned *, struct noted *);
};

/* A GPU has a thread of its own, so that none waits for what the driver says of another. */
struct worker {
    const struct library *lib;
    void *device;
    struct nvml_slot *slot;
    struct nvml_sample now;
    struct due slow, processes;
    double asked_s;       /* when a sample was last requested */
    pthread_mutex_t lock; /* of the rest */
    pthread_cond_t wake;
    bool wanted, all_new; /* a sample; one in which all is new */
    uint64_t request;     /* the last that it answers */
};

struct helper {
    struct library lib;
    struct nvml_page *page;
    struct worker worker[NVML_GPUS_MAX];
    int32_t count;
    uint64_t taken; /* requests */
};

static int load_library(struct library *lib)
{
    void *l = nvml_library();
    if (!l)
        return -1;
    nvml_find(l, "nvmlInit_v2", &lib->init);
    nvml_find(l, "nvmlSystemGetDriverVersion", &lib->driver_version);
    nvml_find(l, "nvmlDeviceGetCount_v2", &lib->count);
    nvml_find(l, "nvmlDeviceGetHandleByIndex_v2", &lib->handle);
    nvml_find(l, "nvmlDeviceGetName", &lib->name);
    nvml_find(l, "nvmlDeviceGetUUID", &lib->uuid);
    nvml_find(l, "nvmlDeviceGetPciInfo_v3", &lib->pci);
    nvml_find(l, "nvmlDeviceGetTotalEccErrors", &lib->errors);
    nvml_find(l, "nvmlDeviceGetCudaComputeCapability", &lib->capability);
    nvml_find(l, "nvmlDeviceGetMemoryInfo", &lib->memory);
    nvml_find(l, "nvmlDeviceGetUtilizationRates", &lib->utilization);
    nvml_find(l, "nvmlDeviceGetPowerUsage", &lib->power);
    nvml_find(l, "nvmlDeviceGetTemperature", &lib->temperature);
    nvml_find(l, "nvmlDeviceGetClockInfo", &lib->clock);
    nvml_find(l, "nvmlDeviceGetComputeRunningProcesses_v3", &lib->processes);
    nvml_find(l, "nvmlDeviceGetTotalEnergyConsumption", &lib->energy);
    nvml_find(l, "nvmlDeviceGetFieldValues", &lib->fields);
    nvml_find(l, "nvmlDeviceGetSamples", &lib->noted);
    nvml_find(l, "nvmlDeviceGetCurrentClocksEventReasons", &lib->event_reasons);
    if (!lib->event_reasons) /* its name in older drivers */
        nvml_find(l, "nvmlDeviceGetCurrentClocksThrottleReasons", &lib->event_reasons);
    return lib->init && lib->count && lib->handle && lib->memory && lib->init() == 0 ? 0 : -1;
}

/* sysfs writes the domain with four digits, and in lower case. */
static void read_pci(const struct library *lib, void *device, char *out)
{
    struct pci_info info;
    if (!lib->pci || lib->pci(device, &info) != 0)
        return;
    info.address[sizeof info.address - 1] = '\0';
    const char *from =
        strncmp(info.address, "0000", 4) == 0 && strlen(info.address) > 12 ? info.address + 4 : info.address;
    for (; *from; from++)
        *out++ = (char)(*from >= 'A' && *from <= 'F' ? *from - 'A' + 'a' : *from);
    *out = '\0';
}

static void open_gpu(struct helper *h, unsigned index)
{
    struct worker *w = &h->worker[h->count];
    struct nvml_gpu *g = &w->now.gpu;
    int major, minor;
    if (h->lib.handle(index, &w->device) != 0)
        return;
    *g = (struct nvml_gpu){.major = -1,
                           .minor = -1,
                           .total_bytes = NAN,
                           .used_bytes = NAN,
                           .uncorrectable = NAN,
                           .energy_j = NAN};
    if (h->lib.name)
        h->lib.name(w->device, g->name, sizeof g->name);
    if (h->lib.uuid)
        h->lib.uuid(w->device, g->uuid, sizeof g->uuid);
    read_pci(&h->lib, w->device, g->pci);
    if (h->lib.capability && h->lib.capability(w->device, &major, &minor) == 0) {
        g->major = major;
        g->minor = minor;
    }
    w->lib = &h->lib;
    w->slot = &h->page->slot[h->count];
    w->slot->sample = w->now;
    h->count++;
}

static int open_gpus(struct helper *h)
{
    unsigned count = 0;
    if (h->lib.driver_version)
        h->lib.driver_version(h->page->driver, sizeof h->page->driver);
    if (h->lib.count(&count) != 0)
        return -1;
    for (unsigned i = 0; i < count && i < NVML_GPUS_MAX; i++)
        open_gpu(h, i);
    return h->count > 0 ? 0 : -1;
}

static double now_s(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void sample_memory(struct worker *w)
{
    struct memory_info m;
    struct nvml_gpu *g = &w->now.gpu;
    int rc = w->lib->memory(w->device, &m);
    g->total_bytes = rc == 0 ? (double)m.total : NAN;
    g->used_bytes = rc == 0 ? (double)m.used : NAN;
}

/* Returns the power of this moment or, where the card has only its mean over a second, that one. */
static double power_w(const struct library *lib, void *device)
{
    struct field_value now = {.field = NVML_POWER_INSTANT, .rc = -1};
    unsigned mw;
    if (lib->fields && lib->fields(device, 1, &now) == 0 && now.rc == 0 && now.type == 1 && now.value.u > 0)
        return now.value.u * 1e-3;
    return lib->power && lib->power(device, &mw) == 0 ? mw * 1e-3 : NAN;
}

static double clock_mhz(const struct library *lib, void *device, int which)
{
    unsigned mhz;
    return lib->clock && lib->clock(device, which, &mhz) == 0 ? (double)mhz : NAN;
}

static void sample_slow(struct worker *w)
{
    const struct library *lib = w->lib;
    struct nvml_gpu *g = &w->now.gpu;
    struct utilization u;
    unsigned long long wide;
    unsigned x;
    int rc = lib->utilization ? lib->utilization(w->device, &u) : -1;
    g->busy = rc == 0 ? (double)u.gpu : NAN;
    g->mem_busy = rc == 0 ? (double)u.memory : NAN;
    g->power_w = power_w(lib, w->device);
    g->temp_c =
        lib->temperature && lib->temperature(w->device, NVML_TEMPERATURE_GPU, &x) == 0 ? (double)x : NAN;
    g->sm_mhz = clock_mhz(lib, w->device, NVML_CLOCK_SM);
    g->mem_mhz = clock_mhz(lib, w->device, NVML_CLOCK_MEM);
    g->event_reasons = lib->event_reasons && lib->event_reasons(w->device, &wide) == 0 ? (double)wide : NAN;
    g->slow_samples++;
}

static void sample_errors(struct worker *w)
{
    unsigned long long count;
    bool known = w->lib->errors && w->lib->errors(w->device, NVML_UNCORRECTED, NVML_VOLATILE, &count) == 0;
    w->now.gpu.uncorrectable = known ? (double)count : NAN;
}

/* Reading the energy costs some 4 ms of CPU time on an H100, so it is read only while nothing is timed. */
static void sample_energy(struct worker *w)
{
    unsigned long long mj;
    bool known = w->lib->energy && w->lib->energy(w->device, &mj) == 0;
    w->now.gpu.energy_j = known ? (double)mj * 1e-3 : NAN;
}

/* The driver notes the power every 20 ms or so, and keeps the last seconds. */
static void sample_powers(struct worker *w)
{
    struct noted list[NOTED_MAX];
    unsigned count = NOTED_MAX;
    int type = 0;
    double booted_s = now_s(CLOCK_REALTIME) - now_s(CLOCK_MONOTONIC);
    w->now.power_count = 0;
    if (!w->lib->noted || w->lib->noted(w->device, NVML_TOTAL_POWER, 0, &type, &count, list) != 0 ||
        type != NVML_UNSIGNED_INT || count > NOTED_MAX)
        return;
    for (unsigned i = count > NVML_POWERS_MAX ? count - NVML_POWERS_MAX : 0; i < count; i++)
        w->now.power[w->now.power_count++] = (struct nvml_power){
            .at_s = (double)list[i].at_us * 1e-6 - booted_s, .watts = list[i].value.u * 1e-3};
}

static void sample_processes(struct worker *w)
{
    struct process_info list[NVML_PROCESSES_MAX];
    unsigned count = NVML_PROCESSES_MAX;
    w->now.process_count = 0;
    if (!w->lib->processes || w->lib->processes(w->device, &count, list) != 0)
        return;
    for (unsigned p = 0; p < count && p < NVML_PROCESSES_MAX; p++) {
        double used = list[p].used == ~0ull ? NAN : (double)list[p].used;
        w->now.process[w->now.process_count++] =
            (struct nvml_process){.pid = list[p].pid, .used_bytes = used};
    }
}

static void sample(struct worker *w, bool all_new)
{
    double now = now_s(CLOCK_MONOTONIC);
    if (all_new) /* a test's ticks begin with it */
        w->slow.at_s = now - ahead_s;
    bool slow = due_take(&w->slow, now, slow_interval_s),
         processes = due_take(&w->processes, now, process_interval_s) || all_new;
    sample_memory(w);
    if (slow)
        sample_slow(w);
    if (all_new) {
        sample_energy(w);
        sample_powers(w);
        sample_errors(w);
    }
    if (processes)
        sample_processes(w);
    w->now.cpu_s = now_s(CLOCK_PROCESS_CPUTIME_ID);
}

/* Nobody waits for the samples of ticks, so they wake nobody. */
static void publish(const struct worker *w, uint64_t request, bool awaited)
{
    const uint64_t one = 1;
    atomic_fetch_add(&w->slot->turn, 1);
    memcpy(&w->slot->sample, &w->now, sizeof w->now);
    atomic_fetch_add(&w->slot->turn, 1);
    atomic_store(&w->slot->served, request);
    if (awaited)
        (void)!write(NVML_FD_DONE, &one, sizeof one);
}

/* Until a sample is requested or, between the requests of ticks, slow values are due: a tick takes what is
 * there, so it would find those that it requests itself only at the next one. */
static void wait_for_turn(struct worker *w)
{
    double until_s = w->slow.at_s;
    const time_t whole_s = (time_t)until_s;
    const struct timespec until = {.tv_sec = whole_s, .tv_nsec = (long)((until_s - (double)whole_s) * 1e9)};
    bool is_asked = until_s < w->asked_s + 2 * slow_interval_s;
    for (int rc = 0; !w->wanted && rc == 0;)
        rc = is_asked ? pthread_cond_timedwait(&w->wake, &w->lock, &until)
                      : pthread_cond_wait(&w->wake, &w->lock);
}

static void *work(void *arg)
{
    struct worker *w = arg;
    for (;;) {
        pthread_mutex_lock(&w->lock);
        wait_for_turn(w);
        if (w->wanted)
            w->asked_s = now_s(CLOCK_MONOTONIC);
        bool all_new = w->all_new;
        uint64_t request = w->request;
        w->wanted = w->all_new = false;
        pthread_mutex_unlock(&w->lock);
        sample(w, all_new);
        publish(w, request, all_new);
    }
    return NULL;
}

static int start_workers(struct helper *h)
{
    pthread_condattr_t monotonic;
    if (pthread_condattr_init(&monotonic) != 0 || pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC) != 0)
        return -1;
    for (int32_t i = 0; i < h->count; i++) {
        struct worker *w = &h->worker[i];
        pthread_t thread;
        if (pthread_mutex_init(&w->lock, NULL) != 0 || pthread_cond_init(&w->wake, &monotonic) != 0 ||
            pthread_create(&thread, NULL, work, w) != 0)
            return -1;
    }
    return 0;
}

/* Requests that arrive while a GPU is sampled are answered together. */
static void hand_over(struct helper *h, int32_t index, bool all_new)
{
    struct worker *w = &h->worker[index];
    if (index >= h->count)
        return;
    pthread_mutex_lock(&w->lock);
    w->wanted = true;
    w->all_new |= all_new;
    w->request = h->taken;
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->lock);
}

static void take_request(struct helper *h, unsigned char what)
{
    h->taken++;
    for (int32_t i = 0; what == NVML_ASK_ALL && i < h->count; i++)
        hand_over(h, i, true);
    if (what >= NVML_ASK_NEW)
        hand_over(h, what - NVML_ASK_NEW, true);
    else if (what >= NVML_ASK_TICK)
        hand_over(h, what - NVML_ASK_TICK, false);
}

int main(int argc, char **argv)
{
    static struct helper h;
    unsigned char requests[64];
    if (argc > 1)
        return nvml_control(argc, argv);
    h.page = mmap(NULL, sizeof *h.page, PROT_READ | PROT_WRITE, MAP_SHARED, NVML_FD_PAGE, 0);
    if (h.page == MAP_FAILED || load_library(&h.lib) != 0 || open_gpus(&h) != 0 || start_workers(&h) != 0)
        return 1; /* no sample arrives, so the executor measures nothing */
    h.page->pid = (int32_t)getpid();
    atomic_store(&h.page->gpu_count, h.count);
    for (ssize_t n; (n = read(0, requests, sizeof requests)) > 0;)
        for (ssize_t i = 0; i < n; i++)
            take_request(&h, requests[i]);
    return 0;
}
