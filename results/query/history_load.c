#include "results/query/history_load.h"

#include "common/base/alloc.h"
#include "results/stats/stats.h"
#include "results/store/runs.h"
#include "results/store/sql.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The runs of the history, looked up by key for each row of a series. */
struct eligible {
    int64_t *keys; /* sorted */
    size_t *rank;  /* rank[i]: chronological position of keys[i] */
    size_t count;
};

static void eligible_release(struct eligible *e)
{
    free(e->keys);
    free(e->rank);
}

struct dated {
    int64_t key;
    size_t rank;
};

static int by_key(const void *a, const void *b)
{
    int64_t x = ((const struct dated *)a)->key, y = ((const struct dated *)b)->key;
    return (x > y) - (x < y);
}

static int sort_eligible(struct eligible *e, struct dated *runs, size_t n, struct err *err)
{
    e->keys = calloc(n ? n : 1, sizeof *e->keys);
    e->rank = calloc(n ? n : 1, sizeof *e->rank);
    if (!e->keys || !e->rank)
        return err_set(err, ERR_INTERNAL, "no memory for %zu nights", n);
    for (size_t i = 0; i < n; i++)
        runs[i].rank = n - 1 - i; /* the query returned the newest first */
    if (n)
        qsort(runs, n, sizeof *runs, by_key);
    for (size_t i = 0; i < n; i++) {
        e->keys[i] = runs[i].key;
        e->rank[i] = runs[i].rank;
    }
    e->count = n;
    return 0;
}

static bool is_wanted(const struct history_options *o, int64_t key)
{
    if (o->without && key == o->without)
        return false;
    if (!o->only)
        return true;
    for (size_t i = 0; i < o->n_only; i++)
        if (o->only[i] == key)
            return true;
    return false;
}

static int load_eligible(struct store *s, const struct history_options *o, struct eligible *out,
                         struct err *err)
{
    *out = (struct eligible){0};
    SQL_STMT stmt = sql_prepare(
        s,
        "SELECT r.id FROM run r LEFT JOIN run b ON b.id = :before"
        " WHERE r.node = :node AND r.ticket = :ticket AND r.mode = :mode AND r.status = 'COMPLETE'"
        " AND r.purpose = 'sweep' AND r.rejected_at IS NULL AND (:tag IS NULL OR r.tag = :tag)"
        " AND (b.id IS NULL OR (r.ordered_at, r.id) < (b.ordered_at, b.id))"
        " ORDER BY r.ordered_at DESC, r.id DESC LIMIT :limit",
        err);
    if (!stmt)
        return -1;
    sql_bind_text(stmt, ":node", o->node);
    sql_bind_text(stmt, ":ticket", o->ticket);
    sql_bind_text(stmt, ":mode", o->mode);
    sql_bind_text(stmt, ":tag", o->tag);
    sql_bind_int_or_null(stmt, ":before", o->before, 0);
    sql_bind_int(stmt, ":limit", o->nights ? (int64_t)o->nights : -1);
    struct dated *runs = NULL;
    size_t n = 0, cap = 0;
    int rc;
    while ((rc = sql_step(stmt, err)) > 0) {
        if (!ALLOC_GROW(runs, n + 1, cap)) {
            rc = err_set(err, ERR_INTERNAL, "no memory for %zu nights", n + 1);
            break;
        }
        runs[n].key = sql_col_int(stmt, "id", 0);
        n += is_wanted(o, runs[n].key);
    }
    if (rc == 0)
        rc = sort_eligible(out, runs, n, err);
    free(runs);
    return rc;
}

static bool find_rank(const struct eligible *e, int64_t key, size_t *rank)
{
    size_t low = 0, high = e->count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (e->keys[mid] < key)
            low = mid + 1;
        else
            high = mid;
    }
    if (low == e->count || e->keys[low] != key)
        return false;
    *rank = e->rank[low];
    return true;
}

/* The values of one cell of one night while its rows are read. */
struct night {
    int64_t run;
    size_t rank;
    bool counts;
    double values[LIMIT_REPETITIONS];
    size_t n;
};

struct ranked_point {
    struct history_point point;
    size_t rank;
};

struct filling {
    struct ranked_point *points;
    size_t count;
    size_t cap;
};

