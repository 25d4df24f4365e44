#include "executor/telemetry/nvml_helper/control.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NVML_OK = 0, NVML_NO_PERMISSION = 4, TEXT_MAX = 96 };

struct library {
    void *handle;
    int (*init)(void);
    int (*count)(unsigned *);
    int (*by_index)(unsigned, void **);
    int (*by_uuid)(const char *, void **);
    int (*uuid)(void *, char *, unsigned);
    const char *(*error)(int);
};

void *nvml_library(void)
{
    const char *file = getenv("KERNSWEEP_NVML_LIBRARY");
    return dlopen(file ? file : "libnvidia-ml.so.1", RTLD_NOW);
}

void nvml_find(void *library, const char *name, void *function)
{
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof symbol);
}

static int open_library(struct library *lib)
{
    *lib = (struct library){.handle = nvml_library()};
    if (!lib->handle)
        return -1;
    nvml_find(lib->handle, "nvmlInit_v2", &lib->init);
    nvml_find(lib->handle, "nvmlDeviceGetCount_v2", &lib->count);
    nvml_find(lib->handle, "nvmlDeviceGetHandleByIndex_v2", &lib->by_index);
    nvml_find(lib->handle, "nvmlDeviceGetHandleByUUID", &lib->by_uuid);
    nvml_find(lib->handle, "nvmlDeviceGetUUID", &lib->uuid);
    nvml_find(lib->handle, "nvmlErrorString", &lib->error);
    return lib->init && lib->count && lib->by_index && lib->init() == NVML_OK ? 0 : -1;
}

static int finish(const struct library *lib, int rc, const char *what)
{
    if (rc == NVML_OK)
        return NVML_CONTROL_DONE;
    fprintf(stderr, "%s: %s (NVML error %d)\n", what, lib->error ? lib->error(rc) : "refused", rc);
    return rc == NVML_NO_PERMISSION ? NVML_CONTROL_DENIED : NVML_CONTROL_FAILED;
}

static int find_gpu(const struct library *lib, const char *uuid, void **out)
{
    int rc = lib->by_uuid ? lib->by_uuid(uuid, out) : -1;
    return finish(lib, rc, "nvmlDeviceGetHandleByUUID");
}

static int lock_clocks(const struct library *lib, char **argv)
{
    int (*lock)(void *, unsigned, unsigned);
    void *gpu;
    nvml_find(lib->handle, "nvmlDeviceSetGpuLockedClocks", &lock);
    int rc = find_gpu(lib, argv[2], &gpu);
    if (rc != NVML_CONTROL_DONE)
        return rc;
    unsigned least = (unsigned)strtoul(argv[3], NULL, 10), most = (unsigned)strtoul(argv[4], NULL, 10);
    return finish(lib, lock ? lock(gpu, least, most) : -1, "nvmlDeviceSetGpuLockedClocks");
}

static int release_clocks(const struct library *lib, char **argv)
{
    int (*release)(void *);
    void *gpu;
    nvml_find(lib->handle, "nvmlDeviceResetGpuLockedClocks", &release);
    int rc = find_gpu(lib, argv[2], &gpu);
    if (rc != NVML_CONTROL_DONE)
        return rc;
    return finish(lib, release ? release(gpu) : -1, "nvmlDeviceResetGpuLockedClocks");
}

/* For functions with one result: int f(device, unsigned *). */
static void print_one(const struct library *lib, void *gpu, const char *uuid, const char *function,
                      const char *key, unsigned divisor)
{
    int (*get)(void *, unsigned *);
    unsigned value;
    nvml_find(lib->handle, function, &get);
    if (get && get(gpu, &value) == NVML_OK)
        printf("%s\t%s\t%u\n", uuid, key, value / divisor);
}

/* For functions with two results: what is set now, and what will be after a restart. */
static void print_current(const struct library *lib, void *gpu, const char *uuid, const char *function,
                          const char *key)
{
    int (*get)(void *, unsigned *, unsigned *);
    unsigned now, pending;
    nvml_find(lib->handle, function, &get);
    if (get && get(gpu, &now, &pending) == NVML_OK)
        printf("%s\t%s\t%u\n", uuid, key, now);
}

static void print_settings(const struct library *lib, void *gpu)
{
    char uuid[TEXT_MAX] = "", vbios[TEXT_MAX] = "";
    int (*version)(void *, char *, unsigned);
    if (!lib->uuid || lib->uuid(gpu, uuid, sizeof uuid) != NVML_OK)
        return;
    nvml_find(lib->handle, "nvmlDeviceGetVbiosVersion", &version);
    if (version && version(gpu, vbios, sizeof vbios) == NVML_OK)
        printf("%s\tvbios\t%s\n", uuid, vbios);
    print_one(lib, gpu, uuid, "nvmlDeviceGetPersistenceMode", "persistence", 1);
    print_one(lib, gpu, uuid, "nvmlDeviceGetPowerManagementLimit", "power_cap_w", 1000);
    print_one(lib, gpu, uuid, "nvmlDeviceGetPowerManagementDefaultLimit", "power_cap_default_w", 1000);
    print_current(lib, gpu, uuid, "nvmlDeviceGetEccMode", "ecc");
    print_current(lib, gpu, uuid, "nvmlDeviceGetMigMode", "mig");
}

static int print_all(const struct library *lib)
{
    unsigned count = 0;
    void *gpu;
    if (lib->count(&count) != NVML_OK)
        return NVML_CONTROL_FAILED;
    for (unsigned i = 0; i < count; i++) {
        if (lib->by_index(i, &gpu) == NVML_OK)
            print_settings(lib, gpu);
    }
    return NVML_CONTROL_DONE;
}

int nvml_control(int argc, char **argv)
{
    struct library lib;
    if (open_library(&lib) != 0) {
        fprintf(stderr, "libnvidia-ml.so.1 cannot be used\n");
        return NVML_CONTROL_FAILED;
    }
    if (argc == 5 && strcmp(argv[1], "lock") == 0)
        return lock_clocks(&lib, argv);
    if (argc == 3 && strcmp(argv[1], "release") == 0)
        return release_clocks(&lib, argv);
    return argc == 2 && strcmp(argv[1], "settings") == 0 ? print_all(&lib) : NVML_CONTROL_USAGE;
}
