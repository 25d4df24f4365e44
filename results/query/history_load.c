#include "results/query/history_load.h"

#include "common/base/alloc.h"
#include "results/stats/stats.h"
#include "results/store/identity.h"
#include "results/store/sql.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Store rows of runs that lie further apart are read by two searches of an index instead of one. */
enum { KEYS_APART = 64 };

/* A run of the history. */
struct dated {
    int64_t key;
    size_t rank; /* chronological position */
    int64_t measured_at;
    int64_t environment;
    uint64_t device;
    bool wanted;
};

/* The runs of the history, looked up by key for each row of a series. */
struct eligible {
    struct dated *runs; /* sorted by key */
    size_t count;
};

static int by_key(const void *a, const void *b)
{
    int64_t x = ((const struct dated *)a)->key, y = ((const struct dated *)b)->key;
    return (x > y) - (x < y);
}

/* The query returned the newest first. */
static void rank_eligible(struct eligible *e)
{
    for (size_t i = 0; i < e->count; i++)
        e->runs[i].rank = e->count - 1 - i;
    if (e->count)
        qsort(e->runs, e->count, sizeof *e->runs, by_key);
}

static bool is_listed(const int64_t *keys, size_t n, int64_t key)
{
    for (size_t i = 0; i < n; i++)
        if (keys[i] == key)
            return true;
    return false;
}

/* Only the newest nights, and those around the runs that are kept whatever their age. */
static void drop_old(const struct history_options *o, struct eligible *e)
{
    size_t kept = 0;
    for (size_t i = 0; i < e->count; i++) {
        bool wanted = o->nights == 0 || i < o->nights;
        size_t from = i > HISTORY_NIGHTS_AROUND ? i - HISTORY_NIGHTS_AROUND : 0;
        for (size_t j = from; !wanted && j <= i + HISTORY_NIGHTS_AROUND && j < e->count; j++)
            wanted = is_listed(o->keep, o->n_keep, e->runs[j].key);
        e->runs[i].wanted = wanted;
    }
    for (size_t i = 0; i < e->count; i++)
        if (e->runs[i].wanted)
            e->runs[kept++] = e->runs[i];
    e->count = kept;
}

