/* b3_89_memory: the VRAM of a test as a B3.89 executor left it beside its perf.json, in what rocm-smi
 * printed.
 */
#ifndef KERNSWEEP_RESULTS_INGEST_B3_89_MEMORY_H
#define KERNSWEEP_RESULTS_INGEST_B3_89_MEMORY_H

#include "results/ingest/draft.h"

/* full: the path of perf.json. What is missing or unreadable is "not measured". */
int b3_memory_read(const char *full, bool skip_samples, struct draft_test *t, struct err *err);

#endif
