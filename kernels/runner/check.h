// Judges an output against attention computed in fp64 on the host from the same, already rounded inputs.
// Looks at every row when that is cheap, else at a sample that has the first and last rows, the edges of
// tiles, and every head. Knows no variant.
#pragma once

#include "attention/attention.h"
#include "runner/tensors.h"

#include <cstdint>
#include <string>

struct check_result {
    double rel_l2;        // over all rows looked at
    double max_abs;       // largest difference
    double plain_max_abs; // the same of a plain attention in the tensors' own precision
    size_t rows;          // (batch, row, head) looked at
    std::string wrong;    // empty, or what is beyond the tolerance, in one line
};

// Relative L2 error beyond which an output is wrong.
double check_tolerance(attn_dtype dtype);

check_result check_output(const attn_args &args, const tensors::host_copy &host, uint64_t seed);
