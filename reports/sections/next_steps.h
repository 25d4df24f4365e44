/* next_steps: the parts of the section that other files write. Private to next_steps*.c. */
#ifndef KERNSWEEP_REPORTS_SECTIONS_NEXT_STEPS_H
#define KERNSWEEP_REPORTS_SECTIONS_NEXT_STEPS_H

#include "reports/sections/section.h"

void next_steps_causes(const struct report_model *m, struct md *w);
void next_steps_kernels(const struct report_model *m, struct md *w);

#endif
