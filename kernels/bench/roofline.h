// The device's roofline ceilings, measured on the device itself: copy bandwidth, fp32 multiply-adds, and
// matrix cores. Throws struct failure.
#pragma once

struct roofline {
    double copy_bytes_per_s; // bytes read plus bytes written
    double fma_flops;        // a multiply-add counts as two
    double matrix_flops;     // bf16 inputs, fp32 accumulation; NaN without matrix cores
};

roofline measure_roofline();
