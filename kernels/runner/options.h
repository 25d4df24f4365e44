// Command-line parsing shared by the programs. Every mistake is thrown as bad input, with a one-line message.
#pragma once

#include "attention/attention.h"

#include <cstdint>
#include <string>
#include <vector>

// Iterates over `--name value`, `--name=value` and flags.
class arguments
{
  public:
    arguments(int argc, char **argv) : words_(argv + 1, argv + argc)
    {
    }
    // Moves to the next option; false at the end.
    bool next();
    bool is(const char *name) const
    {
        return name_ == name;
    }
    std::string text();
    int number(int least, int most);
    uint64_t seed();
    [[noreturn]] void unknown() const;

  private:
    std::vector<std::string> words_;
    size_t at_ = 0;
    std::string name_, value_;
    bool has_value_ = false;
};

// Throws if there is no device.
void require_device();

// GRETA_MAX_SEQ_LEN, the largest context; 0 if it is not set.
int token_limit();

attn_dtype dtype_option(const std::string &text);

// Parses the options for heads, format and mask; false if the current option is none of them.
bool heads_option(arguments &args, attn_shape &shape);

// The variant named `wanted`. If empty: the one that GRETA_PREFILL_LDS_TILING, _SEGMENTED or _Q_LDS selects,
// else the only one compiled in, else baseline.
const attn_variant &choose_variant(const std::string &wanted);

// Throws for shapes that no variant supports, that this one does not, or that do not fit in device memory.
void check_shape(const attn_shape &shape, const attn_variant &variant);
