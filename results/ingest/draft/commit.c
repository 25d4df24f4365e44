#include "results/ingest/draft/commit.h"

#include "results/ingest/draft/reading.h"
#include "results/store/run_folder.h"
#include "results/store/run_load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *ingest_effect_name(enum ingest_effect effect)
{
    switch (effect) {
    case INGEST_STORED:
        return "stored";
    case INGEST_ALREADY:
        return "already stored";
    case INGEST_REPLACED:
        return "replaced the one stored before";
    }
    return "?";
}

struct stored {
    int64_t key; /* 0: not stored */
    enum run_status status;
    char content_sha256[SHA256_HEX_LEN + 1];
    char reading[RUN_READING_MAX];
    char rejected_why[RUN_REASON_MAX]; /* "": not rejected */
    int64_t rejected_at;
};

static int find_stored(struct store *s, const char *run_id, struct stored *out, struct err *err)
{
    *out = (struct stored){0};
    SQL_KEPT stmt = sql_keep(s,
                             "SELECT id, status, content_sha256, reading, rejected_at, rejected_why FROM run"
                             " WHERE run_id = :run_id",
                             err);
    sql_bind_text(stmt, ":run_id", run_id);
    int rc = sql_step(stmt, err);
    if (rc <= 0)
        return rc;
    out->key = sql_col_int(stmt, "id", 0);
    sql_col_text(stmt, "content_sha256", out->content_sha256, sizeof out->content_sha256);
    sql_col_text(stmt, "reading", out->reading, sizeof out->reading);
    sql_col_text(stmt, "rejected_why", out->rejected_why, sizeof out->rejected_why);
    out->rejected_at = sql_col_int(stmt, "rejected_at", 0);
    return run_status_read(s, stmt, run_id, &out->status, err);
}

/* The contents are those of the stored run, but the same source can be read in another way. */
static int is_read_alike(const struct stored *was, const struct run_info *now, bool replace, struct err *err)
{
    char differences[RUN_READING_MAX];
    if (strcmp(was->reading, now->reading) == 0)
        return 1;
    if (replace)
        return 0;
    reading_differences(was->reading, now->reading, differences, sizeof differences);
    return err_set(
        err, ERR_INPUT,
        "run %s is already stored, but was read in another way (%s): --replace stores the new reading",
        now->run_id, differences);
}

/* 1: nothing to do; 0: store it. A complete run never changes, an incomplete one may have continued. */
static int is_up_to_date(const struct stored *was, const struct run_info *now, bool replace, struct err *err)
{
    if (!was->key)
        return 0;
    if (strcmp(was->content_sha256, now->content_sha256) == 0)
        return is_read_alike(was, now, replace, err);
    if (was->status != RUN_COMPLETE)
        return 0;
    return err_set(
        err, ERR_INPUT,
        "run %s is already stored with different contents (%.12s stored, %.12s here): a complete run "
        "never changes; one of the two folders was edited",
        now->run_id, was->content_sha256, now->content_sha256);
}

static int remove_stored(struct store *s, int64_t key, struct err *err)
{
    /* A baseline may refer to the row, which is inserted again under the same key. */
    SQL_STMT stmt = sql_prepare_int(s, "DELETE FROM run WHERE id = :run", ":run", key, err);
    return sql_exec(s, "PRAGMA defer_foreign_keys = ON", err) != 0 ? -1 : sql_run(stmt, err);
}

/* The row that the run had before it was removed, or one that no run ever had (table removed_run). */
static int choose_row(struct store *s, const char *run_id, int64_t *out, struct err *err)
{
    SQL_KEPT stmt = sql_keep(s,
                             "SELECT coalesce((SELECT id FROM removed_run WHERE run_id = :run_id),"
                             " 1 + max(ifnull((SELECT max(id) FROM run), 0),"
                             " ifnull((SELECT max(id) FROM removed_run), 0))) AS row",
                             err);
    sql_bind_text(stmt, ":run_id", run_id);
    if (sql_step(stmt, err) != 1)
        return -1;
    *out = sql_col_int(stmt, "row", 0);
    return 0;
}

