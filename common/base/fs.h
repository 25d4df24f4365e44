/* fs: files and folders, with limits and without half-written results.
 *
 * Paths are plain C strings; functions that build paths fill a caller's buffer and fail on truncation.
 * Everything that is written for others to read goes to a temporary name beside it, is synced, and renamed.
 * Knows nothing of plans, runs or bundles.
 */
#ifndef KERNSWEEP_COMMON_BASE_FS_H
#define KERNSWEEP_COMMON_BASE_FS_H

#include "common/base/buf.h"
#include "common/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { FS_PATH_MAX = 4096 };

/* Joins with one '/'. 0, or -1 when it does not fit FS_PATH_MAX. out: char[FS_PATH_MAX]. */
int fs_join(char *out, struct err *err, const char *dir, const char *name);

/* Appends the whole file to out; refuses more than max bytes and anything that is not a regular file. */
int fs_read_file(const char *path, size_t max, struct buf *out, struct err *err);
/* The same for rel below an open folder; messages name path. */
int fs_read_at(int dirfd, const char *rel, const char *path, size_t max, struct buf *out, struct err *err);

/* fs_read_file of <dir>/<rel>, through no link anywhere below dir; rel must be safe (below). *mode may be
 * NULL. */
int fs_read_below(const char *dir, const char *rel, size_t max, struct buf *out, mode_t *mode,
                  struct err *err);

/* Writes to "<path>.tmp.<pid>", fsyncs, renames over path, syncs the folder. */
int fs_write_file(const char *path, const void *data, size_t len, mode_t mode, struct err *err);

/* Makes path and its parents (existing ones are fine). */
int fs_mkdir_p(const char *path, mode_t mode, struct err *err);

/* Removes a tree without following links. A path that does not exist is fine. */
int fs_remove_tree(const char *path, struct err *err);

int fs_rename(const char *from, const char *to, struct err *err);
int fs_sync_dir(const char *path, struct err *err);
bool fs_exists(const char *path);
bool fs_is_dir(const char *path);

/* Writes all len bytes, retrying EINTR and short writes. 0 or -1 with errno set. */
int fs_write_all(int fd, const void *data, size_t len);

/* Calls fn for each regular file under root (relative path, '/'-separated), in byte order of the paths.
 * Links, devices, sockets are an error unless skip_special. fn returns 0 to go on, -1 (with err) to stop. */
typedef int fs_walk_fn(const char *relpath, const char *fullpath, void *arg, struct err *err);
int fs_walk(const char *root, bool skip_special, fs_walk_fn *fn, void *arg, struct err *err);

/* True for a relative path of plain components: no "..", ".", "//", leading or trailing '/', NUL, control
 * characters or backslash; at most FS_PATH_MAX. What a foreign bundle may name. */
bool fs_safe_relpath(const char *path);

#endif
