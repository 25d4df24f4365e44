#include "results/store/sql.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void sql_cleanup(sqlite3_stmt **stmt)
{
    sqlite3_finalize(*stmt);
}

int sql_fail(struct store *s, struct err *err, const char *what)
{
    int code = sqlite3_extended_errcode(s->db);
    if ((code & 0xff) == SQLITE_BUSY)
        return err_set(err, ERR_STORAGE,
                       "%s: %s: another process has been writing to the store for too long; try again",
                       s->path, what);
    return err_set(err, ERR_STORAGE, "%s: %s: %s (SQLite %d)", s->path, what, sqlite3_errmsg(s->db), code);
}

sqlite3_stmt *sql_prepare(struct store *s, const char *text, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    if (sqlite3_prepare_v2(s->db, text, -1, &stmt, NULL) != SQLITE_OK) {
        sql_fail(s, err, "cannot query");
        return NULL;
    }
    return stmt;
}

void sql_reset(sqlite3_stmt **stmt)
{
    sqlite3_reset(*stmt); /* NULL is fine */
}

sqlite3_stmt *sql_keep(struct store *s, const char *text, struct err *err)
{
    size_t i = 0;
    while (i < s->n_kept && s->kept[i].text != text && strcmp(s->kept[i].text, text) != 0)
        i++;
    if (i == STORE_KEPT_MAX) {
        err_set(err, ERR_INTERNAL, "more than %d statements to keep", STORE_KEPT_MAX);
        return NULL;
    }
    if (i == s->n_kept) {
        sqlite3_stmt *stmt = sql_prepare(s, text, err);
        if (!stmt)
            return NULL;
        s->kept[s->n_kept++] = (struct store_statement){.text = text, .stmt = stmt};
    }
    sqlite3_reset(s->kept[i].stmt);
    sqlite3_clear_bindings(s->kept[i].stmt);
    return s->kept[i].stmt;
}

int sql_exec(struct store *s, const char *text, struct err *err)
{
    if (sqlite3_exec(s->db, text, NULL, NULL, NULL) != SQLITE_OK)
        return sql_fail(s, err, "cannot execute");
    return 0;
}

int sql_step(struct store *s, sqlite3_stmt *stmt, struct err *err)
{
    int rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW)
        return 1;
    if (rc != SQLITE_DONE)
        sql_fail(s, err, "cannot read or write");
    sqlite3_reset(stmt);
    return rc == SQLITE_DONE ? 0 : -1;
}

int sql_run(struct store *s, sqlite3_stmt *stmt, struct err *err)
{
    int rc = sql_step(s, stmt, err);
    sqlite3_reset(stmt);
    return rc < 0 ? -1 : 0;
}

void sql_bind_text(sqlite3_stmt *stmt, int i, const char *text)
{
    sqlite3_bind_text(stmt, i, text, -1, SQLITE_STATIC);
}

void sql_bind_text_or_null(sqlite3_stmt *stmt, int i, const char *text)
{
    if (text && *text)
        sql_bind_text(stmt, i, text);
    else
        sqlite3_bind_null(stmt, i);
}

void sql_bind_int(sqlite3_stmt *stmt, int i, int64_t v)
{
    sqlite3_bind_int64(stmt, i, v);
}

void sql_bind_int_or_null(sqlite3_stmt *stmt, int i, int64_t v, int64_t null)
{
    if (v == null)
        sqlite3_bind_null(stmt, i);
    else
        sqlite3_bind_int64(stmt, i, v);
}

void sql_bind_num(sqlite3_stmt *stmt, int i, double v)
{
    if (isnan(v))
        sqlite3_bind_null(stmt, i);
    else
        sqlite3_bind_double(stmt, i, v);
}

void sql_bind_bytes(sqlite3_stmt *stmt, int i, double v)
{
    if (isnan(v))
        sqlite3_bind_null(stmt, i);
    else
        sqlite3_bind_int64(stmt, i, (int64_t)v);
}

void sql_text(sqlite3_stmt *stmt, int i, char *out, size_t size)
{
    const char *text = (const char *)sqlite3_column_text(stmt, i);
    snprintf(out, size, "%s", text ? text : "");
}

int64_t sql_int(sqlite3_stmt *stmt, int i, int64_t null)
{
    return sqlite3_column_type(stmt, i) == SQLITE_NULL ? null : sqlite3_column_int64(stmt, i);
}

double sql_num(sqlite3_stmt *stmt, int i)
{
    return sqlite3_column_type(stmt, i) == SQLITE_NULL ? NAN : sqlite3_column_double(stmt, i);
}
