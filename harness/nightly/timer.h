/* nightly_timer: schedules nightly runs on this machine: with a systemd user timer where systemd runs, else
 * with a line in the user's crontab.
 *
 * Installing again updates the timer; removing a timer that does not exist is no error. Each change is
 * printed as a line. Never touches entries of others: the units and the crontab line carry the plan's name.
 * Errors: ERR_INPUT; ERR_STORAGE with the message of the program that failed.
 */
#ifndef KERNSWEEP_HARNESS_NIGHTLY_TIMER_H
#define KERNSWEEP_HARNESS_NIGHTLY_TIMER_H

#include "harness/plan/plan.h"

#include <stdio.h>

/* Borrowed. */
struct nightly_timer {
    const struct plan *plan; /* its file is an absolute path */
    const char *const *argv; /* NULL-terminated: the nightly command, with absolute paths */
    const char *log;         /* log file of runs that cron starts; absolute, its folder exists */
    const char *at;          /* "02:30", or NULL for that */
    FILE *say;
};

int nightly_timer_install(const struct nightly_timer *t, struct err *err);
/* word: a plan's file, absolute, which need not be there any more; or a timer's name, as it was shown. */
int nightly_timer_remove(const char *word, FILE *say, struct err *err);

#endif
