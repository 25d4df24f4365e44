// Compares an output with attention computed in fp64 on the host from the same, already rounded inputs.
// Checks every row if that is affordable, otherwise a sample that includes the first and last rows, tile
// boundaries and every head. Knows no variant.
#pragma once

#include "attention/attention.h"
#include "runner/tensors.h"

#include <cstdint>
#include <string>

struct check_result {
    double rel_l2;        // over all checked rows
    double max_abs;       // largest difference
    double plain_max_abs; // the same for a plain attention in the tensors' precision, whose last rounding
                          // counts as half a unit in the last place of the largest value that needs one
    size_t rows;          // checked (batch, row, head) triples
    std::string wrong;    // empty, or the reason for failure, on one line
};

// The largest acceptable relative L2 error.
double check_tolerance(attn_dtype dtype);

check_result check_output(const attn_args &args, const tensors::host_copy &host, uint64_t seed);
