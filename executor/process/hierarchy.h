/* hierarchy: where this process stands in the kernel's control groups: the mounted hierarchies and its own
 * folder in each. Version 2 can kill a group at once and prove that it is empty; limits of memory and
 * processes are version 2's where its controllers are, else version 1's (a hybrid node).
 */
#pragma once

#include "executor/workdir/layout.h"

#include <stdbool.h>

struct hierarchy {
    char own[FS_PATH_MAX]; /* this process's folder in version 2; "" where it is not mounted or not visible */
    char v1_memory[FS_PATH_MAX]; /* and in version 1's; "" */
    char v1_pids[FS_PATH_MAX];
};

void hierarchy_read(struct hierarchy *h, const struct layout *l);

/* Whether this process may make groups in the folder. */
bool hierarchy_is_ours(const char *folder);
/* Whether the list in <folder>/<file> ("cgroup.controllers") has the word. */
bool hierarchy_lists(const char *folder, const char *file, const char *word);
/* Returns "v2", "hybrid", "v1" or "none". */
const char *hierarchy_name(const struct hierarchy *h);

/* Writes to <folder>/<file>. Returns 0, or the errno. */
int hierarchy_write(const char *folder, const char *file, const char *text);
/* Returns the number after the word in <folder>/<file> ("oom_kill" in memory.events; "" in a file that is one
 * number), or -1 if it cannot be read. */
int64_t hierarchy_number(const char *folder, const char *file, const char *word);
/* Makes <folder>/<name>, which may be there. out: char[FS_PATH_MAX]. */
int hierarchy_make(char *out, const char *folder, const char *name, struct err *err);
