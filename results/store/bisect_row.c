#include "results/store/bisect_row.h"

#include "common/base/alloc.h"
#include "results/store/sql.h"
#include "results/store/when.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int bisect_row_save(struct store *s, const struct bisect_row *row, struct err *err)
{
    SQL_STMT stmt =
        sql_prepare(s,
                    "INSERT INTO bisect (name, ticket, node, good, bad, started_at, ended_at, outcome, body)"
                    " VALUES (:name, :ticket, :node, :good, :bad, :started, :ended, :outcome, :body)"
                    " ON CONFLICT (name) DO UPDATE SET ended_at = excluded.ended_at,"
                    " outcome = excluded.outcome, body = excluded.body",
                    err);
    sql_bind_text(stmt, ":name", row->name);
    sql_bind_text(stmt, ":ticket", row->ticket);
    sql_bind_text(stmt, ":node", row->node);
    sql_bind_text(stmt, ":good", row->good);
    sql_bind_text(stmt, ":bad", row->bad);
    sql_bind_int(stmt, ":started", when_parse(row->started_at));
    sql_bind_int_or_null(stmt, ":ended", when_parse(row->ended_at), WHEN_UNKNOWN);
    sql_bind_text_or_null(stmt, ":outcome", row->outcome);
    sql_bind_text(stmt, ":body", row->body);
    return sql_run(stmt, err);
}

static void read_head(struct sql_stmt *stmt, struct bisect_row *row)
{
    *row = (struct bisect_row){.body = NULL};
    sql_col_text(stmt, "name", row->name, sizeof row->name);
    sql_col_text(stmt, "ticket", row->ticket, sizeof row->ticket);
    sql_col_text(stmt, "node", row->node, sizeof row->node);
    sql_col_text(stmt, "good", row->good, sizeof row->good);
    sql_col_text(stmt, "bad", row->bad, sizeof row->bad);
    sql_col_text(stmt, "outcome", row->outcome, sizeof row->outcome);
    when_format(sql_col_int(stmt, "started_at", WHEN_UNKNOWN), row->started_at);
    when_format(sql_col_int(stmt, "ended_at", WHEN_UNKNOWN), row->ended_at);
}

static int read_row(struct sql_stmt *stmt, struct bisect_row *row, struct err *err)
{
    size_t len;
    const char *body = sql_col_str(stmt, "body", &len);
    read_head(stmt, row);
    row->body = body && len <= BISECT_BODY_MAX ? xstrndup(body, len) : NULL;
    return row->body ? 0 : err_set(err, ERR_STORAGE, "bisect %s: its body cannot be read", row->name);
}

#define BISECT_SELECT "SELECT name, ticket, node, good, bad, started_at, ended_at, body, outcome FROM bisect "

/* The first two rows are enough to tell whether the word is ambiguous. */
static int load_first(struct sql_stmt *stmt, const char *word, struct bisect_row *out, bool *found,
                      struct err *err)
{
    int rc = sql_step(stmt, err);
    *found = rc > 0;
    if (rc <= 0)
        return rc;
    if (read_row(stmt, out, err) != 0)
        return -1;
    if (strcmp(out->name, word) == 0 || strcmp(word, "latest") == 0)
        return 0;
    rc = sql_step(stmt, err);
    if (rc > 0)
        rc = err_set(err, ERR_INPUT, "%.80s: ambiguous: `kernsweep bisect --list` lists the searches", word);
    if (rc < 0)
        bisect_row_release(out);
    return rc;
}

int bisect_row_load(struct store *s, const char *word, bool exact, struct bisect_row *out, bool *found,
                    struct err *err)
{
    *out = (struct bisect_row){.body = NULL};
    SQL_STMT stmt = sql_prepare(s,
                                BISECT_SELECT "WHERE name = :word OR (:exact = 0 AND (:word = 'latest' OR"
                                              " substr(name, 1, length(:word)) = :word))"
                                              " ORDER BY name = :word DESC, started_at DESC, id DESC LIMIT 2",
                                err);
    sql_bind_text(stmt, ":word", word);
    sql_bind_int(stmt, ":exact", exact);
    if (load_first(stmt, word, out, found, err) != 0)
        return -1;
    return *found || exact
               ? 0
               : err_set(err, ERR_INPUT, "%.80s: no such search: `kernsweep bisect --list` lists them", word);
}

int bisect_row_remove(struct store *s, const char *name, struct err *err)
{
    SQL_STMT stmt = sql_prepare(s, "DELETE FROM bisect WHERE name = :name", err);
    sql_bind_text(stmt, ":name", name);
    return sql_run(stmt, err);
}

int bisect_rows_list(struct store *s, struct bisect_rows *out, struct err *err)
{
    size_t cap = 0;
    int rc;
    *out = (struct bisect_rows){.items = NULL};
    SQL_STMT stmt = sql_prepare(s, BISECT_SELECT "ORDER BY started_at DESC, id DESC", err);
    while ((rc = sql_step(stmt, err)) > 0) {
        ALLOC_GROW(out->items, out->count + 1, cap);
        read_head(stmt, &out->items[out->count++]);
    }
    if (rc != 0)
        bisect_rows_release(out);
    return rc;
}

void bisect_row_release(struct bisect_row *row)
{
    free(row->body);
    row->body = NULL;
}

void bisect_rows_release(struct bisect_rows *l)
{
    free(l->items);
    *l = (struct bisect_rows){.items = NULL};
}
