/* proctree: the descendants of a process, as /proc shows them at one moment.
 * Processes may come and go meanwhile: callers repeat until none is left (see process).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { PROCTREE_MAX = 4096 };

struct proctree {
    size_t count;
    pid_t pid[PROCTREE_MAX];
};

/* The newest of the processes that were there at one time or another. */
enum { PROCTREE_SEEN_MAX = 1024 };

struct proctree_seen {
    size_t count; /* of all, including those that were forgotten */
    pid_t pid[PROCTREE_SEEN_MAX];
};

void proctree_note(struct proctree_seen *s, pid_t pid);
bool proctree_has_seen(const struct proctree_seen *s, pid_t pid);

/* Lists all descendants of root, without root, zombies included. Reads every /proc/PID/stat: for rare use. */
void proctree_descendants(struct proctree *t, pid_t root);
/* Lists the same from the kernel's lists of children (/proc/PID/task/TID/children), with root itself as the
 * first element: cheap enough for frequent use, but empty on kernels without these files. */
void proctree_listed(struct proctree *t, pid_t root);
