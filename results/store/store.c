#include "results/store/store.h"

#include "results/store/location.h"
#include "results/store/migrations.h"
#include "results/store/sql.h"

#include "common/base/alloc.h"
#include "common/base/buf.h"
#include "common/base/temporary.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* "ksw1" marks stores of development versions, before migrations were numbered from 1 again. */
enum { DEVELOPMENT_APPLICATION_ID = 0x6b737731 };

enum { BUSY_TIMEOUT_MS = 30000, BUSY_PAUSE_MS = 20, STEPS_BETWEEN_LOOKS = 10000 };

int store_version_known(void)
{
    return migrations[migrations_count - 1].version;
}

int store_default_path(char *out, struct err *err)
{
    const char *db = getenv("KERNSWEEP_DB");
    const char *data = getenv("XDG_DATA_HOME");
    const char *home = getenv("HOME");
    char folder[FS_PATH_MAX];
    if (db && *db)
        return snprintf(out, FS_PATH_MAX, "%s", db) < FS_PATH_MAX
                   ? 0
                   : err_set(err, ERR_INPUT, "KERNSWEEP_DB: path too long");
    if (data && *data == '/') /* the XDG specification says to ignore others */
        return fs_join(out, err, data, "kernsweep/results.db");
    if (!home || !*home)
        return err_set(err, ERR_INPUT, "HOME is not set: name the store with --db FILE");
    if (fs_join(folder, err, home, ".local/share") != 0)
        return -1;
    return fs_join(out, err, folder, "kernsweep/results.db");
}

/* Stores are private (0600): they hold environments. */
static int make_folder(const char *path, struct err *err)
{
    char folder[FS_PATH_MAX];
    snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    if (!slash || slash == folder)
        return 0;
    *slash = '\0';
    return fs_mkdir_p(folder, 0700, err);
}

static bool has_unwritten_log(const char *path)
{
    char wal[LOCATION_FILE_MAX];
    return location_unfinished(path, "-wal", wal);
}

/* Two slashes at the beginning would be taken for a host. */
static void add_uri_path(struct buf *uri, const char *path)
{
    buf_puts(uri, *path == '/' ? "//" : "");
    for (; *path; path++)
        if (strchr("?#%", *path))
            buf_printf(uri, "%%%02X", (unsigned char)*path);
        else
            buf_add(uri, path, 1);
}

static int fail_db(sqlite3 *db, const char *path, const char *what, struct err *err)
{
    char text[512];
    sql_describe(db, path, text, sizeof text);
    return err_set(err, ERR_STORAGE, "%s: %s: %s", path, what, text);
}

/* Opens the store without making any file. */
static int open_as(struct store *s, const char *how, struct err *err)
{
    AUTO(buf_release) struct buf uri = {.max = 4 * FS_PATH_MAX};
    buf_puts(&uri, "file:");
    add_uri_path(&uri, s->path);
    buf_puts(&uri, how);
    int rc = sqlite3_open_v2(buf_str(&uri), &s->db,
                             SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL);
    return rc == SQLITE_OK ? 0 : fail_db(s->db, s->path, "cannot open the store", err);
}

/* A store in WAL mode needs shared memory; on a read-only file system nobody can write it, nor needs to. */
static int open_immutable(struct store *s, struct err *err)
{
    if (has_unwritten_log(s->path))
        return err_set(
            err, ERR_STORAGE,
            "%s: on a read-only file system, with a log that has not been written back: copy it and its -wal "
            "file to a writable folder, and name that with --db",
            s->path);
    return open_as(s, "?immutable=1", err);
}

/* Files that a reader makes next to another's store would keep its owner from writing. Without a log there is
 * nothing but the store to read. */
static int open_foreign(struct store *s, struct err *err)
{
    return open_as(s, has_unwritten_log(s->path) ? "?readonly_shm=1" : "?immutable=1", err);
}

static int no_store_yet(const struct store *s, struct err *err)
{
    return err_set(err, ERR_INPUT,
                   "%s: no store yet: run or ingest something first, or name another with --db", s->path);
}

static bool is_read_only(const char *path)
{
    return access(path, W_OK) != 0 && errno == EROFS;
}

/* SQLite would find that out late, with files of this user already next to another's store. */
int store_check_writable(const char *path, struct err *err)
{
    char text[512], owner[LOCATION_USER_MAX];
    if (!fs_exists(path) || access(path, R_OK | W_OK) == 0)
        return 0;
    sql_describe_bar(path, text, sizeof text);
    location_owner(path, false, owner);
    if (access(path, R_OK) != 0)
        snprintf(text, sizeof text,
                 "permission denied: ask the store's owner, user %s, or name another store with --db", owner);
    return err_set(err, ERR_STORAGE, "%s: cannot open the store for writing: %s", path, text);
}

