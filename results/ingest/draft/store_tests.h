/* store_tests: writes the tests of a draft, with their series, telemetry and additional numbers. For
 * draft_store.c only. */
#ifndef KERNSWEEP_RESULTS_INGEST_DRAFT_STORE_TESTS_H
#define KERNSWEEP_RESULTS_INGEST_DRAFT_STORE_TESTS_H

#include "results/ingest/draft/draft.h"

/* Inside the caller's transaction. run: the key of their run. */
int store_tests(struct store *s, const struct draft *d, int64_t run, struct err *err);

#endif
