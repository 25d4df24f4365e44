// The tensors of one attention problem on the device: seeded, normally distributed Q, K and V, a poisoned and
// guarded O, and scratch. Owns the memory. Throws struct failure; too little memory is bad input.
#pragma once

#include "attention/attention.h"
#include "base/device_memory.h"

#include <cstdint>
#include <vector>

// Fills O before a launch, and the guard behind it. A NaN in all three types.
constexpr uint32_t poison_word = 0x7fba7fbau;

size_t query_elements(const attn_shape &shape); // of Q and of O
size_t key_elements(const attn_shape &shape);   // of K and of V

class tensors
{
  public:
    tensors(const attn_shape &shape, const attn_variant &variant);

    // Device memory that a problem takes.
    static size_t bytes(const attn_shape &shape, const attn_variant &variant);

    void fill(uint64_t seed);
    void poison();
    attn_args args() const;

    // Copies of the device's tensors; `o` includes the guard.
    struct host_copy {
        std::vector<unsigned char> q, k, v, o;
    };
    host_copy copy() const;

  private:
    attn_shape shape_;
    device_memory q_, k_, v_, o_, scratch_;
};
