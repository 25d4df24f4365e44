#include "results/query/history_runs.h"

#include "common/base/alloc.h"
#include "common/base/clock.h"
#include "results/store/identity.h"
#include "results/store/sql.h"

#include <stdlib.h>

static int by_key(const void *a, const void *b)
{
    int64_t x = ((const struct history_run *)a)->key, y = ((const struct history_run *)b)->key;
    return (x > y) - (x < y);
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
    SQL_STMT stmt =
        sql_prepare(s, "SELECT count(DISTINCT series_id) AS n FROM test WHERE run_id = :run", err);
    sql_bind_int(stmt, ":run", run);
    int rc = sql_step(stmt, err);
    *out = rc > 0 ? (size_t)sql_col_int(stmt, "n", 0) : 0;
    return rc < 0 ? -1 : 0;
}

/* The nights that judge a run of so many cells. What is judged night by night depends on the night that it
 * begins with: that one stays the same for half as many nights as there are, instead of moving on every
 * night. */
static size_t nights_for(size_t cells, size_t count)
{
    size_t nights = HISTORY_POINTS / (cells ? cells : 1);
    nights = nights < HISTORY_NIGHTS_MIN ? HISTORY_NIGHTS_MIN : nights;
    nights = nights > HISTORY_NIGHTS_MAX ? HISTORY_NIGHTS_MAX : nights;
    return count <= nights ? nights : nights + (count - nights) % (nights / 2);
}

/* The runs of a night, the one that stands for it first. */
static int by_sources(const void *a, const void *b)
{
    const struct history_run *x = a, *y = b;
    if (x->day != y->day)
        return x->day < y->day ? -1 : 1;
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    if (x->kept != y->kept)
        return x->kept ? -1 : 1;
    if (x->measured_at != y->measured_at)
        return x->measured_at > y->measured_at ? -1 : 1;
    return (x->key < y->key) - (x->key > y->key);
}

static int newest_first(const void *a, const void *b)
{
    const struct history_run *x = a, *y = b;
    if (x->measured_at != y->measured_at)
        return x->measured_at > y->measured_at ? -1 : 1;
    return (x->night < y->night) - (x->night > y->night);
}

/* Puts runs together into nights, which are ranked from the newest one on. */
static void find_nights(struct history_runs *e)
{
    if (e->count == 0)
        return;
    qsort(e->items, e->count, sizeof *e->items, by_sources);
    for (size_t i = 0; i < e->count; i++) {
        struct history_run *r = &e->items[i];
        const struct history_run *before = i ? r - 1 : NULL;
        bool same = before && r->source && r->source == before->source && r->day == before->day;
        r->night = same ? before->night : r->key;
        if (same)
            r->measured_at = before->measured_at;
    }
    qsort(e->items, e->count, sizeof *e->items, newest_first);
    for (size_t i = 0; i < e->count; i++) {
        e->nights += i == 0 || e->items[i].night != e->items[i - 1].night;
        e->items[i].rank = e->nights - 1;
    }
}

/* Wants the newest nights, and those around the runs that are kept whatever their age. The runs are the
 * newest first. */
static void choose_nights(size_t nights, struct history_runs *e)
{
    for (size_t i = 0; i < e->count; i++)
        e->items[i].wanted = nights == 0 || e->items[i].rank < nights;
    for (size_t k = 0; k < e->count; k++) {
        size_t at = e->items[k].rank, i = k;
        if (!e->items[k].kept)
            continue;
        while (i > 0 && at - e->items[i - 1].rank <= HISTORY_NIGHTS_AROUND)
            i--;
        for (; i < e->count && (e->items[i].rank <= at + HISTORY_NIGHTS_AROUND); i++)
            e->items[i].wanted = true;
    }
}

/* Sorts and ranks what remains. */
static void drop_old(size_t nights, struct history_runs *e)
{
    size_t left = 0;
    choose_nights(nights, e);
    for (size_t i = 0; i < e->count; i++)
        if (e->items[i].wanted) {
            e->items[left] = e->items[i];
            e->items[left].rank = e->nights - 1 - e->items[left].rank;
            left++;
        }
    e->count = left;
    if (left)
        qsort(e->items, left, sizeof *e->items, by_key);
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

static void read_run(struct sql_stmt *stmt, const struct history_options *o, struct history_run *r)
{
    char date[CLOCK_ISO_LEN + 1], source[SHA256_HEX_LEN + 1];
    sql_col_text(stmt, "date", date, sizeof date);
    sql_col_text(stmt, "source_sha256", source, sizeof source);
    *r = (struct history_run){.key = sql_col_int(stmt, "id", 0),
                              .measured_at = sql_col_int(stmt, "ordered_at", 0),
                              .day = clock_day_s(date),
                              .source = run_identity(source),
                              .environment = sql_col_int(stmt, "environment", 0)};
    r->kept = is_listed(o->keep, o->n_keep, r->key);
}

int history_runs_load(struct store *s, const struct history_options *o, struct history_runs *out,
                      struct err *err)
{
    SQL_STMT stmt =
        sql_prepare(s,
                    "SELECT r.id, r.date, r.source_sha256, r.ordered_at, coalesce(g.dirty, 0) AS dirty,"
                    " r.date = b.date AND r.source_sha256 = b.source_sha256 AS tonight,"
                    " coalesce(r.environment_id, 0) AS environment FROM run r"
                    " LEFT JOIN run_revision g ON g.run_id = r.id LEFT JOIN run b ON b.id = :before"
                    " WHERE r.node = :node AND r.ticket = :ticket AND r.mode = :mode"
                    " AND r.status = 'COMPLETE' AND r.purpose = 'sweep'"
                    " AND r.rejected_at IS NULL AND (:tag IS NULL OR r.tag = :tag)"
                    " AND (b.id IS NULL OR (r.ordered_at, r.id) < (b.ordered_at, b.id))",
                    err);
    sql_bind_text(stmt, ":node", o->node);
    sql_bind_text(stmt, ":ticket", o->ticket);
    sql_bind_text(stmt, ":mode", o->mode);
    sql_bind_text(stmt, ":tag", o->tag);
    sql_bind_int_or_null(stmt, ":before", o->before, 0);
    size_t cap = 0;
    int rc;
    while ((rc = sql_step(stmt, err)) > 0) {
        struct history_run r;
        read_run(stmt, o, &r);
        bool dirty = sql_col_int(stmt, "dirty", 0), tonight = sql_col_int(stmt, "tonight", 0);
        out->changed += dirty && !r.kept;
        if ((dirty || tonight) && !r.kept)
            continue;
        ALLOC_GROW(out->items, out->count + 1, cap);
        out->items[out->count++] = r;
    }
    if (rc != 0)
        return -1;
    size_t cells = 0;
    if (o->judged && count_cells(s, o->before, &cells, err) != 0)
        return -1;
    find_nights(out);
    drop_old(o->judged ? nights_for(cells, out->nights) : o->nights, out);
    return load_devices(s, out, err);
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
