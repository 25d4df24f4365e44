/* witness: what the journal and the summary of a bundle say about each test, against which its perf.json is
 * checked. A test can write to the folders of the tests before it, but what the executor wrote down when they
 * ended cannot be changed without a contradiction. Errors: ERR_INPUT for a contradiction, with both numbers.
 * The owner calls witnesses_release().
 */
#pragma once

#include "results/ingest/bundle/manifest.h"
#include "results/ingest/draft/draft.h"

struct witness {
    bool known;
    enum status status;
    double wall_s, prefill_s;   /* NaN: not told */
    uint64_t gpu;               /* identity of what it was started on; 0: not told */
    struct draft_extra *metric; /* owned; the plan's own metrics */
    size_t metrics;
    char sha256[SHA256_HEX_LEN + 1]; /* of perf.json when the test ended; "": not told */
};

struct witnesses {
    struct witness *journal, *summary; /* of the test with index i + 1; `tests` of each */
    size_t tests;
    bool told_by_journal, told_by_summary; /* each has to have every test */
};

/* summary: of summary.json, NULL if there is none. tests: as the job has them. complete: the run has ended,
 * so that its journal and its summary, if there are any, know every test. Lines and members that cannot be
 * read witness nothing. */
int witnesses_read(struct witnesses *w, struct manifest *files, const json_t *summary, size_t tests,
                   bool complete, struct err *err);
void witnesses_release(struct witnesses *w);

/* index: of the test in the job. perf: the test's record, for the place in messages; sha256: its hash, "" if
 * unknown. Only a test that is OK can contradict. */
int witnesses_check(const struct witnesses *w, const struct draft_test *t, int64_t index, const char *sha256,
                    const struct json_at *perf, struct err *err);
