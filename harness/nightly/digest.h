/* digest: what a phone shows of a nightly run below its headline: at most DIGEST_LINES_MAX short lines, the
 * worst first. Knows nothing of the recipients.
 */
#ifndef KERNSWEEP_HARNESS_NIGHTLY_DIGEST_H
#define KERNSWEEP_HARNESS_NIGHTLY_DIGEST_H

#include "results/judge/compare.h"

#include <jansson.h>

enum { DIGEST_LINES_MAX = 10 };

/* Variants that could not be timed, then cells that changed, or whose tests failed where nothing was compared
 * (c is NULL). An array of strings; the last one counts what did not fit. The caller json_decref()s. */
json_t *digest_lines(const struct run_data *run, const struct comparison *c);

#endif
