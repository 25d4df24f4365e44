#include "results/store/sql.h"

#include "results/store/location.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

void sql_finalize(struct sql_stmt *stmt)
{
    if (!stmt)
        return;
    sqlite3_finalize(stmt->raw);
    free(stmt->params.name);
    free(stmt);
}

void sql_cleanup(struct sql_stmt **stmt)
{
    sql_finalize(*stmt);
}

static bool is_kind(sqlite3 *db, int kind)
{
    return (sqlite3_extended_errcode(db) & 0xff) == kind;
}

/* The system's error behind SQLite's; 0 if that is not about the place of the file. */
static int error_of_system(sqlite3 *db)
{
    bool told = is_kind(db, SQLITE_IOERR) || is_kind(db, SQLITE_CANTOPEN);
    return is_kind(db, SQLITE_FULL) ? ENOSPC : told ? sqlite3_system_errno(db) : 0;
}

void sql_describe_bar(const char *path, char *out, size_t size)
{
    char owner[LOCATION_USER_MAX];
    location_owner(path, false, owner);
    switch (location_bar(path)) {
    case LOCATION_READ_ONLY:
        snprintf(out, size, "its file system is mounted read-only: name another store with --db");
        break;
    case LOCATION_OWN_MODE:
        snprintf(out, size, "the mode of your store forbids it: `chmod u+w` it, then repeat the command");
        break;
    case LOCATION_MARKED:
        snprintf(
            out, size,
            "it is marked as not to be changed (`lsattr` shows that): have root remove the mark (`chattr "
            "-ia`), then repeat the command");
        break;
    case LOCATION_FOREIGN:
        snprintf(out, size, "this user may only read the store: ask its owner, user %s, to do that", owner);
        break;
    }
}

/* A file that is open for reading only cannot be locked for writing, which SQLite takes for an I/O error. */
static bool may_only_read(sqlite3 *db, const char *path)
{
    return is_kind(db, SQLITE_READONLY) || (sqlite3_extended_errcode(db) == SQLITE_IOERR_LOCK &&
                                            access(path, R_OK) == 0 && access(path, W_OK) != 0);
}

/* A killed command leaves a journal to be undone, a running one keeps a log; a user who may not write the
 * store, or not read these files, can do nothing with either. */
static bool describe_unfinished(sqlite3 *db, const char *path, char *out, size_t size)
{
    static const char *const ends[] = {"-journal", "-wal"};
    char file[LOCATION_FILE_MAX], owner[LOCATION_USER_MAX];
    size_t i = 0;
    if ((!is_kind(db, SQLITE_CANTOPEN) && !is_kind(db, SQLITE_READONLY)) || access(path, R_OK) != 0 ||
        location_bar(path) == LOCATION_OWN_MODE)
        return false;
    while (i < sizeof ends / sizeof *ends && !location_unfinished(path, ends[i], file))
        i++;
    if (i == sizeof ends / sizeof *ends)
        return false;
    location_owner(file, false, owner);
    const char *name = strrchr(file, '/');
    if (location_bar(path) == LOCATION_READ_ONLY)
        snprintf(out, size,
                 "on a read-only file system, with a change in %.255s that a killed command did not finish: "
                 "copy both to a writable folder, and name that with --db",
                 name ? name + 1 : file);
    else
        snprintf(out, size,
                 "%.255s, which is user %s's, has a change that is not finished, and this user cannot finish "
                 "it: ask them to run `kernsweep db check` on the store",
                 name ? name + 1 : file, owner);
    return true;
}