static int open_file(struct store *s, struct err *err)
{
    int flags = s->mode == STORE_WRITE ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READWRITE;
    if (s->mode == STORE_WRITE && make_folder(s->path, err) != 0)
        return -1;
    if (s->mode != STORE_WRITE && !fs_exists(s->path))
        return no_store_yet(s, err);
    struct stat st;
    if (stat(s->path, &st) == 0 && !S_ISREG(st.st_mode))
        return err_set(err, ERR_INPUT, "%s: not a regular file, so it is no store; name another with --db",
                       s->path);
    if (s->mode != STORE_READ && store_check_writable(s->path, err) != 0)
        return -1;
    bool read_only = is_read_only(s->path);
    if (read_only && location_has_log(s->path))
        return open_immutable(s, err);
    const char *network = location_network(s->path);
    bool foreign = location_is_foreign(s->path);
    if (s->mode == STORE_READ && (foreign || network) && location_has_log(s->path))
        return open_foreign(s, err);
    if (s->mode != STORE_READ && network && location_try_locks(s->path, network, err) != 0)
        return -1;
    if (!foreign && !read_only && location_clear(s->path, err) != 0)
        return -1;
    mode_t mask = umask(0077);
    /* Whoever shares a store between threads has a lock of his own (ingest_many.c). */
    int rc = sqlite3_open_v2(s->path, &s->db, flags | SQLITE_OPEN_NOMUTEX, NULL);
    /* The store may be another user's. */
    if (rc != SQLITE_OK && s->mode == STORE_READ) {
        sqlite3_close(s->db);
        rc = sqlite3_open_v2(s->path, &s->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL);
    }
    umask(mask);
    return rc == SQLITE_OK ? 0 : fail_db(s->db, s->path, "cannot open the store", err);
}

/* Only a new file heeds auto_vacuum, which maintain.h needs; setting it would lock any other. */
static bool is_new(const struct store *s)
{
    struct stat st;
    return stat(s->path, &st) == 0 && st.st_size == 0;
}

static int stop_statement(void *arg)
{
    return store_is_interrupted(arg);
}

static int wait_for_others(void *arg, int waits)
{
    if (store_is_interrupted(arg) || waits >= BUSY_TIMEOUT_MS / BUSY_PAUSE_MS)
        return 0;
    sqlite3_sleep(BUSY_PAUSE_MS);
    return 1;
}

static void heed(struct store *s)
{
    sqlite3_busy_timeout(s->db, BUSY_TIMEOUT_MS);
    if (!s->interrupted)
        return;
    sqlite3_progress_handler(s->db, STEPS_BETWEEN_LOOKS, stop_statement, s);
    sqlite3_busy_handler(s->db, wait_for_others, s);
}

static int configure(struct store *s, struct err *err)
{
    sqlite3_extended_result_codes(s->db, 1);
    heed(s);
    /* The file may be untrusted: its schema must not call functions with side effects. */
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)NULL);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)NULL);
    if (sql_exec(s, "PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL; PRAGMA temp_store = MEMORY", err) !=
        0)
        return -1;
    return s->mode == STORE_READ ? sql_exec(s, "PRAGMA query_only = ON", err) : 0;
}

/* An open connection keeps the log in use: two that only waited for each other would wait in vain. The pause
 * differs between processes, so that they do not come back at the same time. */
static int open_again(struct store *s, struct err *err)
{
    sqlite3_close(s->db);
    s->db = NULL;
    sqlite3_sleep((int)(BUSY_PAUSE_MS / 2 + getpid() % BUSY_PAUSE_MS));
    return open_file(s, err) != 0 ? -1 : configure(s, err);
}

/* SQLite does not wait by itself for others that leave it at the same time. */
static int leave_log(struct store *s, const char *network, struct err *err)
{
    for (int waits = 0;; waits++) {
        int rc = sql_exec(s, "PRAGMA journal_mode = DELETE", err);
        if (rc == 0 && !location_has_log(s->path))
            return 0;
        int why = sqlite3_errcode(s->db) & 0xff;
        if (rc != 0 && why != SQLITE_BUSY && why != SQLITE_LOCKED)
            return -1;
        *err = (struct err){.kind = ERR_NONE};
        if (!network) /* it is in use; next time will do */
            return 0;
        if (store_is_interrupted(s) || waits >= BUSY_TIMEOUT_MS / BUSY_PAUSE_MS)
            break;
        if (open_again(s, err) != 0)
            return -1;
    }
    return err_set(
        err, ERR_STORAGE,
        "%s: on %s, and another process has it open as on a local disk: end that, then repeat the command",
        s->path, network);
}

