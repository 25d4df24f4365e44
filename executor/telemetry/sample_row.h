/* sample_row: a sample as a line of vram_samples.jsonl. With several tests in flight there are many hundreds
 * a second, which the JSON library's objects and printf() would make the greater part of the executor's work:
 * the keys are constants and the values numbers, so nothing here needs quoting or allocation.
 */
#ifndef KERNSWEEP_EXECUTOR_TELEMETRY_SAMPLE_ROW_H
#define KERNSWEEP_EXECUTOR_TELEMETRY_SAMPLE_ROW_H

#include "common/base/buf.h"
#include "executor/telemetry/sample.h"

/* Appends the line with its newline: t to a tenth of a millisecond, whole numbers, and others to a hundredth.
 * Values that are not available are left out, and so are those beyond 1e15. */
void sample_row_add(struct buf *out, const struct sample *s);

#endif
