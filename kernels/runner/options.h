// The command line of the runner's programs. Every mistake is one line that names it, thrown as bad input.
#pragma once

#include "attention/attention.h"

#include <cstdint>
#include <string>
#include <vector>

// Walks `--name value` and `--name=value` pairs and flags.
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

// Throws when there is no device.
void require_device();

// The tokens that GRETA_MAX_SEQ_LEN allows; 0 when it is not set.
int token_limit();

attn_dtype dtype_option(const std::string &text);

// Whether the option is one of those by which programs are told the heads, the format and the mask.
bool heads_option(arguments &args, attn_shape &shape);

// The variant that `wanted` names. When it is empty: the one that GRETA_PREFILL_LDS_TILING, _SEGMENTED or
// _Q_LDS switches on, else the only one compiled in, else baseline.
const attn_variant &choose_variant(const std::string &wanted);

// What no variant can run, what this one cannot, and what the device has no memory for.
void check_shape(const attn_shape &shape, const attn_variant &variant);