/* Describes what the place of the file forbids; false: nothing of the kind. */
static bool describe_place(sqlite3 *db, const char *path, char *out, size_t size)
{
    char owner[LOCATION_USER_MAX];
    const char *problem = NULL;
    if (sqlite3_extended_errcode(db) == SQLITE_READONLY_DIRECTORY) {
        location_owner(path, true, owner);
        snprintf(out, size,
                 "this user may not write to the store's folder, which is user %s's and where SQLite needs "
                 "small files: copy the store to a folder of your own, and name that with --db",
                 owner);
        return true;
    }
    if (describe_unfinished(db, path, out, size))
        return true;
    if (may_only_read(db, path)) {
        sql_describe_bar(path, out, size);
        return true;
    }
    switch (error_of_system(db)) {
    case ENOSPC:
        problem = "no space is left on its file system: free some, then repeat the command";
        break;
    case EDQUOT:
        problem = "the disk quota of this user is used up: free some space, then repeat the command";
        break;
    case EACCES:
    case EPERM:
        location_owner(path, false, owner);
        snprintf(out, size,
                 "permission denied: ask the store's owner, user %s, or name another store with --db", owner);
        return true;
    }
    if (!problem && is_kind(db, SQLITE_CANTOPEN))
        problem = "the store, or a new file next to it, cannot be opened: look at the permissions of its "
                  "folder, and at the free space and inodes there (`df -i`)";
    snprintf(out, size, "%s", problem ? problem : "");
    return problem;
}