static int close_night(struct filling *f, struct night *night, struct err *err)
{
    if (night->counts && night->n > 0) {
        if (!ALLOC_GROW(f->points, f->count + 1, f->cap))
            return err_set(err, ERR_INTERNAL, "no memory for %zu nights", f->count + 1);
        f->points[f->count++] = (struct ranked_point){
            {night->run, stats_median(night->values, night->n), (int)night->n}, night->rank};
    }
    night->n = 0;
    return 0;
}

static int by_rank(const void *a, const void *b)
{
    size_t x = ((const struct ranked_point *)a)->rank, y = ((const struct ranked_point *)b)->rank;
    return (x > y) - (x < y);
}

static int keep_series(struct history *h, const struct filling *f, const char *variant, int context,
                       enum metric m, struct err *err)
{
    if (f->count == 0)
        return 0;
    struct history_point *points =
        ALLOC_GROW(h->series, h->count + 1, h->cap) ? malloc(f->count * sizeof *points) : NULL;
    if (!points)
        return err_set(err, ERR_INTERNAL, "no memory for %zu nights", f->count);
    qsort(f->points, f->count, sizeof *f->points, by_rank);
    for (size_t i = 0; i < f->count; i++)
        points[i] = f->points[i].point;
    struct history_series *into = &h->series[h->count++];
    *into = (struct history_series){.context = context, .metric = m, .points = points, .count = f->count};
    snprintf(into->variant, sizeof into->variant, "%s", variant);
    return 0;
}

#define OF_TEST(column)                                                                                      \
    "SELECT run_id, " column " AS value"                                                                     \
    " FROM test WHERE series_id = :series AND run_id BETWEEN :first AND :last"                               \
    " AND status = 'OK' AND warmup = 0 ORDER BY run_id"
#define OF_VARIANT(column)                                                                                   \
    "SELECT t.run_id, v." column " AS value FROM test t JOIN series c ON c.id = t.series_id"                 \
    " JOIN variant v ON v.run_id = t.run_id AND v.name = c.variant"                                          \
    " WHERE t.series_id = :series AND t.run_id BETWEEN :first AND :last"                                     \
    " AND t.status = 'OK' AND t.warmup = 0 ORDER BY t.run_id"

/* Nights whose plan defined the name with another unit or direction are of another metric. */
#define OF_EXTRA                                                                                             \
    "SELECT t.run_id, e.value FROM test t JOIN extra e ON e.test_id = t.id"                                  \
    " JOIN quantity q ON q.id = e.quantity_id"                                                               \
    " LEFT JOIN run_metric d ON d.run_id = t.run_id AND d.name = q.name"                                     \
    " WHERE t.series_id = :series AND t.run_id BETWEEN :first AND :last"                                     \
    " AND t.status = 'OK' AND t.warmup = 0 AND q.name = :metric"                                             \
    " AND (d.unit IS NULL OR (d.unit = :unit AND d.better = :better)) ORDER BY t.run_id"

/* Reads only from the first to the last run of the history, since runs are mostly stored in chronological
 * order. prefill_s is read from an index alone. */
static const char *const queries[METRIC_COUNT] = {
#define METRIC_TEST(id, name, column, ...) [METRIC_##id] = OF_TEST(#column),
#define METRIC_BUILD(id, name, column, ...) [METRIC_##id] = OF_VARIANT(#column),
#define METRIC_RATE(id, name, time, column, ...) [METRIC_##id] = OF_TEST(#column),
#include "results/store/metric.def"
};

static double derive(enum metric m, double v, int context)
{
    return metric_info(m)->kind == METRIC_OF_TIME ? context / v : v;
}

struct scan {
    struct store *s;
    const struct eligible *runs;
    struct night *night;
    struct filling fill;
    bool *seen; /* by rank: nights that contributed */
};

