/* next_steps: the parts of the section that other files write. Private to next_steps*.c. */
#pragma once

#include "reports/sections/section.h"

void next_steps_causes(const struct report_model *m, struct md *w);
void next_steps_kernels(const struct report_model *m, struct md *w);