/* This changes the file, so it must be known to be ours. Each nightly run modifies one page of the history's
 * index per cell; a rare checkpoint writes them back once for many runs. A store that once had a rollback
 * journal keeps it: other machines may have the file system, too. */
static int configure_writing(struct store *s, struct err *err)
{
    const char *network = location_network(s->path);
    bool fresh = is_new(s);
    if (fresh && sql_exec(s, "PRAGMA auto_vacuum = INCREMENTAL", err) != 0)
        return -1;
    if (fresh && !network && sql_exec(s, "PRAGMA journal_mode = WAL", err) != 0)
        return -1;
    if (!fresh && location_has_log(s->path) && (network || location_is_shared(s->path)) &&
        leave_log(s, network, err) != 0)
        return -1;
    return sql_exec(s, "PRAGMA wal_autocheckpoint = 8000", err);
}

/* One statement is one snapshot; between two, another process may be creating the store. */
static int read_identity(struct store *s, int64_t *id, int64_t *version, int64_t *tables, struct err *err)
{
    SQL_STMT stmt = sql_prepare(s,
                                "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema) AS"
                                " tables FROM pragma_application_id, pragma_user_version",
                                err);
    if (sql_step(stmt, err) != 1)
        return sqlite3_errcode(s->db) == SQLITE_NOTADB ? err_wrap(err, "is this a kernsweep store?") : -1;
    *id = sql_col_int(stmt, "application_id", 0);
    *version = sql_col_int(stmt, "user_version", 0);
    *tables = sql_col_int(stmt, "tables", 0);
    return 0;
}

static int check_identity(struct store *s, int64_t *version, struct err *err)
{
    int64_t id = 0, tables = 0;
    if (read_identity(s, &id, version, &tables, err) != 0)
        return -1;
    if (id == DEVELOPMENT_APPLICATION_ID)
        return err_set(
            err, ERR_STORAGE,
            "%s: a store of a development version (schema %lld), which this kernsweep does not read: export "
            "it with the one that wrote it (`kernsweep export --format sql`), then `kernsweep ingest` its "
            "bundles into a new store, named with --db",
            s->path, (long long)*version);
    if (id != STORE_APPLICATION_ID && (*version != 0 || tables != 0))
        return err_set(err, ERR_INPUT,
                       "%s: a database, but not a kernsweep store; name another file with --db", s->path);
    if (*version > store_version_known())
        return err_set(
            err, ERR_STORAGE,
            "%s: written by a newer kernsweep (schema %lld, this version knows %d); use that version, or "
            "another --db",
            s->path, (long long)*version, store_version_known());
    return 0;
}

static int copy_pages(sqlite3 *from, sqlite3 *to, const char *path, struct err *err)
{
    sqlite3_backup *b = sqlite3_backup_init(to, "main", from, "main");
    int rc = b ? sqlite3_backup_step(b, -1) : SQLITE_ERROR;
    if (b)
        sqlite3_backup_finish(b);
    return rc == SQLITE_DONE ? 0 : fail_db(to, path, "cannot copy the store", err);
}

