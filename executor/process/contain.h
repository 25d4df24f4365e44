/* contain: how the processes of a run are held together on this node, decided once per run: by control groups
 * in a folder that is delegated to us ("cgroup"), or in a scope that systemd made for us ("scope"), or by
 * process groups alone ("group"). Owns the run's folder among the control groups and the record by which a
 * later executor finds what a killed one left. The groups of tests are contain_group's matter.
 */
#pragma once

#include "executor/process/contain_group.h"
#include "executor/process/hierarchy.h"

#include <jansson.h>

/* How systemd is asked, and where it is looked for; tests have their own. */
struct scope_host {
    const char *systemd; /* a folder that is there where systemd runs */
    const char *linger;  /* a folder with a file for each user who lingers */
    const char *runtime; /* the folder of users' runtime folders */
    const char *busctl;
};

extern const struct scope_host scope_host_usual;

enum { SCOPE_WHY_MAX = 160 };

/* Moves this process into a scope of systemd's with that name; *after: where it stands then. Returns false,
 * with why (char[SCOPE_WHY_MAX]), when the scope is not entered. */
bool scope_enter(const struct scope_host *h, const struct layout *l, const char *name,
                 struct hierarchy *after, char *why);

enum containment { CONTAINED_GROUP, CONTAINED_SCOPE, CONTAINED_CGROUP };

enum { CONTAIN_WHY_MAX = 320 };

struct contain {
    enum containment kind;
    struct contain_place place;
    struct hierarchy at;       /* where the executor stands */
    char stand[FS_PATH_MAX];   /* the group that the executor made for itself; "" */
    pid_t helper;              /* moves there, too; 0: none */
    char record[FS_PATH_MAX];  /* "" */
    char why[CONTAIN_WHY_MAX]; /* why it is not a control group, or has no limits; "" */
};

/* Returns "group", "scope" or "cgroup". */
const char *containment_name(enum containment kind);

struct contain_run {
    const char *name;             /* a plain one */
    struct contain_limits limits; /* what its tests will ask for */
    pid_t helper;                 /* of the executor, started before; 0: none */
    bool recorded;                /* so that a later executor cleans up */
};

/* Chooses the best that the node has. Returns 1; 0 with c->why when the node cannot enforce the limits;
 * -1. */
int contain_open(struct contain *c, const struct layout *l, const struct scope_host *h,
                 const struct contain_run *run, struct err *err);
/* Kills what is left in the run's groups. */
void contain_close(struct contain *c);

/* Returns {"kind", "hierarchy", "memory", "processes", "isolate", "why"} of contain_open(); makes nothing. */
json_t *contain_look(const struct layout *l, const struct scope_host *h);
