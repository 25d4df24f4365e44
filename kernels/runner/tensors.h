// Device memory of one attention problem: seeded normal Q, K and V, a poisoned and guarded O, scratch.
// Owns the memory. Errors are thrown as struct failure; too little memory is bad input.
#pragma once

#include "attention/attention.h"
#include "base/device_memory.h"

#include <cstdint>
#include <vector>

// Every word of O before a launch, and of the guard after it always. A NaN in all three types.
constexpr uint32_t poison_word = 0x7fba7fbau;

size_t query_elements(const attn_shape &shape); // of Q, and of O
size_t key_elements(const attn_shape &shape);   // of K, and of V

class tensors
{
  public:
    tensors(const attn_shape &shape, const attn_variant &variant);

    // Bytes of device memory that a problem takes.
    static size_t bytes(const attn_shape &shape, const attn_variant &variant);

    void fill(uint64_t seed);
    void poison();
    attn_args args() const;

    // The tensors as the device has them; o with its guard.
    struct host_copy {
        std::vector<unsigned char> q, k, v, o;
    };
    host_copy copy() const;

  private:
    attn_shape shape_;
    device_memory q_, k_, v_, o_, scratch_;
};
