/* sql: the few SQLite calls that the modules of results/ share: prepare, bind, step, read.
 *
 * Texts of statements are literals; every value is bound. NaN, RUN_UNKNOWN-like negatives where the caller
 * says so, and
 * "" become NULL and come back as such. A statement belongs to the caller: SQL_STMT finalizes it at scope's
 * end. Errors: ERR_STORAGE with SQLite's message and the store's path.
 */
#ifndef KERNSWEEP_RESULTS_STORE_SQL_H
#define KERNSWEEP_RESULTS_STORE_SQL_H

#include "results/store/store.h"

#include <stdint.h>

#define SQL_STMT __attribute__((cleanup(sql_cleanup))) sqlite3_stmt *

void sql_cleanup(sqlite3_stmt **stmt);

/* NULL on error. */
sqlite3_stmt *sql_prepare(struct store *s, const char *text, struct err *err);
/* For what is asked thousands of times: prepared once, reset and without values, and the store's. One user at
 * a time: SQL_KEPT resets it at scope's end. */
#define SQL_KEPT __attribute__((cleanup(sql_reset))) sqlite3_stmt *
void sql_reset(sqlite3_stmt **stmt);
sqlite3_stmt *sql_keep(struct store *s, const char *text, struct err *err);
/* One or more statements without parameters or rows. */
int sql_exec(struct store *s, const char *text, struct err *err);
/* 1: a row; 0: done (and reset for the next use); -1: error. */
int sql_step(struct store *s, sqlite3_stmt *stmt, struct err *err);
/* Steps a statement that returns no rows, and resets it. */
int sql_run(struct store *s, sqlite3_stmt *stmt, struct err *err);
int sql_fail(struct store *s, struct err *err, const char *what);

/* Positions count from 1. The text must live until the statement is reset. */
void sql_bind_text(sqlite3_stmt *stmt, int i, const char *text);
void sql_bind_text_or_null(sqlite3_stmt *stmt, int i, const char *text); /* "" and NULL: NULL */
void sql_bind_int(sqlite3_stmt *stmt, int i, int64_t v);
void sql_bind_int_or_null(sqlite3_stmt *stmt, int i, int64_t v, int64_t null);
void sql_bind_num(sqlite3_stmt *stmt, int i, double v);   /* NaN: NULL */
void sql_bind_bytes(sqlite3_stmt *stmt, int i, double v); /* a whole number in a double; NaN: NULL */

/* Columns count from 0. */
void sql_text(sqlite3_stmt *stmt, int i, char *out, size_t size);
int64_t sql_int(sqlite3_stmt *stmt, int i, int64_t null);
double sql_num(sqlite3_stmt *stmt, int i); /* NULL: NaN */

#endif
