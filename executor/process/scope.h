/* scope: asks systemd for a scope of our own, with control groups delegated to us, and moves this process
 * into it: root from the system's manager, others from their own. A user's manager ends with the last session
 * unless the user lingers, and would take a run with it: then there is no scope.
 */
#pragma once

#include "executor/process/hierarchy.h"

#include <stdbool.h>

enum { SCOPE_WHY_MAX = 160 };

/* What it asks, and where it looks; tests have their own. */
struct scope_host {
    const char *systemd; /* a folder that is there where systemd runs */
    const char *linger;  /* a folder with a file for each user who lingers */
    const char *runtime; /* the folder of users' runtime folders */
    const char *busctl;
};

extern const struct scope_host scope_host_usual;

/* Whether there can be one; why: char[SCOPE_WHY_MAX], why not. Starts nothing. */
bool scope_is_available(const struct scope_host *h, char *why);
/* Moves this process; *after: where it stands then. False, with why, when it stays where it is. */
bool scope_enter(const struct scope_host *h, const struct layout *l, const char *name,
                 struct hierarchy *after, char *why);
