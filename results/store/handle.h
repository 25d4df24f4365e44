/* handle: an open store as its modules see it. store.h opens and closes it, sql.h runs statements on it. */
#ifndef KERNSWEEP_RESULTS_STORE_HANDLE_H
#define KERNSWEEP_RESULTS_STORE_HANDLE_H

#include "common/base/err.h"
#include "common/base/fs.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

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

#endif
