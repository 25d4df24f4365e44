// cpu_sanitizer: tells AddressSanitizer which of a worker's stacks runs, and that a stack used before is clean.
// Without it, a fiber's frames look like wild memory. Empty functions where it is not compiled in.
#ifndef KERNSWEEP_KERNELS_DEVICE_CPU_SANITIZER_H
#define KERNSWEEP_KERNELS_DEVICE_CPU_SANITIZER_H

#include <cstddef>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KS_CPU_ASAN
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define KS_CPU_ASAN
#endif

struct ks_stack_bounds {
    const void *bottom = nullptr;
    size_t size = 0;
};

#ifdef KS_CPU_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>

// Before a switch to the stack `to`; `kept` keeps the frames that are left, null for a stack that ends.
inline void ks_switch_begins(void **kept, ks_stack_bounds to)
{
    __sanitizer_start_switch_fiber(kept, to.bottom, to.size);
}
// After it, on the new stack. `from`, unless null, becomes the stack that was left.
inline void ks_switch_ended(void *kept, ks_stack_bounds *from)
{
    __sanitizer_finish_switch_fiber(kept, from ? &from->bottom : nullptr, from ? &from->size : nullptr);
}
inline void ks_stack_is_clean(ks_stack_bounds stack)
{
    __asan_unpoison_memory_region(stack.bottom, stack.size);
}
#else
inline void ks_switch_begins(void **, ks_stack_bounds)
{
}
inline void ks_switch_ended(void *, ks_stack_bounds *)
{
}
inline void ks_stack_is_clean(ks_stack_bounds)
{
}
#endif

#endif
