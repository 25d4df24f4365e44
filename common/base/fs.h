/* fs: files and folders: size limits on reading, atomic writes.
 *
 * Functions that build paths fill the caller's buffer and fail on truncation. Files are written under a
 * temporary name in the same folder, synced, then renamed.
 */
#pragma once

#include "common/base/buf.h"
#include "common/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { FS_PATH_MAX = 4096 };

/* Joins with one '/'; -1 when the result exceeds FS_PATH_MAX. out: char[FS_PATH_MAX]. */
int fs_join(char *out, struct err *err, const char *dir, const char *name);

/* Appends the whole file to out; refuses more than max bytes and anything that is not a regular file. */
int fs_read_file(const char *path, size_t max, struct buf *out, struct err *err);
/* Does the same for rel below an open folder; path is for messages. */
int fs_read_at(int dirfd, const char *rel, const char *path, size_t max, struct buf *out, struct err *err);

/* Reads the regular file fd in pieces and closes it; refuses more than max bytes. fn fails with -1 and err.
 */
typedef int fs_piece_fn(void *arg, const void *data, size_t len, struct err *err);
int fs_read_pieces(int fd, const char *path, size_t max, fs_piece_fn *fn, void *arg, struct err *err);
/* Reads <dir>/<rel> without following any link below dir; rel must satisfy fs_safe_relpath(). mode may be
 * NULL. */
int fs_read_below(const char *dir, const char *rel, size_t max, struct buf *out, mode_t *mode,
                  struct err *err);

/* Refuses a pipe, a device, a folder or a socket, which a user may have named by mistake; path may be NULL.
 * For commands that take long before they write. */
int fs_check_output(const char *path, struct err *err);
/* Writes a file that the user named, whose folder exists; refuses the same. */
int fs_write_output(const char *path, const char *text, struct err *err);
/* Writes to "<path>.tmp.<pid>" (temporary.h), fsyncs, renames over path, syncs the folder. */
int fs_write_file(const char *path, const void *data, size_t len, mode_t mode, struct err *err);

/* Makes path and its parents; they may exist already. */
int fs_mkdir_p(const char *path, mode_t mode, struct err *err);

/* Removes everything below path, however deep, also from folders whose mode forbids it; does not follow
 * links, and fails at what is mounted there. A missing path is not an error. */
int fs_remove_tree(const char *path, struct err *err);

int fs_rename(const char *from, const char *to, struct err *err);
int fs_sync_dir(const char *path, struct err *err);
/* Syncs the whole file system of dir: for a tree, one call instead of an fsync() per file. */
int fs_sync_filesystem(const char *dir, struct err *err);
/* Gives the folder of a path, which may be "." or "/". out: char[FS_PATH_MAX]; a longer path is cut. */
void fs_parent(const char *path, char *out);
/* Gives the path of `name` in the folder of `path`, as fs_join() makes it. */
int fs_beside(const char *path, const char *name, char *out, struct err *err);
/* Gives "<the user's cache folder>/kernsweep/<name>", and makes it. out: char[FS_PATH_MAX]. */
int fs_cache_folder(const char *name, char *out, struct err *err);
bool fs_exists(const char *path);
bool fs_is_dir(const char *path);

/* Writes all len bytes, retrying EINTR and short writes. Returns 0 or -1 with errno set. */
int fs_write_all(int fd, const void *data, size_t len);

/* Calls fn for each regular file under root, in byte order of the relative paths. Links, devices and sockets
 * are an error unless skip_special. fn returns 0 to continue, -1 (with err) to stop. */
typedef int fs_walk_fn(const char *relpath, const char *fullpath, void *arg, struct err *err);
int fs_walk(const char *root, bool skip_special, fs_walk_fn *fn, void *arg, struct err *err);

/* Does the same, but goes on past what cannot be visited: folders that are too deep or cannot be read, paths
 * that are too long, and what is neither a file nor a folder. skipped is told of each, with errno where a
 * call failed; its path may hold any bytes. */
typedef void fs_skipped_fn(const char *relpath, const char *why, void *arg);
int fs_walk_rest(const char *root, fs_walk_fn *fn, fs_skipped_fn *skipped, void *arg, struct err *err);

/* Does the same for whatever is not a folder, links and devices included, and ignores what has vanished. */
struct fs_entry {
    const char *relpath, *fullpath, *name;
    int dirfd;          /* of the folder that has it */
    unsigned char type; /* DT_REG, DT_LNK, ... */
};
typedef int fs_entry_fn(const struct fs_entry *entry, void *arg, struct err *err);
int fs_walk_entries(const char *root, fs_entry_fn *fn, fs_skipped_fn *skipped, void *arg, struct err *err);

/* Whether it is a relative path of plain components: no "..", ".", "//", leading or trailing '/', control
 * characters or backslash; shorter than FS_PATH_MAX. Required of paths in untrusted bundles. */
bool fs_safe_relpath(const char *path);
