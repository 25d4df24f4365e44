#include "results/ingest.h"

#include "results/readers.h"
#include "results/sql.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int layout_of(const char *dir, enum layout *out, struct err *err)
{
    char path[FS_PATH_MAX];
    if (!fs_is_dir(dir))
        return err_set(err, ERR_INPUT, "%s: no such folder", dir);
    if (fs_join(path, err, dir, "job.json") != 0)
        return -1;
    if (fs_exists(path)) {
        *out = LAYOUT_BUNDLE;
        return 0;
    }
    if (fs_join(path, err, dir, "manifest.json") != 0)
        return -1;
    if (fs_exists(path))
        return err_set(err, ERR_INPUT,
                       "%s: manifest.json without job.json: no bundle, or half of one; pull it again", dir);
    *out = LAYOUT_B3_89;
    return 0;
}

static int identity(const char *dir, enum layout layout, const struct ingest_options *options,
                    struct run_info *out, struct err *err)
{
    switch (layout) {
    case LAYOUT_BUNDLE:
        return bundle_identity(dir, out, err);
    case LAYOUT_B3_89:
        return b3_89_identity(dir, options, out, err);
    }
    return -1;
}

static int read_draft(const char *dir, enum layout layout, const struct ingest_options *options,
                      struct draft *d, struct err *err)
{
    switch (layout) {
    case LAYOUT_BUNDLE:
        return bundle_read(dir, options, d, err);
    case LAYOUT_B3_89:
        return b3_89_read(dir, options, d, err);
    }
    return -1;
}

struct stored {
    int64_t key; /* 0: not there */
    enum run_status status;
    char content_sha256[SHA256_HEX_LEN + 1];
};

static int find_stored(struct store *s, const char *run_id, struct stored *out, struct err *err)
{
    char status[32];
    *out = (struct stored){0};
    SQL_STMT stmt = sql_prepare(s, "SELECT id, status, content_sha256 FROM run WHERE run_id = ?1", err);
    if (!stmt)
        return -1;
    sql_bind_text(stmt, 1, run_id);
    int rc = sql_step(s, stmt, err);
    if (rc <= 0)
        return rc;
    out->key = sql_int(stmt, 0, 0);
    sql_text(stmt, 1, status, sizeof status);
    sql_text(stmt, 2, out->content_sha256, sizeof out->content_sha256);
    return run_status_from_name(status, &out->status)
               ? 0
               : err_set(err, ERR_STORAGE, "%s: run %s has the unknown status %s", s->path, run_id, status);
}

/* 1: nothing to do. A complete run never changes; one that was not may have gone on. */
static int decide(const struct stored *was, const struct run_info *now, struct err *err)
{
    if (!was->key)
        return 0;
    if (strcmp(was->content_sha256, now->content_sha256) == 0)
        return 1;
    if (was->status != RUN_COMPLETE)
        return 0;
    return err_set(
        err, ERR_INPUT,
        "run %s is stored already with other contents (%.12s there, %.12s here): a complete run never "
        "changes; one of the two folders was edited",
        now->run_id, was->content_sha256, now->content_sha256);
}

static int remove_stored(struct store *s, int64_t key, struct err *err)
{
    /* A baseline may hold the row that comes back in a moment under the same key. */
    SQL_STMT stmt = sql_prepare(s, "DELETE FROM run WHERE id = ?1", err);
    if (!stmt || sql_exec(s, "PRAGMA defer_foreign_keys = ON", err) != 0)
        return -1;
    sql_bind_int(stmt, 1, key);
    return sql_run(s, stmt, err);
}

/* Inside the transaction, where no other process can come between the look and the writing. */
static int store_locked(struct store *s, struct draft *d, struct ingest_result *out, struct err *err)
{
    struct stored was;
    if (find_stored(s, d->info.run_id, &was, err) != 0)
        return -1;
    int rc = decide(&was, &d->info, err);
    if (rc < 0)
        return -1;
    out->outcome = rc ? INGEST_ALREADY : was.key ? INGEST_REPLACED : INGEST_STORED;
    out->key = was.key;
    if (rc)
        return 0;
    if (was.key && remove_stored(s, was.key, err) != 0)
        return -1;
    return draft_store(s, d, was.key, &out->key, err);
}

int ingest_draft(struct store *s, struct draft *d, struct ingest_result *out, struct err *err)
{
    if (sql_exec(s, "BEGIN IMMEDIATE", err) != 0)
        return -1;
    if (store_locked(s, d, out, err) != 0 || sql_exec(s, "COMMIT", err) != 0) {
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
        return -1;
    }
    snprintf(out->run_id, sizeof out->run_id, "%s", d->info.run_id);
    snprintf(out->warning, sizeof out->warning, "%s", d->warning);
    out->warnings = d->warnings;
    out->tests = (int)d->n_tests;
    return 0;
}

static int already(struct store *s, const struct run_info *info, struct ingest_result *out, struct err *err)
{
    struct stored was;
    if (find_stored(s, info->run_id, &was, err) != 0)
        return -1;
    int rc = decide(&was, info, err);
    if (rc <= 0)
        return rc;
    out->outcome = INGEST_ALREADY;
    out->key = was.key;
    snprintf(out->run_id, sizeof out->run_id, "%s", info->run_id);
    return 1;
}

static void note_bundle(struct draft *d, const char *dir)
{
    char *real = realpath(dir, NULL);
    if (real && strlen(real) < sizeof d->info.bundle)
        snprintf(d->info.bundle, sizeof d->info.bundle, "%s", real);
    free(real);
}

int ingest_bundle(struct store *s, const char *dir, const struct ingest_options *options,
                  struct ingest_result *out, struct err *err)
{
    enum layout layout;
    struct run_info info = {0};
    *out = (struct ingest_result){0};
    if (layout_of(dir, &layout, err) != 0 || identity(dir, layout, options, &info, err) != 0)
        return -1;
    int rc = already(s, &info, out, err);
    if (rc != 0)
        return rc > 0 ? 0 : -1;
    struct draft d;
    draft_init(&d);
    rc = read_draft(dir, layout, options, &d, err);
    if (rc == 0) {
        note_bundle(&d, dir);
        rc = ingest_draft(s, &d, out, err);
    }
    draft_release(&d);
    return rc;
}
