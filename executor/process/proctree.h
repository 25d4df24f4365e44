/* proctree: which processes descend from one, as /proc shows it at one moment.
 * A process may come or go meanwhile: callers ask again until nothing is left (see process).
 */
#ifndef KERNSWEEP_EXECUTOR_PROCESS_PROCTREE_H
#define KERNSWEEP_EXECUTOR_PROCESS_PROCTREE_H

#include <stddef.h>
#include <sys/types.h>

enum { PROCTREE_MAX = 4096 };

struct proctree {
    size_t count;
    pid_t pid[PROCTREE_MAX];
};

/* All descendants of root, without root, zombies included. Reads every /proc/PID/stat: for rare use. */
void proctree_descendants(struct proctree *t, pid_t root);
/* The same for the children that the kernel lists by thread (/proc/PID/task/TID/children), with root itself
 * as the first element: cheap enough to be asked often, but empty where the kernel lacks these files. */
void proctree_listed(struct proctree *t, pid_t root);

#endif
