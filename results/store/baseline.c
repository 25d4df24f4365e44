#include "results/store/baseline.h"

#include "results/store/sql.h"
#include "results/store/when.h"

#include "common/base/alloc.h"
#include "common/base/clock.h"
#include "common/base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int64_t now_ms(void)
{
    return llround(clock_real_s() * 1e3);
}

static int check_accepted(struct store *s, int64_t key, struct err *err)
{
    struct run_info r = {0};
    SQL_STMT stmt =
        sql_prepare_int(s, "SELECT run_id, rejected_why FROM run WHERE id = :run", ":run", key, err);
    int rc = sql_step(stmt, err);
    if (rc < 0)
        return -1;
    if (rc == 0)
        return err_set(err, ERR_INPUT, "the run no longer exists");
    sql_col_text(stmt, "run_id", r.run_id, sizeof r.run_id);
    sql_col_text(stmt, "rejected_why", r.rejected, sizeof r.rejected);
    return run_check_comparable(&r, err);
}

static int check_run(struct store *s, int64_t key, struct err *err)
{
    if (check_accepted(s, key, err) != 0)
        return -1;
    SQL_STMT stmt = sql_prepare_int(
        s, "SELECT count(*) AS n FROM test WHERE run_id = :run AND status = 'OK' AND warmup = 0", ":run", key,
        err);
    if (sql_step(stmt, err) != 1)
        return -1;
    return sql_col_int(stmt, "n", 0) > 0
               ? 0
               : err_set(err, ERR_INPUT, "the run has no OK measurement, so nothing can be compared with it");
}

static int upsert(struct store *s, const char *name, int64_t run, int64_t *id, struct err *err)
{
    SQL_STMT stmt =
        sql_prepare(s,
                    "INSERT INTO baseline (name, node, ticket, mode, set_at)"
                    " SELECT :name, node, ticket, mode, :now FROM run WHERE id = :run"
                    " ON CONFLICT (name, node, ticket, mode) DO UPDATE SET set_at = :now, removed_at = NULL"
                    " RETURNING id",
                    err);
    sql_bind_text(stmt, ":name", name);
    sql_bind_int(stmt, ":run", run);
    sql_bind_int(stmt, ":now", now_ms());
    int rc = sql_step(stmt, err);
    if (rc == 0)
        return err_set(err, ERR_INPUT, "the run no longer exists");
    if (rc > 0)
        *id = sql_col_int(stmt, "id", 0);
    return rc > 0 ? 0 : -1;
}

static int drop_runs(struct store *s, int64_t id, struct err *err)
{
    SQL_STMT stmt =
        sql_prepare_int(s, "DELETE FROM baseline_run WHERE baseline_id = :baseline", ":baseline", id, err);
    return sql_run(stmt, err);
}

static int hold_run(struct store *s, int64_t id, int64_t run, struct err *err)
{
    SQL_STMT stmt = sql_prepare(
        s, "INSERT OR REPLACE INTO baseline_run (baseline_id, run_id, set_at) VALUES (:baseline, :run, :now)",
        err);
    sql_bind_int(stmt, ":baseline", id);
    sql_bind_int(stmt, ":run", run);
    sql_bind_int(stmt, ":now", now_ms());
    return sql_run(stmt, err);
}

static int set_locked(struct store *s, const char *name, int64_t run, bool add, struct err *err)
{
    int64_t id = 0;
    if (check_run(s, run, err) != 0 || upsert(s, name, run, &id, err) != 0)
        return -1;
    if (!add && drop_runs(s, id, err) != 0)
        return -1;
    return hold_run(s, id, run, err);
}

int baseline_set(struct store *s, const char *name, int64_t run_key, bool add, struct err *err)
{
    if (!text_is_name(name))
        return err_set(err, ERR_INPUT,
                       "\"%.80s\" is not a valid baseline name: use letters, digits, '.', '_' and '-'", name);
    if (sql_exec(s, "BEGIN IMMEDIATE", err) != 0)
        return -1;
    return sql_end(s, set_locked(s, name, run_key, add, err), err);
}

#define BASELINE_SELECT                                                                                      \
    "SELECT b.id, b.name, b.node, b.ticket, b.mode, b.set_at, b.removed_at, r.id AS run_key, r.run_id,"      \
    " (SELECT count(*) FROM baseline_run h JOIN run o ON o.id = h.run_id"                                    \
    " WHERE h.baseline_id = b.id AND o.rejected_at IS NULL) AS runs"                                         \
    " FROM baseline b LEFT JOIN run r ON r.id = (SELECT h.run_id FROM baseline_run h JOIN run o ON o.id = "  \
    "h.run_id"                                                                                               \
    " WHERE h.baseline_id = b.id AND o.rejected_at IS NULL ORDER BY o.ordered_at DESC, o.id DESC LIMIT 1) "

static void read_baseline(struct sql_stmt *stmt, struct baseline *b)
{
    *b = (struct baseline){.id = sql_col_int(stmt, "id", 0),
                           .key = sql_col_int(stmt, "run_key", 0),
                           .runs = (int)sql_col_int(stmt, "runs", 0)};
    sql_col_text(stmt, "name", b->name, sizeof b->name);
    sql_col_text(stmt, "node", b->node, sizeof b->node);
    sql_col_text(stmt, "ticket", b->ticket, sizeof b->ticket);
    sql_col_text(stmt, "mode", b->mode, sizeof b->mode);
    when_format(sql_col_int(stmt, "set_at", WHEN_UNKNOWN), b->set_at);
    when_format(sql_col_int(stmt, "removed_at", WHEN_UNKNOWN), b->removed_at);
    sql_col_text(stmt, "run_id", b->run_id, sizeof b->run_id);
}

