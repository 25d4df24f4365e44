/* location: what the place of a store's file means for how it is kept. A log with shared memory (WAL) works
 * on one machine, for one user; on a file system of several machines, and for a store that others may read,
 * only a rollback journal does, which needs nothing but locks. Knows nothing of SQL.
 */
#pragma once

#include "common/base/fs.h"

#include <stdbool.h>

/* The kind of file system, "NFS" say, if other machines may have it too, or if it is a program's; else NULL.
 * The file need not exist yet. */
const char *location_network(const char *path);
/* Whether others than its owner may read the store. */
bool location_is_shared(const char *path);
/* Whether the store is another user's; root counts as every user that it knows. */
bool location_is_foreign(const char *path);
/* Whether the store has a log, which readers need files next to it for. */
bool location_has_log(const char *path);

/* Room for the name of a file that SQLite keeps next to a store. */
enum { LOCATION_FILE_MAX = FS_PATH_MAX + 8 };
/* Whether the file with that ending next to the store, of what it links to, has contents. */
bool location_unfinished(const char *path, const char *end, char file[LOCATION_FILE_MAX]);

enum { LOCATION_USER_MAX = 64 };
/* Gives the name or number of the user whose the file, or its folder, is; "?" if that cannot be told. */
void location_owner(const char *path, bool of_folder, char name[LOCATION_USER_MAX]);
/* Why a store that can be read cannot be written: it is another user's, or its file system, its owner's own
 * mode bits, or a mark as of chattr(1). */
enum location_bar { LOCATION_FOREIGN, LOCATION_READ_ONLY, LOCATION_OWN_MODE, LOCATION_MARKED };
enum location_bar location_bar(const char *path);

/* Describes a process that keeps this one from the store, as far as the machine knows: false if it does not.
 */
enum { LOCATION_HOLDER_MAX = 160 };
bool location_holder(const char *path, char out[LOCATION_HOLDER_MAX]);

/* Gives the folder beside the store where this user's commands keep what is theirs: "<name>", or
 * "<name>.<number of the user>" where that is another user's. Neither need exist. out: char[FS_PATH_MAX]. */
int location_own(const char *path, const char *name, char *out, struct err *err);

/* Fails, with what to do, if locks do not work there, or do not reach other machines. fs: its kind. */
int location_try_locks(const char *path, const char *fs, struct err *err);
/* Removes files that another user's reading left next to our store. Fails if they cannot be removed, or hold
 * what that user wrote. */
int location_clear(const char *path, struct err *err);
