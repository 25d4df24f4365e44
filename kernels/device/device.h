// The thin layer under the kernels: HIP's own names on three platforms, and nothing else.
//   amd     HIP itself (ROCm's or Debian's)
//   nvidia  nvidia.h: the few hip* names used here, mapped onto cuda*
//   cpu     cpu.h and cpu.cpp: a block's threads as fibers, blocks over the cores; for correctness, not speed
// Kernels are written in plain HIP. A name that is used nowhere in kernels/ is not mapped: add it in all
// the platforms when it is first needed. Knows nothing of attention.
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
