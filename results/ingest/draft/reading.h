/* reading: what the reading of a foreign file or folder depended on besides its contents: the mapping, the
 * node, the log, options.
 *
 * A text of lines "name value". A run is stored with it (run.reading, and its hash in run.reading_sha256), so
 * that the same source with another reading is not taken for "already stored". Bundles of the executor have
 * none, "".
 */
#pragma once

#include "common/base/sha256.h"
#include "results/store/run_data.h"

/* Appends one line to reading[RUN_READING_MAX]; NULL and "" are recorded as "none". */
void reading_add(char *reading, const char *name, const char *value);
/* The same with the first digits of the text's hash. */
void reading_add_hash(char *reading, const char *name, const char *text, size_t len);

/* "mapping 1a2b3c -> 4d5e6f, node none -> mi300x"; "" if they do not differ. */
void reading_differences(const char *was, const char *now, char *out, size_t size);
