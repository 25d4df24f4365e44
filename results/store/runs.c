#include "results/store/runs.h"

#include "common/base/alloc.h"
#include "common/base/clock.h"
#include "common/base/text.h"
#include "results/store/run_load.h"
#include "results/store/sql.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WHERE_FILTER                                                                                         \
    " WHERE (:ticket IS NULL OR r.ticket = :ticket) AND (:tag IS NULL OR r.tag = :tag)"                      \
    " AND (:node IS NULL OR r.node = :node) AND (:mode IS NULL OR r.mode = :mode)"                           \
    " AND (:purpose IS NULL OR r.purpose = :purpose)"

static void bind_filter(struct sql_stmt *stmt, const struct run_filter *filter)
{
    static const struct run_filter all;
    const struct run_filter *f = filter ? filter : &all;
    sql_bind_text(stmt, ":ticket", f->ticket);
    sql_bind_text(stmt, ":tag", f->tag);
    sql_bind_text(stmt, ":node", f->node);
    sql_bind_text(stmt, ":mode", f->mode);
    sql_bind_text(stmt, ":purpose", f->purpose);
}

int runs_count(struct store *s, const struct run_filter *filter, size_t *out, struct err *err)
{
    SQL_STMT stmt = sql_prepare(s, "SELECT count(*) AS n FROM run r" WHERE_FILTER, err);
    bind_filter(stmt, filter);
    if (sql_step(stmt, err) != 1)
        return -1;
    *out = (size_t)sql_col_int(stmt, "n", 0);
    return 0;
}

int runs_list(struct store *s, const struct run_filter *filter, struct run_list *out, struct err *err)
{
    *out = (struct run_list){0};
    SQL_STMT stmt =
        sql_prepare(s, RUN_SELECT WHERE_FILTER " ORDER BY r.ordered_at DESC, r.id DESC LIMIT :limit", err);
    bind_filter(stmt, filter);
    sql_bind_int(stmt, ":limit", filter && filter->limit ? (int64_t)filter->limit : -1);
    size_t cap = 0;
    int rc;
    while ((rc = sql_step(stmt, err)) > 0) {
        ALLOC_GROW(out->runs, out->count + 1, cap);
        rc = run_info_read(s, stmt, &out->runs[out->count++], err);
        if (rc != 0)
            break;
    }
    if (rc != 0)
        run_list_release(out);
    return rc;
}

void run_list_release(struct run_list *l)
{
    free(l->runs);
    *l = (struct run_list){0};
}

static int remove_row(struct store *s, int64_t key, struct err *err)
{
    SQL_STMT keep = sql_prepare_int(
        s, "INSERT OR REPLACE INTO removed_run (run_id, id) SELECT run_id, id FROM run WHERE id = :run",
        ":run", key, err);
    SQL_STMT stmt = sql_prepare_int(s, "DELETE FROM run WHERE id = :run", ":run", key, err);
    return sql_run(keep, err) != 0 ? -1 : sql_run(stmt, err);
}

static int remove_locked(struct store *s, int64_t key, struct err *err)
{
    char id[RUN_ID_MAX], name[RUN_NAME_MAX];
    SQL_STMT held = sql_prepare_int(s,
                                    "SELECT b.name, r.run_id FROM baseline_run h"
                                    " JOIN baseline b ON b.id = h.baseline_id JOIN run r ON r.id = h.run_id"
                                    " WHERE h.run_id = :run",
                                    ":run", key, err);
    int rc = sql_step(held, err);
    if (rc <= 0)
        return rc < 0 ? -1 : remove_row(s, key, err);
    sql_col_text(held, "name", name, sizeof name);
    sql_col_text(held, "run_id", id, sizeof id);
    return err_set(err, ERR_INPUT,
                   "run %s belongs to baseline \"%s\": `kernsweep baseline set %s RUN` names another run, "
                   "`kernsweep baseline remove %s` drops the baseline",
                   id, name, name, name);
}

int runs_remove(struct store *s, const int64_t *keys, size_t n, struct err *err)
{
    int rc = 0;
    if (sql_exec(s, "BEGIN IMMEDIATE", err) != 0)
        return -1;
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = remove_locked(s, keys[i], err);
    return sql_end(s, rc, err);
}

