/* memory: the VRAM of a test, from the output of rocm-smi that a B3.89 executor stored beside
 * perf.json. */
#ifndef KERNSWEEP_RESULTS_INGEST_B3_89_MEMORY_H
#define KERNSWEEP_RESULTS_INGEST_B3_89_MEMORY_H

#include "results/ingest/draft/draft.h"

/* full: the path of perf.json. Missing and unreadable files count as not measured. */
int b3_memory_read(const char *full, bool skip_samples, struct draft_test *t, struct err *err);

#endif
