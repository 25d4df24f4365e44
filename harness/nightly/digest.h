/* digest: a notification: the verdicts in its headline, and the lines below, at most DIGEST_LINES_MAX, short
 * enough for a phone, the worst first. Knows nothing about recipients.
 */
#pragma once

#include "results/judge/compare.h"

#include <jansson.h>

enum { DIGEST_LINES_MAX = 10, DIGEST_NOTE_MAX = 96, DIGEST_VERDICTS_MAX = 320 };

/* "the node: +8.0 % together; 0 regressed, ..., 40 unchanged, 0 inconclusive": what cells have in common
 * first, since no cell's verdict shows it. */
void digest_verdicts(const struct comparison *c, char out[DIGEST_VERDICTS_MAX]);

/* What confirming said of a cell, and its strongest cause: ", confirmed: code"; "" without either. */
void digest_note(const struct comparison *c, const struct delta *d, char out[DIGEST_NOTE_MAX]);

/* Variants that could not be timed, then the cells that changed or, if c is NULL (no comparison), the failed
 * tests. Each cell has the commits with which it changed. commits: the range of commits since the last night
 * or the base, as it is printed, "" if unknown; it is told of what cells have in common. An array of strings,
 * the last of which counts the lines that did not fit. The caller json_decref()s it. */
json_t *digest_lines(const struct run_data *run, const struct comparison *c, const char *commits);
