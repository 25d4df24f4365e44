/* store: the SQLite file that holds every ingested run.
 *
 * Opens it (WAL, busy time-out, foreign keys), brings its schema forward through PRAGMA user_version, and
 * refuses a store written by a newer kernsweep. An older store is copied to "<path>.v<N>.bak" before it is
 * migrated. Knows the schema's version, but nothing of runs or statistics. The owner calls store_close().
 * Errors: ERR_STORAGE.
 */
#ifndef KERNSWEEP_RESULTS_STORE_STORE_H
#define KERNSWEEP_RESULTS_STORE_STORE_H

#include "common/base/err.h"
#include "common/base/fs.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

/* "ksw1" as PRAGMA application_id: so that `file` and our own open know the format. */
enum { STORE_APPLICATION_ID = 0x6b737731 };

enum store_mode {
    STORE_READ,  /* the file must exist; never migrated: an older one is an error that says how */
    STORE_WRITE, /* folder and file are made when missing; migrated when older */
};

enum { STORE_KEPT_MAX = 32 };

struct sql_stmt;

struct store {
    sqlite3 *db;
    enum store_mode mode;
    char path[FS_PATH_MAX];
    struct sql_stmt *kept[STORE_KEPT_MAX]; /* of sql_keep(): prepared once for as long as the store is open */
    size_t n_kept;
    char misuse[192]; /* the first mistake in a use of a statement (sql.h), "" when there was none */
};

/* ${KERNSWEEP_DB}, else ${XDG_DATA_HOME:-~/.local/share}/kernsweep/results.db. out: char[FS_PATH_MAX]. */
int store_default_path(char *out, struct err *err);

int store_open(struct store *s, const char *path, enum store_mode mode, struct err *err);
void store_close(struct store *s);

/* A consistent copy in a new file; others may read and write meanwhile. */
int store_copy(struct store *s, const char *path, struct err *err);

/* The schema version this program writes. */
int store_version_known(void);

#endif
