// HIP's API on three platforms, under its own names, and nothing else.
//   amd     HIP itself (ROCm's or Debian's)
//   nvidia  nvidia.h: the hip* names in use, mapped to cuda*
//   cpu     cpu.h, cpu_*.cpp: a block's threads as fibers, blocks spread over the cores; for testing only
// Kernels are written in plain HIP. Only names that kernels/ uses are mapped: add a name to all platforms
// when it is first needed. Knows nothing of attention.
#pragma once

#if defined(KS_PLATFORM_AMD)
#include <hip/hip_runtime.h>
#define KS_WAVE 64
#elif defined(KS_PLATFORM_NVIDIA)
#include "device/nvidia.h"
#define KS_WAVE 32
#elif defined(KS_PLATFORM_CPU)
#include "device/cpu.h"
#define KS_WAVE KS_CPU_WAVE
#else
#error "define KS_PLATFORM_AMD, KS_PLATFORM_NVIDIA or KS_PLATFORM_CPU: kernels/Makefile does"
#endif
