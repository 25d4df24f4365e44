/* record: the parts of the section that record.c assembles from other files. Private to them. Each writes its
 * own heading of the third level, or nothing.
 */
#pragma once

#include "reports/sections/section.h"

void record_reproduction(const struct report_model *m, struct md *w);
void record_node(const struct report_model *m, struct md *w);
void record_metrics(const struct report_model *m, struct md *w);
void record_artifacts(const struct report_model *m, struct md *w);
