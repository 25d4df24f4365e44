// Timers for the host (monotonic clock) and the device (events).
#pragma once

#include "base/hip_check.h"

#include <chrono>

class host_timer
{
  public:
    double seconds() const
    {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    }

  private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

class device_timer
{
  public:
    device_timer()
    {
        hip_check(hipEventCreate(&start_), "cannot create an event");
        hip_check(hipEventCreate(&stop_), "cannot create an event");
    }
    ~device_timer()
    {
        (void)hipEventDestroy(start_);
        (void)hipEventDestroy(stop_);
    }
    device_timer(const device_timer &) = delete;
    device_timer &operator=(const device_timer &) = delete;

    void start()
    {
        hip_check(hipEventRecord(start_, nullptr), "cannot record an event");
    }
    void stop()
    {
        hip_check(hipEventRecord(stop_, nullptr), "cannot record an event");
    }
    // Waits for the work between start and stop; its errors surface here.
    double seconds(const char *what)
    {
        float milliseconds = 0;
        hip_check(hipEventSynchronize(stop_), std::string(what) + " failed");
        hip_check(hipEventElapsedTime(&milliseconds, start_, stop_), std::string(what) + " failed");
        return milliseconds * 1e-3;
    }

  private:
    hipEvent_t start_ = nullptr, stop_ = nullptr;
};
