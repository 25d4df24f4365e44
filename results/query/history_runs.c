#include "results/query/history_runs.h"

#include "common/base/alloc.h"
#include "results/store/identity.h"
#include "results/store/sql.h"

#include <stdlib.h>

static int by_key(const void *a, const void *b)
{
    int64_t x = ((const struct history_run *)a)->key, y = ((const struct history_run *)b)->key;
    return (x > y) - (x < y);
}

/* The query returned the newest first. */
static void rank(struct history_runs *e)
{
    for (size_t i = 0; i < e->count; i++)
        e->items[i].rank = e->count - 1 - i;
    if (e->count)
        qsort(e->items, e->count, sizeof *e->items, by_key);
}

static bool is_listed(const int64_t *keys, size_t n, int64_t key)
{
    for (size_t i = 0; i < n; i++)
        if (keys[i] == key)
            return true;
    return false;
}

static int count_cells(struct store *s, int64_t run, size_t *out, struct err *err)
{
    SQL_STMT stmt = sql_prepare(s, "SELECT count(DISTINCT series_id) AS n FROM test WHERE run_id = :run", err);
    sql_bind_int(stmt, ":run", run);
    int rc = sql_step(stmt, err);
    *out = rc > 0 ? (size_t)sql_col_int(stmt, "n", 0) : 0;
    return rc < 0 ? -1 : 0;
}

/* The nights that judge a run of so many cells. What is judged night by night depends on the night that it begins
 * with: that one stays the same for half as many nights as there are, instead of moving on every night. */
static size_t nights_for(size_t cells, size_t count)
{
    size_t nights = HISTORY_POINTS / (cells ? cells : 1);
    nights = nights < HISTORY_NIGHTS_MIN ? HISTORY_NIGHTS_MIN : nights;
    nights = nights > HISTORY_NIGHTS_MAX ? HISTORY_NIGHTS_MAX : nights;
    return count <= nights ? nights : nights + (count - nights) % (nights / 2);
}

/* Keeps the newest nights, and those around the runs that are kept whatever their age. */
static void drop_old(const struct history_options *o, size_t nights, struct history_runs *e)
{
    size_t kept = 0;
    for (size_t i = 0; i < e->count; i++) {
        bool wanted = nights == 0 || i < nights;
        size_t from = i > HISTORY_NIGHTS_AROUND ? i - HISTORY_NIGHTS_AROUND : 0;
        for (size_t j = from; !wanted && j <= i + HISTORY_NIGHTS_AROUND && j < e->count; j++)
            wanted = is_listed(o->keep, o->n_keep, e->items[j].key);
        e->items[i].wanted = wanted;
    }
    for (size_t i = 0; i < e->count; i++)
        if (e->items[i].wanted)
            e->items[kept++] = e->items[i];
    e->count = kept;
}

/* Runs on the same GPUs have the same identity, whatever else differs between their environments. */
static int load_devices(struct store *s, struct history_runs *e, struct err *err)
{
    SQL_STMT stmt = sql_prepare(s,
                                "SELECT key, value FROM fact WHERE environment_id = :id"
                                " AND key >= 'gpus' AND key < 'gput' ORDER BY key",
                                err);
    for (size_t i = 0; i < e->count; i++) {
        struct history_run *r = &e->items[i];
        if (i && r->environment == e->items[i - 1].environment) {
            r->device = e->items[i - 1].device;
            continue;
        }
        struct device_identity id;
        device_identity_begin(&id);
        sql_bind_int(stmt, ":id", r->environment);
        int rc;
        while ((rc = sql_step(stmt, err)) > 0) {
            struct run_fact f;
            sql_col_text(stmt, "key", f.key, sizeof f.key);
            sql_col_text(stmt, "value", f.value, sizeof f.value);
            device_identity_add(&id, &f);
        }
        sql_reset(stmt);
        if (rc != 0)
            return -1;
        r->device = device_identity_end(&id);
    }
    return 0;
}

int history_runs_load(struct store *s, const struct history_options *o, struct history_runs *out,
                      struct err *err)
{
    SQL_STMT stmt =
        sql_prepare(s,
                    "SELECT r.id, r.ordered_at, coalesce(r.environment_id, 0) AS environment FROM run r"
                    " LEFT JOIN run b ON b.id = :before"
                    " WHERE r.node = :node AND r.ticket = :ticket AND r.mode = :mode"
                    " AND r.status = 'COMPLETE' AND r.purpose = 'sweep'"
                    " AND r.rejected_at IS NULL AND (:tag IS NULL OR r.tag = :tag)"
                    " AND (b.id IS NULL OR (r.ordered_at, r.id) < (b.ordered_at, b.id))"
                    " ORDER BY r.ordered_at DESC, r.id DESC",
                    err);
    sql_bind_text(stmt, ":node", o->node);
    sql_bind_text(stmt, ":ticket", o->ticket);
    sql_bind_text(stmt, ":mode", o->mode);
    sql_bind_text(stmt, ":tag", o->tag);
    sql_bind_int_or_null(stmt, ":before", o->before, 0);
    size_t cap = 0;
    int rc;
    while ((rc = sql_step(stmt, err)) > 0) {
        ALLOC_GROW(out->items, out->count + 1, cap);
        struct history_run *r = &out->items[out->count++];
        *r = (struct history_run){.key = sql_col_int(stmt, "id", 0),
                                  .measured_at = sql_col_int(stmt, "ordered_at", 0),
                                  .environment = sql_col_int(stmt, "environment", 0)};
    }
    if (rc != 0)
        return -1;
    size_t cells = 0;
    if (o->judged && count_cells(s, o->before, &cells, err) != 0)
        return -1;
    drop_old(o, o->judged ? nights_for(cells, out->count) : o->nights, out);
    if (load_devices(s, out, err) != 0)
        return -1;
    rank(out);
    return 0;
}

const struct history_run *history_runs_find(const struct history_runs *e, int64_t key)
{
    const struct history_run wanted = {.key = key};
    return e->count ? bsearch(&wanted, e->items, e->count, sizeof wanted, by_key) : NULL;
}

void history_runs_release(struct history_runs *e)
{
    free(e->items);
}
