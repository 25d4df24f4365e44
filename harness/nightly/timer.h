/* nightly_timer: schedules nightly runs on this machine, with a systemd user timer or, without a systemd user
 * instance, a line in the user's crontab.
 *
 * Installing again updates the timer; removing a timer that does not exist is no error. Each change is
 * printed as a line. Other entries are never touched: the units and the crontab line carry the plan's name.
 * Errors: ERR_INPUT; ERR_STORAGE with the message of the program that failed.
 */
#pragma once

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
/* word: the absolute path of a plan, which may no longer exist, or the name of a timer, as printed. */
int nightly_timer_remove(const char *word, FILE *say, struct err *err);
