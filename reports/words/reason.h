/* reason: the words of a verdict, in every language: the one text for tables, reports, CSV, JSON, JUnit,
 * GitHub, `ab` and `bisect`. The judge gives codes and numbers (verdict.h); every word is made here.
 */
#pragma once

#include "reports/words/message.h"
#include "reports/words/number.h"
#include "results/judge/verdict.h"

const char *verdict_word(enum verdict v, enum report_lang lang);

enum { SETTLES_MAX = 256 };

/* What would make a finding of a suspect, or clear it. */
void verdict_settles(const struct delta *d, enum report_lang lang, struct buf *out);

/* "+4.2 %"; "+4.2 % (tonight +8.1 %)" if both builds were measured again, alternately. */
struct num verdict_change(const struct delta *d, enum report_lang lang);

/* Appends what a verdict rests on: counts, method, thresholds, doubts. May quote what a test said, made
 * printable. */
void verdict_evidence(const struct delta *d, enum report_lang lang, struct buf *out);

struct reason_text {
    char s[1024];
};

/* The change, if there is one, and the evidence: one line, printable. */
struct reason_text verdict_reason(const struct delta *d, enum report_lang lang);
