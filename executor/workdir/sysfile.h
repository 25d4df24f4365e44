/* sysfile: small text files of procfs, sysfs and control groups, which report a size of 0 although they have
 * contents, so that fs_read_file() does not read them, and the entries of their folders.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Opens <folder>/<name> for reading. NULL where it cannot be opened; the caller closes it. */
FILE *sysfile_open(const char *folder, const char *name);
/* Reads as much of it as one read() gives and fits. Returns false, with "", where that is nothing. */
bool sysfile_read(const char *folder, const char *name, char *out, size_t size);
/* Does the same with its first line, without white space at its end. */
bool sysfile_line(const char *folder, const char *name, char *out, size_t size);

/* As a prefix: names that are numbers. */
#define ENTRIES_NUMBERS ""

typedef void entries_fn(const char *path, const char *name, void *arg);

/* Calls fn for the entries of the folder, in the order of their numbers. prefix: only entries whose name is
 * that and digits; NULL: all but hidden ones. A folder that cannot be read has none. */
void entries_each(const char *root, const char *prefix, entries_fn *fn, void *arg);