/* Every baseline must keep a run to compare with. */
static int check_not_last(struct store *s, int64_t key, struct err *err)
{
    char name[RUN_NAME_MAX];
    SQL_STMT stmt =
        sql_prepare_int(s,
                        "SELECT b.name FROM baseline_run h JOIN baseline b ON b.id = h.baseline_id"
                        " WHERE h.run_id = :run AND NOT EXISTS (SELECT 1 FROM baseline_run o"
                        " JOIN run r ON r.id = o.run_id WHERE o.baseline_id = b.id AND o.run_id <> h.run_id"
                        " AND r.rejected_at IS NULL)",
                        ":run", key, err);
    int rc = sql_step(stmt, err);
    if (rc <= 0)
        return rc;
    sql_col_text(stmt, "name", name, sizeof name);
    return err_set(err, ERR_INPUT,
                   "baseline \"%s\" would have no run left: `kernsweep baseline set %s RUN` names another "
                   "run, `kernsweep baseline remove %s` drops the baseline",
                   name, name, name);
}

static int reject_locked(struct store *s, int64_t key, const char *why, struct err *err)
{
    SQL_STMT stmt =
        sql_prepare(s, "UPDATE run SET rejected_at = :now, rejected_why = :why WHERE id = :run", err);
    if (check_not_last(s, key, err) != 0)
        return -1;
    sql_bind_int(stmt, ":now", llround(clock_real_s() * 1e3));
    sql_bind_text(stmt, ":why", why);
    sql_bind_int(stmt, ":run", key);
    return sql_run(stmt, err);
}

int runs_reject(struct store *s, int64_t key, const char *why, struct err *err)
{
    char clean[RUN_REASON_MAX];
    text_printable_fixed(clean, sizeof clean, why, strlen(why));
    if (!clean[strspn(clean, " ")])
        return err_set(err, ERR_INPUT, "say why the run is rejected: --why \"the node was in use\"");
    return sql_exec(s, "BEGIN IMMEDIATE", err) != 0 ? -1 : sql_end(s, reject_locked(s, key, clean, err), err);
}

int runs_unreject(struct store *s, int64_t key, struct err *err)
{
    SQL_STMT stmt = sql_prepare_int(s,
                                    "UPDATE run SET rejected_at = NULL, rejected_why = NULL"
                                    " WHERE id = :run AND rejected_at IS NOT NULL",
                                    ":run", key, err);
    if (sql_run(stmt, err) != 0)
        return -1;
    return sqlite3_changes(s->db) > 0 ? 0 : err_set(err, ERR_INPUT, "the run is not rejected");
}

/* The single number "n" that the statement finds for a run. */
static int number_of_run(struct store *s, const char *text, int64_t key, int64_t *out, struct err *err)
{
    SQL_STMT stmt = sql_prepare_int(s, text, ":run", key, err);
    if (sql_step(stmt, err) != 1)
        return -1;
    *out = sql_col_int(stmt, "n", 0);
    return 0;
}

int runs_confirmed_cells(struct store *s, int64_t key, int64_t *out, struct err *err)
{
    return number_of_run(s, "SELECT count(*) AS n FROM confirmation WHERE run_id = :run OR base_id = :run",
                         key, out, err);
}

int runs_have_samples(struct store *s, int64_t key, bool *out, struct err *err)
{
    int64_t any = 0;
    int rc = number_of_run(s,
                           "SELECT EXISTS (SELECT 1 FROM test t JOIN telemetry l ON l.test_id = t.id"
                           " WHERE t.run_id = :run) AS n",
                           key, &any, err);
    *out = any != 0;
    return rc;
}

static int drop_samples_locked(struct store *s, int64_t key, int64_t *dropped, struct err *err)
{
    SQL_STMT stmt =
        sql_prepare_int(s, "DELETE FROM telemetry WHERE test_id IN (SELECT id FROM test WHERE run_id = :run)",
                        ":run", key, err);
    if (sql_run(stmt, err) != 0)
        return -1;
    *dropped += sqlite3_changes(s->db);
    return 0;
}

int runs_drop_samples(struct store *s, const int64_t *keys, size_t n, int64_t *dropped, struct err *err)
{
    int rc = 0;
    *dropped = 0;
    if (sql_exec(s, "BEGIN IMMEDIATE", err) != 0)
        return -1;
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = drop_samples_locked(s, keys[i], dropped, err);
    return sql_end(s, rc, err);
}
