/* nightly_news: what a night has to tell people, and what it leaves to the next one. Rules over what it found
 * and what the nights before left; knows no node, no store and no files.
 */
#pragma once

#include "harness/commands/base/finish.h"
#include "harness/nightly/lock.h"
#include "harness/nightly/notify.h"

/* {0}: nothing was measured. The owner calls night_findings_release(). */
struct night_findings {
    struct finish_result result;
    json_t *open;          /* the cells that are open after this run; NULL: it was not compared */
    json_t *carried;       /* lines about those that it did not decide */
    json_t *commits;       /* lines about the commits that made cells slower */
    char base[RUN_ID_MAX]; /* what it was compared with, as in nightly_state */
    size_t unmeasured;     /* of the open cells */
    size_t unsearched;     /* slower cells whose commit the next night searches for */
    bool other_base;       /* what is open from earlier nights was found against another one */
    bool mostly_noisy;
};

/* Takes what the night's comparison says. before: what earlier nights left. */
void night_findings_compare(struct night_findings *f, const struct nightly_state *before,
                            const struct comparison *c, const char *date);
void night_findings_release(struct night_findings *f);

/* The cells that are open now, borrowed. */
json_t *night_open_cells(const struct night_findings *f, const struct nightly_state *before);

/* The news of how the night ended: of an exit code, or of err if code is negative. 0: nothing went wrong. */
unsigned night_ended(const struct night_findings *f, int code, const struct err *err);
/* The news that people are told. ended: what night_ended() says. */
unsigned night_news(const struct night_findings *f, const struct nightly_state *before, unsigned ended);
/* One line. */
void night_headline(const struct night_findings *f, int code, const struct err *err, char *out, size_t cap);
/* Adds what the night says beside its verdicts to the lines of its summary. */
void night_add_lines(const struct night_findings *f, const struct nightly_state *before, int code,
                     unsigned news, json_t *lines);
/* What is left to the next night. The caller calls nightly_state_release(). */
struct nightly_state night_state_after(const struct night_findings *f, const struct nightly_state *before,
                                       unsigned ended, unsigned news);
