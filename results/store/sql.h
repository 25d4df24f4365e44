/* sql: SQLite statements by name: prepare, bind, step, read.
 *
 * The text of a statement is a literal with named parameters; values are bound and columns read by name,
 * never by position. Every parameter must be bound before the first step. An unknown name or an unbound
 * parameter is a bug in this program: the next call that can fail returns ERR_INTERNAL with the statement's
 * text, and store_close() asserts that there was none. NaN, "" and the caller's value for "unknown" are
 * stored as NULL and restored on reading. SQL_STMT finalizes the statement at the end of its scope. Other
 * errors: ERR_STORAGE with SQLite's message and the store's path.
 */
#pragma once

#include "common/base/alloc.h"
#include "results/store/handle.h"

#include <stdint.h>

/* Names are mostly looked up in order: the search starts after the one found last. */
struct sql_names {
    const char **name;
    int count;
    int next;
};

struct sql_stmt {
    struct store *store;
    sqlite3_stmt *raw; /* for statements whose columns are not known in advance */
    const char *text;
    struct sql_names params; /* with their colon */
    struct sql_names columns;
    uint64_t bound; /* bit i: params.name[i] has a value */
};

enum { SQL_PARAMS_MAX = 64 };

#define SQL_STMT AUTO(sql_cleanup) struct sql_stmt *

void sql_cleanup(struct sql_stmt **stmt);

/* What the last error of db says, and what to do where it is about the place of the file: no space, a limit,
 * no right to write. */
void sql_describe(sqlite3 *db, const char *path, char *out, size_t size);
/* Why a store that can be read cannot be written, and what to do. */
void sql_describe_bar(const char *path, char *out, size_t size);

/* Never NULL: if the text cannot be prepared, err is set, and the first step fails. The text must live as
 * long as the statement. */
struct sql_stmt *sql_prepare(struct store *s, const char *text, struct err *err);
/* Prepares in the same way, and binds one integer. */
struct sql_stmt *sql_prepare_int(struct store *s, const char *text, const char *name, int64_t v,
                                 struct err *err);
void sql_finalize(struct sql_stmt *stmt); /* NULL is fine */

/* For statements that run thousands of times: prepared once, owned by the store, returned reset and without
 * bindings. Not reentrant. SQL_KEPT resets the statement at the end of its scope. */
#define SQL_KEPT AUTO(sql_reset_kept) struct sql_stmt *
void sql_reset_kept(struct sql_stmt **stmt);
struct sql_stmt *sql_keep(struct store *s, const char *text, struct err *err);

/* One or more statements without parameters or rows. */
int sql_exec(struct store *s, const char *text, struct err *err);
/* Ends a transaction: commits if rc is 0, else (or if that fails) rolls back. 0 only if committed. */
int sql_end(struct store *s, int rc, struct err *err);
/* 1: a row; 0: done (and reset for the next use); -1: error. */
int sql_step(struct sql_stmt *stmt, struct err *err);
/* Steps a statement that returns no rows, and resets it. */
int sql_run(struct sql_stmt *stmt, struct err *err);
/* Discards the remaining rows; the values stay bound. */
void sql_reset(struct sql_stmt *stmt);

/* name: ":run". Text and bytes must live until the statement is reset. */
void sql_bind_text(struct sql_stmt *stmt, const char *name, const char *text);
void sql_bind_text_or_null(struct sql_stmt *stmt, const char *name, const char *text); /* "" and NULL: NULL */
void sql_bind_int(struct sql_stmt *stmt, const char *name, int64_t v);
void sql_bind_int_or_null(struct sql_stmt *stmt, const char *name, int64_t v, int64_t null);
void sql_bind_num(struct sql_stmt *stmt, const char *name, double v); /* NaN: NULL */
void sql_bind_bytes(struct sql_stmt *stmt, const char *name,
                    double v); /* a whole number in a double; NaN: NULL */
void sql_bind_blob(struct sql_stmt *stmt, const char *name, const void *data, size_t len);

/* name: the column's, without its table. */
void sql_col_text(struct sql_stmt *stmt, const char *name, char *out, size_t size);
int64_t sql_col_int(struct sql_stmt *stmt, const char *name, int64_t null);
double sql_col_num(struct sql_stmt *stmt, const char *name); /* NULL: NaN */
/* NULL for NULL; len may be NULL. They live until the next step. */
const char *sql_col_str(struct sql_stmt *stmt, const char *name, size_t *len);
const void *sql_col_blob(struct sql_stmt *stmt, const char *name, size_t *len);
