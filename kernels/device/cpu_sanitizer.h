// Tells AddressSanitizer when a worker switches stacks, and that a reused stack is clean. Without it, a
// fiber's frames look like invalid memory. The functions are empty where the sanitizer is not compiled in.
#pragma once

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

// Call before switching to the stack `to`. `kept` saves the frames of the current stack; null when it ends.
inline void ks_switch_begins(void **kept, ks_stack_bounds to)
{
    __sanitizer_start_switch_fiber(kept, to.bottom, to.size);
}
// Call after the switch, on the new stack. `from`, unless null, receives the previous stack.
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
