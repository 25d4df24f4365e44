/* entries: the entries of a folder of sysfs or procfs, in the order of their numbers. Knows nothing of what
 * they mean.
 */
#pragma once

/* As a prefix: names that are numbers. */
#define ENTRIES_NUMBERS ""

typedef void entries_fn(const char *path, const char *name, void *arg);

/* prefix: only entries whose name is that and digits; NULL: all but hidden ones. A folder that cannot be read
 * has none. */
void entries_each(const char *root, const char *prefix, entries_fn *fn, void *arg);