/* A run that continued is still the one that was rejected. */
static int keep_rejection(struct store *s, const struct stored *was, struct err *err)
{
    if (!*was->rejected_why)
        return 0;
    SQL_STMT stmt =
        sql_prepare(s, "UPDATE run SET rejected_at = :when, rejected_why = :why WHERE id = :run", err);
    sql_bind_int(stmt, ":when", was->rejected_at);
    sql_bind_text(stmt, ":why", was->rejected_why);
    sql_bind_int(stmt, ":run", was->key);
    return sql_run(stmt, err);
}

/* This runs inside the transaction, so that no other process can store the run between check and insert. */
static int store_locked(struct store *s, struct draft *d, struct ingest_result *out, struct err *err)
{
    struct stored was;
    if (find_stored(s, d->info.run_id, &was, err) != 0)
        return -1;
    int rc = is_up_to_date(&was, &d->info, d->replace, err);
    if (rc < 0)
        return -1;
    out->effect = rc ? INGEST_ALREADY : was.key ? INGEST_REPLACED : INGEST_STORED;
    out->key = was.key;
    if (rc)
        return 0;
    int64_t row = was.key;
    if ((row ? remove_stored(s, row, err) : choose_row(s, d->info.run_id, &row, err)) != 0)
        return -1;
    return draft_store(s, d, row, &out->key, err) != 0 ? -1 : keep_rejection(s, &was, err);
}

static void fill_result(const struct draft *d, struct ingest_result *out)
{
    snprintf(out->run_id, sizeof out->run_id, "%s", d->info.run_id);
    snprintf(out->warning, sizeof out->warning, "%s", d->warning);
    snprintf(out->note, sizeof out->note, "%s", d->note);
    out->warnings = d->warnings;
    out->tests = (int)d->n_tests;
}

int ingest_draft(struct store *s, struct draft *d, struct ingest_result *out, struct err *err)
{
    if (sql_exec(s, "BEGIN IMMEDIATE", err) != 0 || sql_end(s, store_locked(s, d, out, err), err) != 0)
        return -1;
    fill_result(d, out);
    return 0;
}

int ingest_draft_within(struct store *s, struct draft *d, struct ingest_result *out, struct err *err)
{
    if (sql_exec(s, "SAVEPOINT one", err) != 0)
        return -1;
    if (store_locked(s, d, out, err) != 0 || sql_exec(s, "RELEASE one", err) != 0) {
        sqlite3_exec(s->db, "ROLLBACK TO one; RELEASE one", NULL, NULL, NULL);
        return -1;
    }
    fill_result(d, out);
    return 0;
}

static int count_tests(struct store *s, int64_t key, int *out, struct err *err)
{
    SQL_STMT stmt =
        sql_prepare_int(s, "SELECT count(*) AS n FROM test WHERE run_id = :run", ":run", key, err);
    if (sql_step(stmt, err) != 1)
        return -1;
    *out = (int)sql_col_int(stmt, "n", 0);
    return 0;
}

int ingest_known(struct store *s, const struct run_info *info, bool replace, struct ingest_result *out,
                 struct err *err)
{
    struct stored was;
    *out = (struct ingest_result){0};
    if (find_stored(s, info->run_id, &was, err) != 0)
        return -1;
    int rc = is_up_to_date(&was, info, replace, err);
    if (rc <= 0)
        return rc;
    out->effect = INGEST_ALREADY;
    out->key = was.key;
    snprintf(out->run_id, sizeof out->run_id, "%s", info->run_id);
    return count_tests(s, was.key, &out->tests, err) != 0 ? -1 : 1;
}

static int recorded_folder(struct store *s, int64_t key, char out[FS_PATH_MAX], struct err *err)
{
    SQL_STMT stmt = sql_prepare_int(s, "SELECT bundle FROM run WHERE id = :run", ":run", key, err);
    if (sql_step(stmt, err) < 0)
        return -1;
    sql_col_text(stmt, "bundle", out, FS_PATH_MAX);
    return 0;
}

static int record_folder(struct store *s, int64_t key, const char *dir, struct err *err)
{
    SQL_STMT stmt = sql_prepare(s, "UPDATE run SET bundle = :dir WHERE id = :run", err);
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
    AUTO_FREE char *real = realpath(dir, NULL);
    return real && strlen(real) < FS_PATH_MAX ? follow(s, real, out, err) : 0;
}