/* SQLite's tidying up after a failed write may hide the system's error. */
static bool size_is_limited(sqlite3 *db, long long *bytes)
{
    struct rlimit limit;
    if (!is_kind(db, SQLITE_IOERR) || getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return false;
    *bytes = (long long)limit.rlim_cur;
    return true;
}

void sql_describe(sqlite3 *db, const char *path, char *out, size_t size)
{
    long long bytes;
    if (describe_place(db, path, out, size))
        return;
    if (size_is_limited(db, &bytes))
        snprintf(out, size,
                 "%s, and no file may be larger than %lld bytes here: raise that limit (`ulimit -f`), then "
                 "repeat the command",
                 sqlite3_errmsg(db), bytes);
    else
        snprintf(out, size, "%s (SQLite %d)", sqlite3_errmsg(db), sqlite3_extended_errcode(db));
}

static int fail_busy(const char *path, const char *what, struct err *err)
{
    char holder[LOCATION_HOLDER_MAX] = "another process";
    (void)location_holder(path, holder);
    return err_set(err, ERR_STORAGE,
                   "%s: %s: %s has been using the store for too long: have it ended, or try again", path,
                   what, holder);
}

static int sqlite_fail(struct store *s, const char *what, struct err *err)
{
    int code = sqlite3_extended_errcode(s->db);
    char text[512];
    if (store_is_interrupted(s))
        return err_set(err, ERR_INTERRUPTED, "interrupted");
    if ((code & 0xff) == SQLITE_BUSY)
        return fail_busy(s->path, what, err);
    if ((code & 0xff) == SQLITE_CORRUPT || (code & 0xff) == SQLITE_NOTADB)
        return err_set(
            err, ERR_STORAGE,
            "%s: %s: the store is damaged (%s): put a backup in its place, then `kernsweep ingest` "
            "the bundles since",
            s->path, what, sqlite3_errmsg(s->db));
    sql_describe(s->db, s->path, text, sizeof text);
    return err_set(err, ERR_STORAGE, "%s: %s: %s", s->path, what, text);
}

/* Keeps the first mistake: later ones may only follow from it. */
static void note_misuse(struct sql_stmt *stmt, const char *what, const char *name)
{
    char *out = stmt->store->misuse;
    if (!*out)
        snprintf(out, sizeof stmt->store->misuse, "statement \"%.80s\": %s %.40s", stmt->text, what, name);
}

static int check_misuse(const struct store *s, struct err *err)
{
    return *s->misuse ? err_set(err, ERR_INTERNAL, "%s", s->misuse) : 0;
}

/* The size of a list of names with their text. The names are copied because SQLite may prepare a statement
 * again and move its own. */
static size_t size_of_names(sqlite3_stmt *raw, int params, int columns)
{
    size_t size = (size_t)(params + columns) * sizeof(char *);
    for (int i = 0; i < params; i++) {
        const char *name = sqlite3_bind_parameter_name(raw, i + 1);
        size += strlen(name ? name : "?") + 1;
    }
    for (int i = 0; i < columns; i++)
        size += strlen(sqlite3_column_name(raw, i)) + 1;
    return size;
}

static char *add_name(struct sql_names *names, char *at, const char *name)
{
    size_t size = strlen(name) + 1;
    names->name[names->count++] = memcpy(at, name, size);
    return at + size;
}

static void copy_names(struct sql_stmt *stmt)
{
    int params = sqlite3_bind_parameter_count(stmt->raw), columns = sqlite3_column_count(stmt->raw);
    const char **names = xmalloc(size_of_names(stmt->raw, params, columns));
    stmt->params.name = names;
    stmt->columns.name = names + params;
    char *text = (char *)(names + params + columns);
    for (int i = 0; i < params; i++) {
        const char *name = sqlite3_bind_parameter_name(stmt->raw, i + 1);
        text = add_name(&stmt->params, text, name ? name : "?");
    }
    for (int i = 0; i < columns; i++)
        text = add_name(&stmt->columns, text, sqlite3_column_name(stmt->raw, i));
}

static void prepare(struct sql_stmt *stmt, struct err *err)
{
    struct store *s = stmt->store;
    if (check_misuse(s, err) != 0)
        return;
    if (sqlite3_prepare_v2(s->db, stmt->text, -1, &stmt->raw, NULL) != SQLITE_OK) {
        sqlite_fail(s, "cannot query", err);
        return;
    }
    copy_names(stmt);
    assert(stmt->params.count <= SQL_PARAMS_MAX);
}

static struct sql_stmt *new_stmt(struct store *s, const char *text)
{
    struct sql_stmt *stmt = xcalloc(1, sizeof *stmt);
    stmt->store = s;
    stmt->text = text;
    return stmt;
}

struct sql_stmt *sql_prepare(struct store *s, const char *text, struct err *err)
{
    struct sql_stmt *stmt = new_stmt(s, text);
    prepare(stmt, err);
    return stmt;
}

struct sql_stmt *sql_prepare_int(struct store *s, const char *text, const char *name, int64_t v,
                                 struct err *err)
{
    struct sql_stmt *stmt = sql_prepare(s, text, err);
    sql_bind_int(stmt, name, v);
    return stmt;
}

void sql_reset(struct sql_stmt *stmt)
{
    sqlite3_reset(stmt->raw);
}

void sql_reset_kept(struct sql_stmt **stmt)
{
    sql_reset(*stmt);
}

struct sql_stmt *sql_keep(struct store *s, const char *text, struct err *err)
{
    size_t i = 0;
    while (i < s->n_kept && strcmp(s->kept[i]->text, text) != 0)
        i++;
    if (i == s->n_kept) {
        ALLOC_GROW(s->kept, s->n_kept + 1, s->cap_kept);
        s->kept[s->n_kept++] = new_stmt(s, text);
    }
    struct sql_stmt *stmt = s->kept[i];
    stmt->bound = 0;
    sqlite3_reset(stmt->raw);
    if (stmt->raw)
        sqlite3_clear_bindings(stmt->raw);
    else
        prepare(stmt, err);
    return stmt;
}

int sql_exec(struct store *s, const char *text, struct err *err)
{
    if (check_misuse(s, err) != 0)
        return -1;
    return sqlite3_exec(s->db, text, NULL, NULL, NULL) == SQLITE_OK ? 0
                                                                    : sqlite_fail(s, "cannot execute", err);
}

int sql_end(struct store *s, int rc, struct err *err)
{
    if (rc == 0 && sql_exec(s, "COMMIT", err) == 0)
        return 0;
    sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    return -1;
}

static void check_bound(struct sql_stmt *stmt)
{
    for (int i = 0; i < stmt->params.count; i++)
        if (!(stmt->bound & UINT64_C(1) << i))
            note_misuse(stmt, "no value for", stmt->params.name[i]);
}

int sql_step(struct sql_stmt *stmt, struct err *err)
{
    if (!stmt->raw)
        return -1;
    uint64_t all = stmt->params.count ? UINT64_MAX >> (SQL_PARAMS_MAX - stmt->params.count) : 0;
    if (stmt->bound != all)
        check_bound(stmt);
    if (check_misuse(stmt->store, err) != 0)
        return -1;
    int rc = sqlite3_step(stmt->raw);
    if (rc == SQLITE_ROW)
        return 1;
    if (rc != SQLITE_DONE)
        sqlite_fail(stmt->store, "cannot read or write", err);
    sqlite3_reset(stmt->raw);
    return rc == SQLITE_DONE ? 0 : -1;
}

int sql_run(struct sql_stmt *stmt, struct err *err)
{
    int rc = sql_step(stmt, err);
    sqlite3_reset(stmt->raw);
    return rc < 0 ? -1 : 0;
}

static int find_name(struct sql_names *names, const char *name)
{
    for (int k = 0; k < names->count; k++) {
        int i = names->next;
        names->next = i + 1 < names->count ? i + 1 : 0;
        if (strcmp(names->name[i], name) == 0)
            return i;
    }
    return -1;
}

/* SQLite rejects position 0, and does nothing for a statement that could not be prepared. */
static int param_of(struct sql_stmt *stmt, const char *name)
{
    if (!stmt->raw)
        return 0;
    int i = find_name(&stmt->params, name);
    if (i < 0) {
        note_misuse(stmt, "no parameter", name);
        return 0;
    }
    stmt->bound |= UINT64_C(1) << i;
    return i + 1;
}

/* SQLite returns NULL for column -1. */
static int column_of(struct sql_stmt *stmt, const char *name)
{
    int i = find_name(&stmt->columns, name);
    if (i < 0)
        note_misuse(stmt, "no column", name);
    return i;
}

void sql_bind_text(struct sql_stmt *stmt, const char *name, const char *text)
{
    sqlite3_bind_text(stmt->raw, param_of(stmt, name), text, -1, SQLITE_STATIC);
}

void sql_bind_text_or_null(struct sql_stmt *stmt, const char *name, const char *text)
{
    sql_bind_text(stmt, name, text && *text ? text : NULL);
}

void sql_bind_int(struct sql_stmt *stmt, const char *name, int64_t v)
{
    sqlite3_bind_int64(stmt->raw, param_of(stmt, name), v);
}

void sql_bind_int_or_null(struct sql_stmt *stmt, const char *name, int64_t v, int64_t null)
{
    if (v == null)
        sqlite3_bind_null(stmt->raw, param_of(stmt, name));
    else
        sql_bind_int(stmt, name, v);
}

void sql_bind_num(struct sql_stmt *stmt, const char *name, double v)
{
    if (isnan(v))
        sqlite3_bind_null(stmt->raw, param_of(stmt, name));
    else
        sqlite3_bind_double(stmt->raw, param_of(stmt, name), v);
}

void sql_bind_bytes(struct sql_stmt *stmt, const char *name, double v)
{
    if (isnan(v))
        sqlite3_bind_null(stmt->raw, param_of(stmt, name));
    else
        sql_bind_int(stmt, name, (int64_t)v);
}

void sql_bind_blob(struct sql_stmt *stmt, const char *name, const void *data, size_t len)
{
    sqlite3_bind_blob64(stmt->raw, param_of(stmt, name), data, len, SQLITE_STATIC);
}

const char *sql_col_str(struct sql_stmt *stmt, const char *name, size_t *len)
{
    int i = column_of(stmt, name);
    const char *text = (const char *)sqlite3_column_text(stmt->raw, i);
    if (len)
        *len = (size_t)sqlite3_column_bytes(stmt->raw, i);
    return text;
}

const void *sql_col_blob(struct sql_stmt *stmt, const char *name, size_t *len)
{
    int i = column_of(stmt, name);
    const void *data = sqlite3_column_blob(stmt->raw, i);
    *len = (size_t)sqlite3_column_bytes(stmt->raw, i);
    return data;
}

void sql_col_text(struct sql_stmt *stmt, const char *name, char *out, size_t size)
{
    const char *text = sql_col_str(stmt, name, NULL);
    size_t len = text ? strnlen(text, size - 1) : 0;
    if (len > 0)
        memcpy(out, text, len);
    out[len] = '\0';
}

int64_t sql_col_int(struct sql_stmt *stmt, const char *name, int64_t null)
{
    int i = column_of(stmt, name);
    return sqlite3_column_type(stmt->raw, i) == SQLITE_NULL ? null : sqlite3_column_int64(stmt->raw, i);
}

double sql_col_num(struct sql_stmt *stmt, const char *name)
{
    int i = column_of(stmt, name);
    return sqlite3_column_type(stmt->raw, i) == SQLITE_NULL ? (double)NAN
                                                            : sqlite3_column_double(stmt->raw, i);
}