static int copy_to(sqlite3 *from, const char *path, struct err *err)
{
    sqlite3 *to = NULL;
    mode_t mask = umask(0077);
    int rc = sqlite3_open_v2(path, &to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
    if (rc == SQLITE_OK)
        rc = copy_pages(from, to, path, err);
    else
        rc = fail_db(to, path, "cannot create", err);
    umask(mask);
    sqlite3_close(to);
    return rc;
}

/* A journal that belongs to an earlier file of that name would be rolled back into a new one. */
static void remove_copy(const char *tmp)
{
    char journal[FS_PATH_MAX + 64];
    snprintf(journal, sizeof journal, "%s-journal", tmp);
    unlink(tmp);
    unlink(journal);
}

static int copy_by_way_of(sqlite3 *from, const char *tmp, const char *path, struct err *err)
{
    if (copy_to(from, tmp, err) == 0 && fs_rename(tmp, path, err) == 0)
        return 0;
    remove_copy(tmp);
    return -1;
}

/* A connection that writes cannot be copied from, but another one still reads what was there before. */
static int copy_unchanged(const struct store *s, const char *tmp, const char *path, struct err *err)
{
    sqlite3 *from = NULL;
    int rc = sqlite3_open_v2(s->path, &from, SQLITE_OPEN_READONLY, NULL);
    rc = rc == SQLITE_OK ? copy_by_way_of(from, tmp, path, err)
                         : fail_db(from, s->path, "cannot open the store", err);
    sqlite3_close(from);
    return rc == 0 ? 0 : err_wrap(err, "backup before the migration");
}

/* This runs in the transaction of the migration: nobody stores anything between the copy and the migration,
 * and nobody else makes the copy, so an unfinished one was left by a killed process. */
static int backup_before(const struct store *s, int64_t version, struct err *err)
{
    char path[FS_PATH_MAX + 32], tmp[FS_PATH_MAX + 48];
    snprintf(path, sizeof path, "%s.v%lld.bak", s->path, (long long)version);
    snprintf(tmp, sizeof tmp, "%s.tmp", path);
    remove_copy(tmp);
    if (fs_exists(path))
        return 0; /* keep the copy made before an interrupted migration */
    return copy_unchanged(s, tmp, path, err);
}

static int apply_migration(struct store *s, const struct migration *m, struct err *err)
{
    /* PRAGMA takes no parameters. */
    char version[64];
    snprintf(version, sizeof version, "PRAGMA user_version = %d", m->version);
    if (sql_exec(s, m->sql, err) != 0 || sql_exec(s, version, err) != 0)
        return err_wrap(err, "migration %s", m->name);
    return 0;
}

static int migrate_locked(struct store *s, struct err *err)
{
    /* Another process may have migrated between our check and our lock. */
    int64_t now = 0;
    if (check_identity(s, &now, err) != 0)
        return -1;
    if (now > 0 && now < store_version_known() && backup_before(s, now, err) != 0)
        return -1;
    char id[64];
    snprintf(id, sizeof id, "PRAGMA application_id = %d", STORE_APPLICATION_ID);
    if (sql_exec(s, id, err) != 0)
        return -1;
    for (int i = 0; i < migrations_count; i++)
        if (migrations[i].version > now && apply_migration(s, &migrations[i], err) != 0)
            return -1;
    return 0;
}

static int migrate(struct store *s, struct err *err)
{
    return sql_exec(s, "BEGIN IMMEDIATE", err) != 0 ? -1 : sql_end(s, migrate_locked(s, err), err);
}

/* A process that is killed while it makes a store leaves an empty one. */
static int check_readable(const struct store *s, int64_t version, struct err *err)
{
    if (version == store_version_known())
        return 0;
    if (version == 0)
        return no_store_yet(s, err);
    return err_set(
        err, ERR_STORAGE,
        "%s: schema %lld of an older kernsweep; `kernsweep db check` backs it up and migrates it to %d",
        s->path, (long long)version, store_version_known());
}

static int make_writable(struct store *s, int64_t version, struct err *err)
{
    if (version == 0 && s->mode == STORE_CHANGE)
        return no_store_yet(s, err);
    if (configure_writing(s, err) != 0)
        return -1;
    return version == store_version_known() ? 0 : migrate(s, err);
}

static int open_checked(struct store *s, struct err *err)
{
    int64_t version = 0;
    if (open_file(s, err) != 0 || configure(s, err) != 0 || check_identity(s, &version, err) != 0)
        return -1;
    return s->mode == STORE_READ ? check_readable(s, version, err) : make_writable(s, version, err);
}

int store_open(struct store *s, const char *path, enum store_mode mode, struct err *err)
{
    return store_open_heeding(s, path, mode, NULL, err);
}

int store_open_heeding(struct store *s, const char *path, enum store_mode mode,
                       const volatile sig_atomic_t *interrupted, struct err *err)
{
    *s = (struct store){.mode = mode, .interrupted = interrupted};
    if (snprintf(s->path, sizeof s->path, "%s", path) >= (int)sizeof s->path)
        return err_set(err, ERR_INPUT, "store path too long: %.200s", path);
    if (open_checked(s, err) == 0)
        return 0;
    store_close(s);
    return -1;
}

void store_close(struct store *s)
{
    while (s->n_kept > 0)
        sql_finalize(s->kept[--s->n_kept]);
    free(s->kept);
    s->kept = NULL;
    s->cap_kept = 0;
    sqlite3_close(s->db);
    s->db = NULL;
    assert(!*s->misuse);
}

int store_copy(struct store *s, const char *path, struct err *err)
{
    char tmp[TEMPORARY_PATH_MAX];
    if (fs_exists(path))
        return err_set(err, ERR_INPUT, "%s: already exists; name a new file for the copy", path);
    temporary_name(tmp, path);
    return copy_by_way_of(s->db, tmp, path, err);
}
