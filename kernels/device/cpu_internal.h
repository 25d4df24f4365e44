// Between cpu_runtime.cpp and cpu_scheduler.cpp only.
#pragma once

#include <string>

// Makes `message` the device's last error, unless one is pending.
void ks_cpu_launch_failed(const std::string &message);

// Blocks run at a time: the processors this process may use, or KERNSWEEP_CPU_WORKERS.
unsigned ks_cpu_worker_count();
