#include "results/store/query.h"

#include "common/base/alloc.h"
#include "common/base/buf.h"
#include "common/base/clock.h"
#include "results/store/handle.h"

#include <ctype.h>
#include <stdlib.h>

enum { STEPS_BETWEEN_LOOKS = 10000, BLOB_SHOWN_MAX = 1 << 20 };

static int only_reading(void *arg, int action, const char *a, const char *b, const char *db,
                        const char *trigger)
{
    (void)arg;
    (void)a;
    (void)b;
    (void)db;
    (void)trigger;
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_FUNCTION:
    case SQLITE_RECURSIVE:
        return SQLITE_OK;
    default: /* SQLite's action codes are not an enum */
        return SQLITE_DENY;
    }
}

struct limit {
    const struct store *store;
    int64_t deadline_ns;
    double timeout_s;
};

static int is_to_stop(void *arg)
{
    const struct limit *limit = arg;
    return store_is_interrupted(limit->store) || clock_mono_ns() > limit->deadline_ns;
}

/* One row as text: blobs as X'..', all other types as converted by SQLite. */
struct row_texts {
    size_t columns;
    const char **names;
    const char **values;
    int *types;
    struct buf *blobs;
};

static void row_texts_init(struct row_texts *r, sqlite3_stmt *stmt)
{
    r->columns = (size_t)sqlite3_column_count(stmt);
    r->names = xcalloc(r->columns, sizeof *r->names);
    r->values = xcalloc(r->columns, sizeof *r->values);
    r->types = xcalloc(r->columns, sizeof *r->types);
    r->blobs = xcalloc(r->columns, sizeof *r->blobs);
    for (size_t i = 0; i < r->columns; i++) {
        r->names[i] = sqlite3_column_name(stmt, (int)i);
        buf_init(&r->blobs[i], 2 * BLOB_SHOWN_MAX + 8);
    }
}

static void row_texts_release(struct row_texts *r)
{
    for (size_t i = 0; i < r->columns; i++)
        buf_release(&r->blobs[i]);
    free(r->names);
    free(r->values);
    free(r->types);
    free(r->blobs);
}

static const char *blob_text(sqlite3_stmt *stmt, int i, struct buf *out)
{
    const unsigned char *bytes = sqlite3_column_blob(stmt, i);
    int n = sqlite3_column_bytes(stmt, i);
    buf_clear(out);
    buf_puts(out, "X'");
    for (int k = 0; k < n && k < BLOB_SHOWN_MAX; k++)
        buf_printf(out, "%02x", bytes[k]);
    buf_putc(out, '\'');
    return buf_str(out);
}

static void read_texts(struct row_texts *r, sqlite3_stmt *stmt)
{
    for (size_t i = 0; i < r->columns; i++) {
        r->types[i] = sqlite3_column_type(stmt, (int)i);
        r->values[i] = r->types[i] == SQLITE_BLOB ? blob_text(stmt, (int)i, &r->blobs[i])
                                                  : (const char *)sqlite3_column_text(stmt, (int)i);
    }
}

static int stopped(const struct limit *limit, struct err *err)
{
    if (store_is_interrupted(limit->store))
        return err_set(err, ERR_INTERRUPTED, "interrupted");
    return err_set(err, ERR_INPUT, "the statement took longer than %g s and was stopped", limit->timeout_s);
}

static int run_statement(struct limit *limit, sqlite3_stmt *stmt, query_fn *header, query_fn *row, void *arg,
                         struct err *err)
{
    sqlite3 *db = limit->store->db;
    AUTO(row_texts_release) struct row_texts r = {0};
    row_texts_init(&r, stmt);
    const struct query_row view = {r.columns, r.names, r.values, r.types};
    const struct query_row names = {r.columns, r.names, NULL, NULL};
    int rc = header ? header(arg, &names, err) : 0, step = SQLITE_ROW;
    sqlite3_progress_handler(db, STEPS_BETWEEN_LOOKS, is_to_stop, limit);
    while (rc == 0 && (step = sqlite3_step(stmt)) == SQLITE_ROW) {
        read_texts(&r, stmt);
        rc = row(arg, &view, err);
    }
    if (rc == 0 && step == SQLITE_INTERRUPT)
        rc = stopped(limit, err);
    else if (rc == 0 && step != SQLITE_DONE)
        rc = err_set(err, ERR_INPUT, "sql: %s", sqlite3_errmsg(db));
    sqlite3_progress_handler(db, 0, NULL, NULL);
    return rc;
}

int query_run(struct store *s, const char *sql, double timeout_s, query_fn *header, query_fn *row, void *arg,
              struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    const char *rest = NULL;
    struct limit limit = {
        .store = s, .deadline_ns = clock_mono_ns() + (int64_t)(timeout_s * 1e9), .timeout_s = timeout_s};
    sqlite3_set_authorizer(s->db, only_reading, NULL);
    int prepared = sqlite3_prepare_v2(s->db, sql, -1, &stmt, &rest);
    int rc = -1;
    while (prepared == SQLITE_OK && (isspace((unsigned char)*rest) || *rest == ';'))
        rest++;
    if (prepared != SQLITE_OK)
        err_set(err, ERR_INPUT, "sql: %s%s", sqlite3_errmsg(s->db),
                prepared == SQLITE_AUTH ? ": only SELECT is allowed here" : "");
    else if (!stmt || *rest)
        err_set(err, ERR_INPUT, "sql: expected one SELECT statement");
    else
        rc = run_statement(&limit, stmt, header, row, arg, err);
    sqlite3_finalize(stmt);
    sqlite3_set_authorizer(s->db, NULL, NULL);
    return rc;
}
