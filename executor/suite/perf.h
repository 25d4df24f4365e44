/* perf: perf.json, the record of one test. It is written last of a test's files: if it exists, the test is
 * final.
 */
#pragma once

#include "executor/suite/suite.h"

struct test_run;

/* Writes it into dir, and keeps its hash as the test's seal. why: its outcome. run: NULL for a test that did
 * not run. */
int perf_write(struct suite *s, size_t test, const struct assessment *why, const struct test_run *run,
               const char *dir, struct err *err);
/* Loads perf.json of rel below folder into the suite. Returns 1 if the test is final; 0 if the file is
 * missing, or not as the test's seal says: no executor wrote it. */
int perf_load(struct suite *s, size_t test, const char *folder, const char *rel);
/* Writes the record of the same test with another outcome, even if it is no longer as it was written. */
int perf_rewrite(struct suite *s, size_t test, const struct assessment *why, const char *dir,
                 struct err *err);
/* Says how a changed record differs from what is known, as in ": prefill_s is 0.001 and was 1", else "". */
void perf_difference(const struct suite *s, size_t test, const char *rel, char *out, size_t cap);
/* Whether perf.json of the folder rel below root has that hash. No link below root is followed. */
bool perf_is_sealed(const char *root, const char *rel, const char *sha256);
/* Returns what was printed by a name; NaN: nothing. */
typedef double perf_find_fn(const void *of, const char *name);

/* Tells the suite the outcome of a test, its times and the values of the job's own metrics, as far as find()
 * knows them. */
void perf_take(struct suite *s, size_t test, const struct assessment *a, double wall_s, perf_find_fn *find,
               const void *of);
