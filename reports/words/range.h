/* range: the commits between two runs in words: "a1b2c3d..e4f5a6b, 3 commits + local changes".
 *
 * Plain text, safe wherever it is shown: ids and numbers only. Knows nothing about runs.
 */
#pragma once

#include "reports/words/message.h"
#include "reports/words/number.h"
#include "results/judge/openings.h"

enum { RANGE_PHRASE_MAX = 512 };

struct short_commit {
    char s[COMMIT_SHORT + 2];
};

/* "a1b2c3d", or "a1b2c3d+" for a tree with local changes; "" if there is no commit. */
struct short_commit commit_short(const char *id, bool dirty);

/* Appends nothing where the commit of one of the two is not known. */
void range_phrase(const struct commit_range *r, enum report_lang lang, struct buf *out);

/* When a finding began, and with which commit: the message, and its arguments {1} to {4}. The subject is not
 * escaped. */
struct opening_words {
    enum msg message;
    struct num date;
    struct short_commit commit;
    const char *subject; /* the opening's */
    char range[RANGE_PHRASE_MAX];
};

void opening_words(const struct opening *o, enum report_lang lang, struct opening_words *out);
/* Appends it unescaped: "since 2026-11-27, with a1b2c3d (unroll the loop)". */
void opening_phrase(const struct opening *o, enum report_lang lang, struct buf *out);

/* The paths of local changes, separated by ", "; "..." for those that are not named. out: char[RUN_FACT_MAX +
 * 64]. */
void dirty_phrase(const struct run_revision *r, char *out, size_t size);
