// Free device memory, and the check by which a program that needs more fails before it allocates anything.
#pragma once

#include "base/hip_check.h"

#include <cstddef>

struct device_room {
    size_t free, total; // bytes
};

inline device_room ask_device_room()
{
    device_room room;
    hip_check(hipMemGetInfo(&room.free, &room.total), "cannot ask the device for its memory");
    return room;
}

inline std::string gib(size_t bytes)
{
    char text[32];
    std::snprintf(text, sizeof text, "%.2f GiB", static_cast<double>(bytes) / (1 << 30));
    return text;
}

// Leaves 5 % free, because libraries and the driver allocate memory themselves. `what` names what needs the
// memory, and how much; it and `remedy` become part of the message.
inline void require_room(size_t bytes, const std::string &what, const std::string &remedy)
{
    const size_t free_bytes = ask_device_room().free;
    if (bytes > free_bytes / 20 * 19)
        bad_input("not enough memory: " + what + "; the device has " + gib(free_bytes) + " free: " + remedy);
}
