/* nightly_timer: has this machine start a night by itself: by a timer of the user's own systemd where that
 * runs, else by a line of the user's crontab.
 *
 * Doing it again changes nothing or brings it up to date; removing what is not there is fine. What was done
 * is said line by line. Never touches what others wrote: the units and the crontab's line carry the plan's
 * name. Errors: ERR_INPUT, ERR_STORAGE with what the program said that refused.
 */
#ifndef KERNSWEEP_HARNESS_NIGHTLY_TIMER_H
#define KERNSWEEP_HARNESS_NIGHTLY_TIMER_H

#include "harness/plan/plan.h"

#include <stdio.h>

/* Borrowed. */
struct nightly_timer {
    const struct plan *plan; /* its file is an absolute path */
    const char *const *argv; /* NULL-terminated: the command of a night, with absolute paths */
    const char *log; /* file for what a night from the crontab prints; absolute, its folder is there */
    const char *at;  /* "02:30", or NULL for that */
    FILE *say;
};

int nightly_timer_install(const struct nightly_timer *t, struct err *err);
/* word: a plan's file, absolute, which need not be there any more; or a timer's name, as it was shown. */
int nightly_timer_remove(const char *word, FILE *say, struct err *err);

#endif
