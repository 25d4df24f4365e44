// Shared by cpu_runtime.cpp and cpu_scheduler.cpp only.
#pragma once

#include <string>

// Sets the device's last error, unless one is pending.
void ks_cpu_launch_failed(const std::string &message);

// The number of blocks that run concurrently: KERNSWEEP_CPU_WORKERS, or the hardware's threads.
unsigned ks_cpu_worker_count();
