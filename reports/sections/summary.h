/* summary: the part of the executive summary that summary_variants.c writes. Private to summary*.c. */
#ifndef KERNSWEEP_REPORTS_SECTIONS_SUMMARY_H
#define KERNSWEEP_REPORTS_SECTIONS_SUMMARY_H

#include "reports/sections/section.h"

void summary_variants(const struct report_model *m, struct md *w);

#endif
