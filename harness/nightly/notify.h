/* notify: announces the outcome of a nightly run by starting the plan's commands: argv without a
 * shell, the summary as JSON on standard input, the report's path in KERNSWEEP_REPORT and the news in
 * KERNSWEEP_NEWS.
 *
 * A command that fails or exceeds its deadline is reported on stderr and never fails the nightly run. Knows
 * nothing about runs.
 */
#pragma once

#include "common/base/err.h"
#include "harness/plan/nightly.h"

enum { NOTIFY_DEADLINE_S = 60 };

/* Runs each entry that is subscribed to any of the news (a set). Returns how many commands failed; err is the
 * first failure. */
int notify_all(const json_t *entries, unsigned news, const json_t *summary, const char *report,
               struct err *err);

/* "regression,failure". out: char[64]. */
void notify_news_text(unsigned news, char *out);
