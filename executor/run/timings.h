/* timings: what a workload says of itself in its output: its timings, how many prompt tokens it saw, why it
 * skipped. By default from one line "[PERF_TIMING] {json}"; by a plan's rule from JSON paths or from a
 * regular expression with named groups (common/base/regex), so that a program nobody here wrote can be timed.
 * The last occurrence counts. Output is hostile: lines, values and names are bounded. Knows nothing of
 * processes or of what makes a result valid (see assess).
 */
#ifndef KERNSWEEP_EXECUTOR_RUN_TIMINGS_H
#define KERNSWEEP_EXECUTOR_RUN_TIMINGS_H

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/json.h"
#include "common/contract/timing_rule.h"

#include <stdbool.h>
#include <stdint.h>

enum { TIMINGS_MAX = 64, TIMINGS_DOCUMENT_MAX = 1 << 20, TIMINGS_TEXT_MAX = 200 };

struct timings {
    bool found;
    size_t count;
    struct {
        char name[LIMIT_NAME + 1];
        double value;
    } item[TIMINGS_MAX];
    char attn_impl[LIMIT_NAME + 1]; /* "" when not told */
    int64_t prompt_tokens;          /* -1 when not told */
    char problem[TIMINGS_TEXT_MAX]; /* why a timing line could not be read, "" when none was bad */
    char skip[TIMINGS_TEXT_MAX];    /* of a line "SKIP: reason" */
};

/* NULL when there is no such timing. */
const double *timings_get(const struct timings *t, const char *name);

/* Reads output as it comes, in pieces of any size. */
struct timing_reader {
    const struct timing_rule *rule; /* borrowed */
    struct timings result;
    struct buf line;
    bool line_cut; /* the line is longer than LIMIT_LOG_LINE; its rest is ignored */
    struct buf document;
};

void timing_reader_init(struct timing_reader *r, const struct timing_rule *rule);
void timing_reader_release(struct timing_reader *r);
void timing_reader_feed(struct timing_reader *r, const char *data, size_t len);
/* Ends the last line; r->result is final. */
void timing_reader_finish(struct timing_reader *r);

#endif
