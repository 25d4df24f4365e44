/* nightly_news: decides what a night tells people and what it leaves to the next one. Rules over the findings
 * of this night and the state that earlier nights left; uses no node, store or files.
 */
#pragma once

#include "harness/commands/base/finish.h"
#include "harness/nightly/lock.h"
#include "harness/nightly/notify.h"

/* {0}: nothing was measured. The owner calls night_findings_release(). */
struct night_findings {
    struct finish_result result;
    json_t *open;          /* cells that are open after this run; NULL: it was not compared */
    json_t *carried;       /* lines about open cells that this run did not decide */
    json_t *commits;       /* lines about the commits that made cells slower */
    char base[RUN_ID_MAX]; /* the run it was compared with, as in nightly_state */
    size_t unmeasured;     /* number of open cells that were not measured */
    size_t unsearched;     /* number of slower cells left to a search of the next night */
    bool other_base;       /* earlier nights found the open cells against another baseline */
    bool accepted;         /* somebody accepted findings of the night before */
    bool suspected;
    bool mostly_noisy;
};

/* Takes the results of the night's comparison. before: the state that earlier nights left. */
void night_findings_compare(struct night_findings *f, const struct nightly_state *before,
                            const struct comparison *c, const char *date);
void night_findings_release(struct night_findings *f);

/* The cells that are still open, borrowed. */
json_t *night_open_cells(const struct night_findings *f, const struct nightly_state *before);

/* What went wrong in the night, as news, from its exit code, or from err if code is negative. 0: nothing. */
unsigned night_ended(const struct night_findings *f, int code, const struct err *err);
/* The news that people are told. ended: the result of night_ended(). */
unsigned night_news(const struct night_findings *f, const struct nightly_state *before, unsigned ended);
/* Writes one line. */
void night_headline(const struct night_findings *f, int code, const struct err *err, char *out, size_t cap);
/* Appends what the night reports besides its verdicts to the lines of its summary. */
void night_add_lines(const struct night_findings *f, const struct nightly_state *before, int code,
                     unsigned news, json_t *lines);
/* The state for the next night. The caller calls nightly_state_release(). */
struct nightly_state night_state_after(const struct night_findings *f, const struct nightly_state *before,
                                       unsigned ended, unsigned news);
