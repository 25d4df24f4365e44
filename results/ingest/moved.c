#include "results/ingest/moved.h"

#include "results/store/run_folder.h"
#include "results/store/sql.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int recorded_folder(struct store *s, int64_t key, char out[FS_PATH_MAX], struct err *err)
{
    SQL_STMT stmt = sql_prepare_int(s, "SELECT bundle FROM run WHERE id = :run", ":run", key, err);
    if (!stmt || sql_step(stmt, err) < 0)
        return -1;
    sql_col_text(stmt, "bundle", out, FS_PATH_MAX);
    return 0;
}

static int record_folder(struct store *s, int64_t key, const char *dir, struct err *err)
{
    SQL_STMT stmt = sql_prepare(s, "UPDATE run SET bundle = :dir WHERE id = :run", err);
    if (!stmt)
        return -1;
    sql_bind_text(stmt, ":dir", dir);
    sql_bind_int(stmt, ":run", key);
    return sql_run(stmt, err);
}

static int follow(struct store *s, const char *dir, struct ingest_result *out, struct err *err)
{
    char was[FS_PATH_MAX];
    if (recorded_folder(s, out->key, was, err) != 0)
        return -1;
    if (strcmp(was, dir) == 0 || run_folder_may_be_of(was, out->run_id))
        return 0;
    snprintf(out->note, sizeof out->note, "recorded as the run's folder: %.300s no longer has the run",
             *was ? was : "the store");
    return record_folder(s, out->key, dir, err);
}

int ingest_moved(struct store *s, const char *dir, struct ingest_result *out, struct err *err)
{
    char *real = realpath(dir, NULL);
    int rc = real && strlen(real) < FS_PATH_MAX ? follow(s, real, out, err) : 0;
    free(real);
    return rc;
}
