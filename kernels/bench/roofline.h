// The ceilings of the device at hand, measured on it: copying memory, 32-bit multiply-adds, and the matrix
// cores. Errors are thrown as struct failure.
#pragma once

struct roofline {
    double copy_bytes_per_s; // read and written, both counted
    double fma_flops;        // a multiply-add counts as two
    double matrix_flops;     // of bf16 products summed in fp32; NaN where there are no matrix cores
};

roofline measure_roofline();
