/* handle: an open store. store.h opens and closes it, sql.h runs statements on it. */
#pragma once

#include "common/base/fs.h"

#include <signal.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

enum store_mode {
    STORE_READ,   /* the file must exist; an older schema is an error that tells how to migrate it */
    STORE_CHANGE, /* the file must exist; an older schema is migrated */
    STORE_WRITE,  /* folder and file are created if missing; an older schema is migrated */
};

struct sql_stmt;

struct store {
    sqlite3 *db;
    enum store_mode mode;
    char path[FS_PATH_MAX];
    struct sql_stmt **kept; /* of sql_keep() */
    size_t n_kept, cap_kept;
    const volatile sig_atomic_t *interrupted; /* store_open_heeding(); NULL: nobody may interrupt */
    char misuse[192];                         /* the first misuse of a statement (sql.h), or "" */
};

static inline bool store_is_interrupted(const struct store *s)
{
    return s->interrupted && *s->interrupted;
}