static int collect_baselines(struct sql_stmt *stmt, struct baseline_list *out, struct err *err)
{
    size_t cap = 0;
    int rc;
    while ((rc = sql_step(stmt, err)) > 0) {
        ALLOC_GROW(out->items, out->count + 1, cap);
        read_baseline(stmt, &out->items[out->count++]);
    }
    if (rc != 0)
        baseline_list_release(out);
    return rc;
}

int baseline_list(struct store *s, struct baseline_list *out, struct err *err)
{
    *out = (struct baseline_list){0};
    SQL_STMT stmt = sql_prepare(
        s, BASELINE_SELECT "WHERE b.removed_at IS NULL ORDER BY b.name, b.node, b.ticket, b.mode", err);
    return collect_baselines(stmt, out, err);
}

void baseline_list_release(struct baseline_list *l)
{
    free(l->items);
    *l = (struct baseline_list){0};
}

static int list_named(struct store *s, const char *name, const char *node, const char *ticket,
                      struct baseline_list *out, struct err *err)
{
    *out = (struct baseline_list){0};
    SQL_STMT stmt = sql_prepare(s,
                                BASELINE_SELECT "WHERE b.name = :name AND (:node IS NULL OR b.node = :node)"
                                                " AND (:ticket IS NULL OR b.ticket = :ticket)"
                                                " ORDER BY b.removed_at IS NOT NULL, b.set_at DESC",
                                err);
    sql_bind_text(stmt, ":name", name);
    sql_bind_text(stmt, ":node", node);
    sql_bind_text(stmt, ":ticket", ticket);
    return collect_baselines(stmt, out, err);
}

static int remove_row(struct store *s, const struct baseline *b, struct err *err)
{
    SQL_STMT stmt = sql_prepare(s, "UPDATE baseline SET removed_at = :now WHERE id = :baseline", err);
    if (sql_exec(s, "BEGIN IMMEDIATE", err) != 0)
        return -1;
    sql_bind_int(stmt, ":baseline", b->id);
    sql_bind_int(stmt, ":now", now_ms());
    return sql_end(s, sql_run(stmt, err) || drop_runs(s, b->id, err), err);
}

int baseline_remove(struct store *s, const char *name, const char *node, const char *ticket, struct err *err)
{
    AUTO(baseline_list_release) struct baseline_list found = {0};
    if (list_named(s, name, node, ticket, &found, err) != 0)
        return -1;
    size_t live = 0;
    while (live < found.count && !*found.items[live].removed_at)
        live++;
    if (live == 0)
        return err_set(err, ERR_INPUT,
                       "no baseline \"%.80s\": `kernsweep baseline list` shows the existing ones", name);
    if (live > 1)
        return err_set(
            err, ERR_INPUT,
            "%zu baselines are named \"%.80s\" (%s of %s, %s of %s, ...): choose with --node and --ticket",
            live, name, found.items[0].ticket, found.items[0].node, found.items[1].ticket,
            found.items[1].node);
    return remove_row(s, &found.items[0], err);
}

static int explain_refusal(const char *name, const struct run_info *run, const struct baseline_list *found,
                           struct err *err)
{
    if (found->count == 0)
        return err_set(err, ERR_INPUT, "no baseline \"%.80s\": `kernsweep baseline set %.80s RUN` creates it",
                       name, name);
    const struct baseline *b = &found->items[0];
    if (*b->removed_at)
        return err_set(err, ERR_INPUT, "baseline \"%s\" was removed on %.10s: set it again, or name another",
                       name, b->removed_at);
    if (strcmp(b->node, run->node) != 0)
        return err_set(
            err, ERR_INPUT,
            "baseline \"%s\" is of node %s, run %s of node %s: runs of different nodes cannot be compared",
            name, b->node, run->run_id, run->node);
    if (strcmp(b->ticket, run->ticket) != 0)
        return err_set(err, ERR_INPUT,
                       "baseline \"%s\" is of plan %s, run %s of plan %s: name a baseline of that plan", name,
                       b->ticket, run->run_id, run->ticket);
    return err_set(
        err, ERR_INPUT,
        "baseline \"%s\" is of mode %s, run %s of mode %s: runs of different modes cannot be compared", name,
        b->mode, run->run_id, run->mode);
}

int baseline_resolve(struct store *s, const char *name, const struct run_info *run, struct baseline *out,
                     struct err *err)
{
    AUTO(baseline_list_release) struct baseline_list found = {0};
    if (list_named(s, name, NULL, NULL, &found, err) != 0)
        return -1;
    for (size_t i = 0; i < found.count; i++) {
        const struct baseline *b = &found.items[i];
        if (*b->removed_at || strcmp(b->node, run->node) != 0 || strcmp(b->ticket, run->ticket) != 0 ||
            strcmp(b->mode, run->mode) != 0)
            continue;
        *out = *b;
        return 0;
    }
    return explain_refusal(name, run, &found, err);
}

int baseline_runs(struct store *s, const struct baseline *b, int64_t **keys, size_t *count, struct err *err)
{
    SQL_STMT stmt = sql_prepare_int(s,
                                    "SELECT r.id FROM baseline_run h JOIN run r ON r.id = h.run_id"
                                    " WHERE h.baseline_id = :baseline AND r.rejected_at IS NULL ORDER BY "
                                    "r.ordered_at DESC, r.id DESC",
                                    ":baseline", b->id, err);
    size_t cap = 0;
    int rc;
    *count = 0;
    *keys = NULL;
    while ((rc = sql_step(stmt, err)) > 0) {
        ALLOC_GROW(*keys, *count + 1, cap);
        (*keys)[(*count)++] = sql_col_int(stmt, "id", 0);
    }
    return rc;
}
