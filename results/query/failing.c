#include "results/query/failing.h"

#include "common/base/alloc.h"
#include "results/query/history_runs.h"
#include "results/query/plan_cells.h"
#include "results/store/sql.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A cell while the nights are looked at, the newest first. */
struct followed {
    struct failing_cell cell; /* since: 0 until a night is found on which it failed */
    bool ended, failed, ok;   /* the latter two of the present night */
};

struct follow {
    struct followed *cells; /* sorted */
    size_t n, left;
};

static int by_cell(const void *a, const void *b)
{
    const struct failing_cell *x = &((const struct followed *)a)->cell,
                              *y = &((const struct followed *)b)->cell;
    int order = strcmp(x->variant, y->variant);
    return order ? order : (x->context > y->context) - (x->context < y->context);
}

static void collect(const struct run_data *now, struct follow *f)
{
    f->cells = xcalloc(now->n_cells + 1, sizeof *f->cells);
    for (size_t i = 0; i < now->n_cells; i++) {
        const struct cell *c = &now->cells[i];
        if (c->status == STATUS_OK)
            continue;
        struct failing_cell *to = &f->cells[f->n++].cell;
        to->context = c->context;
        snprintf(to->variant, sizeof to->variant, "%s", now->variants[c->variant].name);
    }
    f->left = f->n;
    qsort(f->cells, f->n, sizeof *f->cells, by_cell);
}

/* Marks the cells that failed in a run, and not only for tests that were stopped or not begun. */
static int mark_failed(struct sql_stmt *stmt, int64_t run, struct follow *f, struct err *err)
{
    int rc;
    sql_bind_int(stmt, ":run", run);
    while ((rc = sql_step(stmt, err)) > 0) {
        struct followed wanted = {.cell.context = (int)sql_col_int(stmt, "context_len", 0)};
        char status[32];
        sql_col_text(stmt, "variant", wanted.cell.variant, sizeof wanted.cell.variant);
        sql_col_text(stmt, "status", status, sizeof status);
        struct followed *found = bsearch(&wanted, f->cells, f->n, sizeof wanted, by_cell);
        if (!found || found->ended || found->failed)
            continue;
        found->failed = true;
        if (!found->cell.since) /* the newest night says what it is now */
            status_from_name(status, &found->cell.status);
    }
    return rc;
}

static int mark_ok(struct sql_stmt *stmt, int64_t run, struct follow *f, struct err *err)
{
    sql_bind_int(stmt, ":run", run);
    for (size_t i = 0; i < f->n; i++) {
        struct followed *x = &f->cells[i];
        if (x->ended || x->failed)
            continue;
        sql_bind_text(stmt, ":variant", x->cell.variant);
        sql_bind_int(stmt, ":context", x->cell.context);
        int rc = sql_step(stmt, err);
        if (rc < 0)
            return -1;
        x->ok |= rc > 0;
        sql_reset(stmt);
    }
    return 0;
}

/* A cell that some run of the night had OK did not fail that night; one that none measured says nothing. */
static void end_night(int64_t measured_at, struct follow *f)
{
    for (size_t i = 0; i < f->n; i++) {
        struct followed *x = &f->cells[i];
        if (x->ended)
            continue;
        x->ended = x->ok;
        f->left -= x->ok;
        if (x->failed && !x->ok)
            x->cell.since = measured_at;
        x->failed = x->ok = false;
    }
}

static int look_at_nights(struct store *s, const struct run_info *now, const struct history_runs *runs,
                          struct follow *f, struct err *err)
{
    SQL_STMT failed = sql_prepare(s,
                                  "SELECT c.variant, c.context_len, t.status FROM test t"
                                  " JOIN series c ON c.id = t.series_id"
                                  " JOIN variant v ON v.run_id = t.run_id AND v.name = c.variant"
                                  " WHERE t.run_id = :run AND t.status <> 'OK' AND t.warmup = 0"
                                  " AND t.status NOT IN ('CANCELLED', 'INTERRUPTED')"
                                  " AND (t.status <> 'SKIPPED' OR v.status <> 'OK') ORDER BY t.id",
                                  err);
    SQL_STMT ok =
        sql_prepare(s,
                    "SELECT 1 FROM test WHERE run_id = :run AND status = 'OK' AND warmup = 0"
                    " AND series_id = (SELECT id FROM series WHERE node = :node AND ticket = :ticket"
                    " AND mode = :mode AND variant = :variant AND context_len = :context) LIMIT 1",
                    err);
    plan_bind(ok, now->node, now->ticket, now->mode);
    for (size_t rank = runs->nights; rank > 0 && f->left > 0; rank--) {
        int64_t measured_at = 0;
        for (size_t i = 0; i < runs->count; i++) {
            if (runs->items[i].rank != rank - 1)
                continue;
            measured_at = runs->items[i].measured_at;
            if (mark_failed(failed, runs->items[i].key, f, err) != 0 ||
                mark_ok(ok, runs->items[i].key, f, err) != 0)
                return -1;
        }
        end_night(measured_at, f);
    }
    return 0;
}

int failing_load(struct store *s, const struct run_data *now, struct failing_cell **out, size_t *n,
                 struct err *err)
{
    const struct history_options o = {.node = now->info.node,
                                      .ticket = now->info.ticket,
                                      .mode = now->info.mode,
                                      .tag = now->info.tag,
                                      .before = now->info.key,
                                      .nights = HISTORY_NIGHTS_MAX};
    AUTO(history_runs_release) struct history_runs runs = {0};
    struct follow f = {0};
    *out = NULL;
    *n = 0;
    collect(now, &f);
    AUTO_FREE struct followed *cells = f.cells;
    if (f.n == 0)
        return 0;
    if (history_runs_load(s, &o, &runs, err) != 0 || look_at_nights(s, &now->info, &runs, &f, err) != 0)
        return -1;
    *out = xcalloc(f.n, sizeof **out);
    for (size_t i = 0; i < f.n; i++)
        if (cells[i].cell.since)
            (*out)[(*n)++] = cells[i].cell;
    return 0;
}
