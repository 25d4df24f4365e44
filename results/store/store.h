/* store: the SQLite file that holds every ingested run.
 *
 * Opens it (as its place allows: location.h; busy time-out, foreign keys), migrates its schema (PRAGMA
 * user_version), and refuses a store that a newer kernsweep or a development version wrote. An older store is
 * copied to "<path>.v<N>.bak" before it is migrated. Knows nothing of runs or statistics. The owner calls
 * store_close(). Errors: ERR_STORAGE.
 */
#pragma once

#include "results/store/handle.h"

/* "ksw2" as PRAGMA application_id, by which `file` and store_open() recognise the format. */
enum { STORE_APPLICATION_ID = 0x6b737732 };

/* ${KERNSWEEP_DB}, else ${XDG_DATA_HOME:-~/.local/share}/kernsweep/results.db. out: char[FS_PATH_MAX]. */
int store_default_path(char *out, struct err *err);

int store_open(struct store *s, const char *path, enum store_mode mode, struct err *err);
void store_close(struct store *s);

/* Fails if the file is there and this user may not write it: for commands that store only in the end. */
int store_check_writable(const char *path, struct err *err);

/* The same as store_open(), but the flag, which a signal handler sets, ends waits and statements, and thus
 * the transaction that they belong to, with ERR_INTERRUPTED. s must not be moved. */
int store_open_heeding(struct store *s, const char *path, enum store_mode mode,
                       const volatile sig_atomic_t *interrupted, struct err *err);

/* A consistent copy in a new file; other processes may read and write meanwhile. */
int store_copy(struct store *s, const char *path, struct err *err);

/* The schema version this program writes. */
int store_version_known(void);
