/* summary: the part of the executive summary that summary_variants.c writes. Private to summary*.c. */
#pragma once

#include "reports/sections/section.h"

void summary_variants(const struct report_model *m, struct md *w);