/* The rows of a series are sorted by run. */
static int scan_series(struct scan *c, struct sql_stmt *stmt, int64_t series, int context, enum metric m,
                       struct err *err)
{
    struct night *night = c->night;
    const struct metric_info *info = metric_info(m);
    int rc;
    *night = (struct night){.run = -1};
    c->fill.count = 0;
    if (info->kind == METRIC_OF_EXTRA) {
        sql_bind_text(stmt, ":metric", info->name);
        sql_bind_text(stmt, ":unit", info->unit);
        sql_bind_text(stmt, ":better", info->better == METRIC_MORE ? "more" : "less");
    }
    sql_bind_int(stmt, ":series", series);
    sql_bind_int(stmt, ":first", c->runs->keys[0]);
    sql_bind_int(stmt, ":last", c->runs->keys[c->runs->count - 1]);
    while ((rc = sql_step(stmt, err)) > 0) {
        int64_t run = sql_col_int(stmt, "run_id", 0);
        double v = derive(m, sql_col_num(stmt, "value"), context);
        if (run != night->run) {
            if (close_night(&c->fill, night, err) != 0)
                return -1;
            night->run = run;
            night->counts = find_rank(c->runs, run, &night->rank);
        }
        if (night->counts && !isnan(v) && night->n < LIMIT_REPETITIONS)
            night->values[night->n++] = v;
    }
    if (rc == 0)
        rc = close_night(&c->fill, night, err);
    for (size_t i = 0; i < c->fill.count; i++)
        c->seen[c->fill.points[i].rank] = true;
    return rc;
}

static int scan_metric(struct scan *c, struct sql_stmt *list, enum metric m, struct history *out,
                       struct err *err)
{
    char variant[RUN_NAME_MAX];
    if (metric_info(m)->kind == METRIC_FREE)
        return 0;
    SQL_STMT stmt = sql_prepare(c->s, queries[m] ? queries[m] : OF_EXTRA, err);
    if (!stmt)
        return -1;
    int rc;
    while ((rc = sql_step(list, err)) > 0) {
        int context = (int)sql_col_int(list, "context_len", 0);
        sql_col_text(list, "variant", variant, sizeof variant);
        rc = scan_series(c, stmt, sql_col_int(list, "id", 0), context, m, err);
        if (rc == 0)
            rc = keep_series(out, &c->fill, variant, context, m, err);
        if (rc != 0)
            break;
    }
    sql_reset(list);
    return rc;
}

static int scan_all(struct scan *c, const struct history_options *o, struct history *out, struct err *err)
{
    SQL_STMT list =
        sql_prepare(c->s,
                    "SELECT id, variant, context_len FROM series WHERE node = :node AND ticket = :ticket"
                    " AND mode = :mode AND (:variant IS NULL OR variant = :variant) AND (:context IS NULL OR "
                    "context_len = :context)"
                    " ORDER BY variant, context_len",
                    err);
    if (!list)
        return -1;
    sql_bind_text(list, ":node", o->node);
    sql_bind_text(list, ":ticket", o->ticket);
    sql_bind_text(list, ":mode", o->mode);
    sql_bind_text(list, ":variant", o->variant);
    sql_bind_int_or_null(list, ":context", o->context, 0);
    if (!o->all_metrics)
        return scan_metric(c, list, o->metric, out, err);
    for (int m = 0; m < METRIC_COUNT; m++)
        if (scan_metric(c, list, (enum metric)m, out, err) != 0)
            return -1;
    return 0;
}

int history_load(struct store *s, const struct history_options *o, struct history *out, struct err *err)
{
    struct eligible runs;
    *out = (struct history){0};
    int rc = load_eligible(s, o, &runs, err);
    struct scan c = {.s = s, .runs = &runs};
    c.night = malloc(sizeof *c.night);
    c.seen = calloc(runs.count ? runs.count : 1, sizeof *c.seen);
    if (rc == 0 && (!c.night || !c.seen))
        rc = err_set(err, ERR_INTERNAL, "no memory for the history");
    if (rc == 0 && runs.count)
        rc = scan_all(&c, o, out, err);
    for (size_t i = 0; rc == 0 && i < runs.count; i++)
        out->nights += c.seen[i];
    if (rc == 0)
        history_sort(out);
    free(c.night);
    free(c.seen);
    free(c.fill.points);
    eligible_release(&runs);
    if (rc != 0)
        history_release(out);
    return rc;
}

int history_for_run(struct store *s, const struct run_info *run, enum metric metric, bool all_metrics,
                    struct history *out, struct err *err)
{
    const struct history_options o = {
        .node = run->node,
        .ticket = run->ticket,
        .mode = run->mode,
        .tag = run->tag,
        .before = run->key,
        .nights = HISTORY_NIGHTS_DEFAULT,
        .metric = metric,
        .all_metrics = all_metrics,
    };
    return history_load(s, &o, out, err);
}
