/* temporary: files and folders under a name of their own while a command writes them, "<path>.tmp.<pid>", and
 * what killed commands left under such names.
 *
 * A command holds a lock (flock) on what it writes. What has no such lock, and whose process has ended or
 * which has not changed for an hour (its process may be another machine's), was left. Only the caller's own
 * files are removed, and nothing where locks do not work.
 */
#pragma once

#include "common/base/fs.h"

#include <jansson.h>

enum { TEMPORARY_PATH_MAX = FS_PATH_MAX + 48 };

struct temporary {
    char path[TEMPORARY_PATH_MAX]; /* "" for none */
    int fd;                        /* of the file or folder, which holds the lock */
};

/* Makes a file or a folder beside path, after removing what killed commands left of the same path. A path
 * that ends in '/' has no name of its own: "<folder>/.tmp.<pid>". */
int temporary_file(struct temporary *t, const char *path, mode_t mode, struct err *err);
int temporary_folder(struct temporary *t, const char *path, struct err *err);
/* Removes what is still there, which is nothing once it was renamed, and ends the lock. */
void temporary_release(struct temporary *t);

/* Gives the name for a file that somebody else makes and locks, after removing what was left of it. */
void temporary_name(char out[TEMPORARY_PATH_MAX], const char *path);

/* Removes what killed commands left in a folder, of files called `name` or, with NULL, of all. The paths of
 * what was left and could not be removed are appended to left, which may be NULL. */
void temporary_sweep(const char *dir, const char *name, json_t *left);
