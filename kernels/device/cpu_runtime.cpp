// The CPU device's runtime API: memory, events, properties, and the last error.
#include "device/cpu.h"
#include "device/cpu_internal.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <new>
#include <string>

namespace
{
// As in HIP, the last error is sticky until hipGetLastError reads it.
std::mutex error_lock;
hipError_t last_error = hipSuccess;
std::string launch_failure;

hipError_t keep_error(hipError_t error)
{
    std::lock_guard<std::mutex> guard(error_lock);
    last_error = error;
    return error;
}

size_t meminfo_bytes(const char *key)
{
    std::FILE *file = std::fopen("/proc/meminfo", "re");
    char line[256];
    unsigned long long kib = 0;
    while (file && std::fgets(line, sizeof line, file)) {
        if (std::strncmp(line, key, std::strlen(key)) == 0 && std::sscanf(line, "%*s %llu", &kib) == 1)
            break;
    }
    if (file)
        std::fclose(file);
    return static_cast<size_t>(kib) << 10;
}
} // namespace

struct ks_cpu_event {
    std::chrono::steady_clock::time_point time;
};

void ks_cpu_launch_failed(const std::string &message)
{
    std::lock_guard<std::mutex> guard(error_lock);
    if (last_error != hipSuccess)
        return;
    last_error = hipErrorLaunchFailure;
    launch_failure = message;
}

hipError_t hipGetLastError()
{
    std::lock_guard<std::mutex> guard(error_lock);
    const hipError_t error = last_error;
    last_error = hipSuccess;
    return error;
}

const char *hipGetErrorString(hipError_t error)
{
    switch (error) {
    case hipSuccess:
        return "no error";
    case hipErrorInvalidValue:
        return "invalid value";
    case hipErrorOutOfMemory:
        return "out of memory";
    case hipErrorLaunchFailure:
        return launch_failure.c_str();
    }
    return "unknown error";
}

hipError_t hipMalloc(void **pointer, size_t bytes)
{
    const size_t rounded = (bytes + 255) / 256 * 256;
    *pointer = std::aligned_alloc(256, rounded ? rounded : 256);
    return *pointer ? hipSuccess : keep_error(hipErrorOutOfMemory);
}

hipError_t hipFree(void *pointer)
{
    std::free(pointer);
    return hipSuccess;
}

hipError_t hipMemcpy(void *to, const void *from, size_t bytes, hipMemcpyKind)
{
    std::memcpy(to, from, bytes);
    return hipSuccess;
}

hipError_t hipMemcpyAsync(void *to, const void *from, size_t bytes, hipMemcpyKind kind, hipStream_t)
{
    return hipMemcpy(to, from, bytes, kind);
}

hipError_t hipMemsetAsync(void *to, int value, size_t bytes, hipStream_t)
{
    std::memset(to, value, bytes);
    return hipSuccess;
}

hipError_t hipMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
    *free_bytes = meminfo_bytes("MemAvailable:");
    *total_bytes = meminfo_bytes("MemTotal:");
    return hipSuccess;
}

hipError_t hipGetDevice(int *device)
{
    *device = 0;
    return hipSuccess;
}

hipError_t hipGetDeviceCount(int *count)
{
    *count = 1;
    return hipSuccess;
}

hipError_t hipGetDeviceProperties(hipDeviceProp_t *properties, int)
{
    *properties = {};
    std::snprintf(properties->name, sizeof properties->name, "cpu");
    properties->multiProcessorCount = static_cast<int>(ks_cpu_worker_count());
    properties->l2CacheSize = 1 << 20;
    properties->sharedMemPerBlock = KS_CPU_LDS_BYTES;
    return hipSuccess;
}

hipError_t hipDeviceGetAttribute(int *value, hipDeviceAttribute_t attribute, int)
{
    switch (attribute) {
    case hipDeviceAttributeMultiprocessorCount:
        *value = static_cast<int>(ks_cpu_worker_count());
        return hipSuccess;
    }
    return keep_error(hipErrorInvalidValue);
}

hipError_t hipDeviceSynchronize()
{
    return hipSuccess;
}

hipError_t hipEventCreate(hipEvent_t *event)
{
    *event = new (std::nothrow) ks_cpu_event;
    return *event ? hipSuccess : keep_error(hipErrorOutOfMemory);
}

hipError_t hipEventDestroy(hipEvent_t event)
{
    delete event;
    return hipSuccess;
}

hipError_t hipEventRecord(hipEvent_t event, hipStream_t)
{
    event->time = std::chrono::steady_clock::now();
    return hipSuccess;
}

hipError_t hipEventSynchronize(hipEvent_t)
{
    return hipSuccess;
}

hipError_t hipEventElapsedTime(float *milliseconds, hipEvent_t start, hipEvent_t stop)
{
    *milliseconds = std::chrono::duration<float, std::milli>(stop->time - start->time).count();
    return hipSuccess;
}
