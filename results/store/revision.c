#include "results/store/revision.h"

#include "results/store/when.h"

#include <stdlib.h>
#include <string.h>

void commit_list_release(struct commit_list *l)
{
    free(l->items);
    *l = (struct commit_list){0};
}

bool commit_is_id(const char *s)
{
    size_t len = strlen(s);
    return (len == 40 || len == 64) && strspn(s, "0123456789abcdef") == len;
}

static int store_commits(struct store *s, const struct commit_list *log, struct err *err)
{
    SQL_KEPT stmt =
        sql_keep(s,
                 "INSERT OR IGNORE INTO git_commit (commit_id, parents, subject, author, authored_at)"
                 " VALUES (:id, :parents, :subject, :author, :authored_at)",
                 err);
    for (size_t i = 0; i < log->count; i++) {
        const struct commit *c = &log->items[i];
        sql_bind_text(stmt, ":id", c->id);
        sql_bind_text(stmt, ":parents", c->parents);
        sql_bind_text(stmt, ":subject", c->subject);
        sql_bind_text(stmt, ":author", c->author);
        sql_bind_int_or_null(stmt, ":authored_at", when_parse(c->authored_at), WHEN_UNKNOWN);
        if (sql_run(stmt, err) != 0)
            return -1;
    }
    return 0;
}

int revision_store(struct store *s, int64_t run_key, const struct run_revision *r,
                   const struct commit_list *log, struct err *err)
{
    if (!*r->commit)
        return 0;
    SQL_KEPT stmt = sql_keep(
        s,
        "INSERT INTO run_revision (run_id, commit_id, branch, subject, authored_at, dirty, dirty_files)"
        " VALUES (:run, :id, :branch, :subject, :authored_at, :dirty, :files)",
        err);
    sql_bind_int(stmt, ":run", run_key);
    sql_bind_text(stmt, ":id", r->commit);
    sql_bind_text(stmt, ":branch", r->branch);
    sql_bind_text(stmt, ":subject", r->subject);
    sql_bind_int_or_null(stmt, ":authored_at", when_parse(r->authored_at), WHEN_UNKNOWN);
    sql_bind_int(stmt, ":dirty", r->dirty);
    sql_bind_text(stmt, ":files", r->dirty_files);
    return sql_run(stmt, err) != 0 ? -1 : store_commits(s, log, err);
}

int commit_load(struct store *s, const char *id, struct commit *out, struct err *err)
{
    SQL_KEPT stmt = sql_keep(s,
                             "SELECT commit_id, parents, subject, author, authored_at FROM git_commit"
                             " WHERE commit_id = :id",
                             err);
    sql_bind_text(stmt, ":id", id);
    int rc = sql_step(stmt, err);
    if (rc <= 0)
        return rc;
    sql_col_text(stmt, "commit_id", out->id, sizeof out->id);
    sql_col_text(stmt, "parents", out->parents, sizeof out->parents);
    sql_col_text(stmt, "subject", out->subject, sizeof out->subject);
    sql_col_text(stmt, "author", out->author, sizeof out->author);
    when_format(sql_col_int(stmt, "authored_at", WHEN_UNKNOWN), out->authored_at);
    return 1;
}

void revision_read(struct sql_stmt *stmt, struct run_revision *out)
{
    sql_col_text(stmt, "commit_id", out->commit, sizeof out->commit);
    sql_col_text(stmt, "branch", out->branch, sizeof out->branch);
    sql_col_text(stmt, "subject", out->subject, sizeof out->subject);
    when_format(sql_col_int(stmt, "authored_at", WHEN_UNKNOWN), out->authored_at);
    out->dirty = sql_col_int(stmt, "dirty", 0) != 0;
    sql_col_text(stmt, "dirty_files", out->dirty_files, sizeof out->dirty_files);
}

int revision_load(struct store *s, int64_t run_key, struct run_revision *out, struct err *err)
{
    SQL_KEPT stmt =
        sql_keep(s, "SELECT " REVISION_COLUMNS " FROM run r" REVISION_JOIN "WHERE r.id = :run", err);
    *out = (struct run_revision){0};
    sql_bind_int(stmt, ":run", run_key);
    int rc = sql_step(stmt, err);
    if (rc > 0)
        revision_read(stmt, out);
    return rc < 0 ? -1 : 0;
}
