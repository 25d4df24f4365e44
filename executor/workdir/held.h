/* held: folders of results, and files that the executor has open, which tests may replace by something else,
 * because they lie next to their own files. The open descriptor tells which is ours.
 */
#pragma once

#include "common/base/fs.h"

#include <stdbool.h>

/* Opens the folder, and makes it in the place of whatever else has that name. The caller closes the
 * descriptor; -1: error. */
int held_open(const char *path, struct err *err);
/* Does the same, but gives an empty folder: what is there is moved aside and removed. If it cannot be removed
 * it stays aside, and *left tells where and why; otherwise left->kind is ERR_NONE. */
int held_make(const char *path, struct err *left, struct err *err);
/* Whether the path still leads to the open file or folder. */
bool held_is_at(int fd, const char *path);
/* Gives the owner back what a test may have taken from a folder of ours: the right to enter, list and change
 * it. */
void held_open_up(const char *dir);

/* Opens a new file for reading and writing, in the place of whatever has that name. Returns -1 with errno. */
int held_create(const char *path);
/* Gives the open file, which was made as `part`, the name `path`, whatever has become of either name. */
int held_publish(int fd, const char *part, const char *path, struct err *err);
