// The two ceilings of the device at hand, measured on it: copying memory, and 32-bit multiply-adds.
// Errors are thrown as struct failure.
#pragma once

struct roofline {
    double copy_bytes_per_s; // read and written, both counted
    double fma_flops;        // a multiply-add counts as two
};

roofline measure_roofline();