/* Runs on the same GPUs have the same identity, whatever else differs between their environments. */
static int load_devices(struct store *s, struct eligible *e, struct err *err)
{
    SQL_STMT stmt = sql_prepare(s,
                                "SELECT key, value FROM fact WHERE environment_id = :id"
                                " AND key >= 'gpus' AND key < 'gput' ORDER BY key",
                                err);
    if (!stmt)
        return -1;
    for (size_t i = 0; i < e->count; i++) {
        struct dated *r = &e->runs[i];
        if (i && r->environment == e->runs[i - 1].environment) {
            r->device = e->runs[i - 1].device;
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

static int load_eligible(struct store *s, const struct history_options *o, struct eligible *out,
                         struct err *err)
{
    *out = (struct eligible){0};
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
    if (!stmt)
        return -1;
    sql_bind_text(stmt, ":node", o->node);
    sql_bind_text(stmt, ":ticket", o->ticket);
    sql_bind_text(stmt, ":mode", o->mode);
    sql_bind_text(stmt, ":tag", o->tag);
    sql_bind_int_or_null(stmt, ":before", o->before, 0);
    size_t cap = 0;
    int rc;
    while ((rc = sql_step(stmt, err)) > 0) {
        if (!ALLOC_GROW(out->runs, out->count + 1, cap))
            return err_set(err, ERR_INTERNAL, "no memory for %zu nights", out->count + 1);
        struct dated *r = &out->runs[out->count++];
        *r = (struct dated){.key = sql_col_int(stmt, "id", 0),
                            .measured_at = sql_col_int(stmt, "ordered_at", 0),
                            .environment = sql_col_int(stmt, "environment", 0)};
    }
    if (rc != 0)
        return -1;
    drop_old(o, out);
    if (load_devices(s, out, err) != 0)
        return -1;
    rank_eligible(out);
    return 0;
}

static const struct dated *find_dated(const struct eligible *e, int64_t key)
{
    const struct dated wanted = {.key = key};
    return e->count ? bsearch(&wanted, e->runs, e->count, sizeof wanted, by_key) : NULL;
}

/* The values of one cell of one night on one GPU while its rows are read. */
struct night {
    int64_t run;
    const struct dated *dated; /* NULL: not of the history */
    uint64_t code;
    char gpu[RUN_GPU_MAX], mode[RUN_MODE_MAX];
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

static struct history_point point_of(const struct night *night)
{
    double median = stats_median(night->values, night->n);
    return (struct history_point){
        .run_key = night->run,
        .median = median,
        .n = (int)night->n,
        .measured_at = night->dated->measured_at,
        .within = night->n > 1 ? stats_sd(night->values, night->n) / fabs(median) : NAN,
        .code = night->code,
        .device = *night->gpu ? gpu_identity(night->gpu, night->mode) : night->dated->device,
    };
}

static int close_night(struct filling *f, struct night *night, struct err *err)
{
    if (night->dated && night->n > 0) {
        if (!ALLOC_GROW(f->points, f->count + 1, f->cap))
            return err_set(err, ERR_INTERNAL, "no memory for %zu nights", f->count + 1);
        f->points[f->count++] = (struct ranked_point){point_of(night), night->dated->rank};
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
    "SELECT run_id, " column " AS value, gpu, gpu_mode"                                                      \
    " FROM test WHERE series_id = :series AND run_id BETWEEN :first AND :last"                               \
    " AND status = 'OK' AND warmup = 0 ORDER BY run_id, gpu, gpu_mode"
#define OF_VARIANT(column)                                                                                   \
    "SELECT t.run_id, v." column                                                                             \
    " AS value, t.gpu, t.gpu_mode FROM test t JOIN series c ON c.id = t.series_id"                           \
    " JOIN variant v ON v.run_id = t.run_id AND v.name = c.variant"                                          \
    " WHERE t.series_id = :series AND t.run_id BETWEEN :first AND :last"                                     \
    " AND t.status = 'OK' AND t.warmup = 0 ORDER BY t.run_id, t.gpu, t.gpu_mode"

/* What the run sampled in another way than this night did is of another metric: of the run that the history
 * is of, any one test tells, since a run of which not all were sampled alike is not judged. */
#define OF_SAMPLES(column, like)                                                                             \
    "SELECT t.run_id, t." column " AS value, t.gpu, t.gpu_mode FROM test t LEFT JOIN ("                      \
    "SELECT activity_window, joules_from FROM test WHERE series_id = :series AND run_id = :before"           \
    " AND status = 'OK' AND warmup = 0 AND activity_window IS NOT NULL LIMIT 1) n"                           \
    " WHERE t.series_id = :series AND t.run_id BETWEEN :first AND :last"                                     \
    " AND t.status = 'OK' AND t.warmup = 0 AND (n.activity_window IS NULL OR t.activity_window IS NULL"      \
    " OR (" like ")) ORDER BY t.run_id, t.gpu, t.gpu_mode"
#define SAME_WINDOW "t.activity_window = n.activity_window"
#define SAME_METER SAME_WINDOW " AND t.joules_from IS n.joules_from"

/* Nights whose plan defined the name with another unit or direction are of another metric. */
#define OF_EXTRA                                                                                             \
    "SELECT t.run_id, e.value, t.gpu, t.gpu_mode FROM test t JOIN extra e ON e.test_id = t.id"               \
    " JOIN quantity q ON q.id = e.quantity_id"                                                               \
    " LEFT JOIN run_metric d ON d.run_id = t.run_id AND d.name = q.name"                                     \
    " WHERE t.series_id = :series AND t.run_id BETWEEN :first AND :last"                                     \
    " AND t.status = 'OK' AND t.warmup = 0 AND q.name = :metric"                                             \
    " AND (d.unit IS NULL OR (d.unit = :unit AND d.better = :better))"                                       \
    " ORDER BY t.run_id, t.gpu, t.gpu_mode"

/* Reads only from the first to the last run of a part of the history, since runs are mostly stored in
 * chronological order. prefill_s is read from an index alone. */
static const char *const queries[METRIC_COUNT] = {
#define METRIC_TEST(id, name, column, ...) [METRIC_##id] = OF_TEST(#column),
#define METRIC_BUILD(id, name, column, ...) [METRIC_##id] = OF_VARIANT(#column),
#define METRIC_RATE(id, name, time, column, ...) [METRIC_##id] = OF_TEST(#column),
#define METRIC_PER_TOKEN(id, name, whole, column, ...) [METRIC_##id] = OF_TEST(#column),
#include "results/store/metric.def"
};

static const char *query_of(enum metric m)
{
    if (m == METRIC_SCLK_MHZ)
        return OF_SAMPLES("sclk_mhz", SAME_WINDOW);
    if (m == METRIC_JOULES || m == METRIC_JOULES_PER_TOKEN)
        return OF_SAMPLES("joules", SAME_METER);
    return queries[m] ? queries[m] : OF_EXTRA;
}

static double derive(enum metric m, double v, int context)
{
    return metric_is_derived(m) ? metric_derived(m, v, context) : v;
}

/* The code identity of a variant in a run of the history. */
struct coded {
    int64_t run;
    char variant[RUN_NAME_MAX];
    uint64_t code;
};

struct scan {
    struct store *s;
    const struct eligible *runs;
    int64_t before;      /* the run that the history is of; 0: none */
    struct coded *codes; /* sorted by run and variant; only those that are known */
    size_t n_codes;
    struct night *night;
    struct filling fill;
    bool *seen; /* by rank: nights that contributed */
};

static int by_run_and_variant(const void *a, const void *b)
{
    const struct coded *x = a, *y = b;
    if (x->run != y->run)
        return x->run < y->run ? -1 : 1;
    return strcmp(x->variant, y->variant);
}

static int load_codes(struct scan *c, struct err *err)
{
    SQL_STMT stmt = sql_prepare(c->s,
                                "SELECT run_id, name, code_sha256 FROM variant"
                                " WHERE run_id BETWEEN :first AND :last AND code_sha256 IS NOT NULL",
                                err);
    if (!stmt)
        return -1;
    sql_bind_int(stmt, ":first", c->runs->runs[0].key);
    sql_bind_int(stmt, ":last", c->runs->runs[c->runs->count - 1].key);
    size_t cap = 0;
    int rc;
    while ((rc = sql_step(stmt, err)) > 0) {
        char sha256[SHA256_HEX_LEN + 1];
        int64_t run = sql_col_int(stmt, "run_id", 0);
        if (!find_dated(c->runs, run))
            continue;
        if (!ALLOC_GROW(c->codes, c->n_codes + 1, cap))
            return err_set(err, ERR_INTERNAL, "no memory for %zu builds", c->n_codes + 1);
        struct coded *code = &c->codes[c->n_codes++];
        code->run = run;
        sql_col_text(stmt, "name", code->variant, sizeof code->variant);
        sql_col_text(stmt, "code_sha256", sha256, sizeof sha256);
        code->code = run_identity(sha256);
    }
    if (c->n_codes)
        qsort(c->codes, c->n_codes, sizeof *c->codes, by_run_and_variant);
    return rc;
}

static uint64_t code_of(const struct scan *c, int64_t run, const char *variant)
{
    struct coded wanted = {.run = run};
    if (!c->n_codes)
        return 0;
    snprintf(wanted.variant, sizeof wanted.variant, "%s", variant);
    const struct coded *found = bsearch(&wanted, c->codes, c->n_codes, sizeof wanted, by_run_and_variant);
    return found ? found->code : 0;
}

static bool is_other_gpu(struct sql_stmt *stmt, const struct night *night)
{
    const char *gpu = sql_col_str(stmt, "gpu", NULL), *mode = sql_col_str(stmt, "gpu_mode", NULL);
    return strcmp(gpu ? gpu : "", night->gpu) != 0 || strcmp(mode ? mode : "", night->mode) != 0;
}

/* The end of a part: years may lie between the runs of an old base and the newest nights. */
static size_t part_end(const struct eligible *e, size_t from)
{
    size_t to = from + 1;
    while (to < e->count && e->runs[to].key - e->runs[to - 1].key <= KEYS_APART)
        to++;
    return to;
}

static int begin_night(struct scan *c, struct sql_stmt *stmt, int64_t run, const char *variant,
                       struct err *err)
{
    struct night *night = c->night;
    if (close_night(&c->fill, night, err) != 0)
        return -1;
    night->run = run;
    sql_col_text(stmt, "gpu", night->gpu, sizeof night->gpu);
    sql_col_text(stmt, "gpu_mode", night->mode, sizeof night->mode);
    night->dated = find_dated(c->runs, run);
    night->code = night->dated ? code_of(c, run, variant) : 0;
    return 0;
}

/* The rows of a series are sorted by run and GPU. */
static int scan_part(struct scan *c, struct sql_stmt *stmt, const char *variant, int context, enum metric m,
                     struct err *err)
{
    struct night *night = c->night;
    int rc;
    while ((rc = sql_step(stmt, err)) > 0) {
        int64_t run = sql_col_int(stmt, "run_id", 0);
        double v = derive(m, sql_col_num(stmt, "value"), context);
        if ((run != night->run || is_other_gpu(stmt, night)) && begin_night(c, stmt, run, variant, err) != 0)
            return -1;
        if (night->dated && !isnan(v) && night->n < LIMIT_REPETITIONS)
            night->values[night->n++] = v;
    }
    return rc;
}

static int scan_series(struct scan *c, struct sql_stmt *stmt, int64_t series, const char *variant,
                       int context, enum metric m, struct err *err)
{
    struct night *night = c->night;
    const struct metric_info *info = metric_info(m);
    int rc = 0;
    night->run = -1;
    night->dated = NULL;
    night->n = 0;
    c->fill.count = 0;
    if (info->kind == METRIC_OF_EXTRA) {
        sql_bind_text(stmt, ":metric", info->name);
        sql_bind_text(stmt, ":unit", info->unit);
        sql_bind_text(stmt, ":better", info->better == METRIC_MORE ? "more" : "less");
    }
    if (info->sampled)
        sql_bind_int_or_null(stmt, ":before", c->before, 0);
    sql_bind_int(stmt, ":series", series);
    for (size_t from = 0, to; rc == 0 && from < c->runs->count; from = to) {
        to = part_end(c->runs, from);
        sql_bind_int(stmt, ":first", c->runs->runs[from].key);
        sql_bind_int(stmt, ":last", c->runs->runs[to - 1].key);
        rc = scan_part(c, stmt, variant, context, m, err);
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
    SQL_STMT stmt = sql_prepare(c->s, query_of(m), err);
    if (!stmt)
        return -1;
    int rc;
    while ((rc = sql_step(list, err)) > 0) {
        int context = (int)sql_col_int(list, "context_len", 0);
        sql_col_text(list, "variant", variant, sizeof variant);
        rc = scan_series(c, stmt, sql_col_int(list, "id", 0), variant, context, m, err);
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
    struct scan c = {.s = s, .runs = &runs, .before = o->before};
    c.night = malloc(sizeof *c.night);
    c.seen = calloc(runs.count ? runs.count : 1, sizeof *c.seen);
    if (rc == 0 && (!c.night || !c.seen))
        rc = err_set(err, ERR_INTERNAL, "no memory for the history");
    if (rc == 0 && runs.count)
        rc = load_codes(&c, err);
    if (rc == 0 && runs.count)
        rc = scan_all(&c, o, out, err);
    for (size_t i = 0; rc == 0 && i < runs.count; i++)
        out->nights += c.seen[i];
    if (rc == 0)
        history_sort(out);
    free(c.night);
    free(c.seen);
    free(c.fill.points);
    free(c.codes);
    free(runs.runs);
    if (rc != 0)
        history_release(out);
    return rc;
}

int history_for_run(struct store *s, const struct run_info *run, const int64_t *keep, size_t n_keep,
                    enum metric metric, bool all_metrics, struct history *out, struct err *err)
{
    const struct history_options o = {
        .node = run->node,
        .ticket = run->ticket,
        .mode = run->mode,
        .tag = run->tag,
        .before = run->key,
        .nights = HISTORY_NIGHTS_DEFAULT,
        .keep = keep,
        .n_keep = n_keep,
        .metric = metric,
        .all_metrics = all_metrics,
    };
    return history_load(s, &o, out, err);
}
