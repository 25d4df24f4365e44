/* timings: extracts what a workload reports in its output: timings, number of prompt tokens, reason for
 * skipping. The job's timing rule (common/contract/timing_rule) says how. The last occurrence wins. Output is
 * untrusted: lines, values and names are bounded. Whether a result is valid is decided by assess.
 */
#pragma once

#include "common/base/buf.h"
#include "common/base/json.h"
#include "common/base/last_line.h"
#include "common/contract/timing_rule.h"

#include <stdbool.h>
#include <stdint.h>

enum { TIMINGS_MAX = 64, TIMINGS_DOCUMENT_MAX = 1 << 20, TIMINGS_TEXT_MAX = 200 };

struct timings {
    bool found;
    unsigned long times_found; /* how often anything was: it increases when a line with timings is read */
    size_t count;
    struct {
        char name[LIMIT_NAME + 1];
        double value;
    } item[TIMINGS_MAX];
    char attn_impl[LIMIT_NAME + 1];        /* "" when not reported */
    int64_t prompt_tokens;                 /* -1 when not reported */
    char prompt_problem[TIMINGS_TEXT_MAX]; /* what was reported instead of a number of prompt tokens, or "" */
    char problem[TIMINGS_TEXT_MAX];        /* why a timing line could not be parsed, or "" */
    char unread[TIMINGS_TEXT_MAX];         /* what stood where a number was looked for, or "" */
    char skip[TIMINGS_TEXT_MAX];           /* of a line "SKIP: reason" */
    char nearest[TIMINGS_TEXT_MAX]; /* of lines that the pattern does not match, the one that shares most
                                       words with it, or "" */
    char last[TIMINGS_TEXT_MAX]; /* the last line that is not empty, made printable by who assesses it, or ""
                                  */
};

/* Returns NULL if it is absent. */
const double *timings_get(const struct timings *t, const char *name);

/* Parses output incrementally, in pieces of any size. */
struct timing_reader {
    const struct timing_rule *rule; /* borrowed */
    struct timings result;
    struct buf line;
    bool line_cut; /* the line exceeds LIMIT_LOG_LINE; the rest is ignored */
    struct buf document;
    struct last_line last;
    size_t words; /* that the nearest line shares with the pattern */
};

void timing_reader_init(struct timing_reader *r, const struct timing_rule *rule);
void timing_reader_release(struct timing_reader *r);
void timing_reader_feed(struct timing_reader *r, const char *data, size_t len);
/* Completes an unfinished last line; afterwards r->result is final. */
void timing_reader_finish(struct timing_reader *r);
