/* digest: the lines of a notification below its headline: at most DIGEST_LINES_MAX, short enough for a phone,
 * the worst first. Knows nothing about recipients.
 */
#ifndef KERNSWEEP_HARNESS_NIGHTLY_DIGEST_H
#define KERNSWEEP_HARNESS_NIGHTLY_DIGEST_H

#include "results/judge/compare.h"

#include <jansson.h>

enum { DIGEST_LINES_MAX = 10, DIGEST_NOTE_MAX = 96 };

/* What confirming said of a cell, and its strongest cause: ", confirmed: code"; "" without either. */
void digest_note(const struct comparison *c, const struct delta *d, char out[DIGEST_NOTE_MAX]);

/* Variants that could not be timed, then the cells that changed or, if c is NULL (no comparison), the failed
 * tests. commits: the range of commits since the
 * last night or the base, as it is printed, "" if unknown; it stands before the cells if there are any. An
 * array of strings, the last of which counts the lines that did not fit. The caller json_decref()s it. */
json_t *digest_lines(const struct run_data *run, const struct comparison *c, const char *commits);

#endif
