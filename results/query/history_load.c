#include "results/query/history_load.h"

#include "common/base/alloc.h"
#include "common/base/values.h"
#include "results/stats/stats.h"
#include "results/store/identity.h"
#include "results/store/sql.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Store rows of runs that lie further apart are read by two searches of an index instead of one. */
enum { KEYS_APART = 64 };

/* The values of one cell of one night on one GPU while its rows are read. */
struct night {
    int64_t run;
    const struct history_run *dated; /* NULL: not of the history */
    uint64_t code;
    char gpu[RUN_GPU_MAX], mode[RUN_MODE_MAX];
    uint64_t device; /* their identity, which costs more than to compare them */
    double values[LIMIT_REPETITIONS];
    size_t n;
};

struct ranked_point {
    struct history_point point;
    size_t rank;
};

struct filling {
    struct ranked_point *points;
    char part[8]; /* of the tests that was sampled */
    size_t count;
    size_t cap;
};

static struct history_point point_of(const struct night *night)
{
    double median = stats_median(night->values, night->n);
    return (struct history_point){
        .run_key = night->dated->night,
        .median = median,
        .n = (int)night->n,
        .measured_at = night->dated->measured_at,
        .within = night->n > 1 ? stats_sd(night->values, night->n) / fabs(median) : NAN,
        .code = night->code,
        .device = *night->gpu ? night->device : night->dated->device,
    };
}

static void close_night(struct filling *f, struct night *night)
{
    if (night->dated && night->n > 0) {
        ALLOC_GROW(f->points, f->count + 1, f->cap);
        f->points[f->count++] = (struct ranked_point){point_of(night), night->dated->rank};
    }
    night->n = 0;
}

static int by_rank(const void *a, const void *b)
{
    const struct ranked_point *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->point.device > y->point.device) - (x->point.device < y->point.device);
}

/* What several runs of a night measured on one GPU: the median of theirs. */
static struct history_point together(const struct ranked_point *p, size_t n)
{
    AUTO_FREE double *medians = xmalloc(n * sizeof *medians);
    struct history_point out = p[0].point;
    double squares = 0, with = 0;
    out.n = 0;
    for (size_t i = 0; i < n; i++) {
        medians[i] = p[i].point.median;
        out.n += p[i].point.n;
        out.code = p[i].point.code == p[0].point.code ? out.code : 0;
        if (p[i].point.within > 0) {
            squares += p[i].point.within * p[i].point.within;
            with++;
        }
    }
    out.median = stats_median(medians, n);
    out.within = with > 0 ? sqrt(squares / with) : out.within;
    return out;
}

/* Writes one point for each night and GPU; returns how many. */
static size_t join_runs(const struct filling *f, struct history_point *out)
{
    size_t count = 0;
    for (size_t i = 0, to; i < f->count; i = to) {
        to = i + 1;
        while (to < f->count && f->points[to].rank == f->points[i].rank &&
               f->points[to].point.device == f->points[i].point.device)
            to++;
        out[count++] = to - i == 1 ? f->points[i].point : together(&f->points[i], to - i);
    }
    return count;
}

static void keep_series(struct history *h, const struct filling *f, const char *variant, int context,
                        enum metric m)
{
    if (f->count == 0)
        return;
    struct history_point *points = xmalloc(f->count * sizeof *points);
    ALLOC_GROW(h->series, h->count + 1, h->cap);
    items_sort(f->points, f->count, sizeof *f->points, by_rank);
    struct history_series *into = &h->series[h->count++];
    *into = (struct history_series){
        .context = context, .metric = m, .points = points, .count = join_runs(f, points)};
    snprintf(into->variant, sizeof into->variant, "%s", variant);
    memcpy(into->part, f->part, sizeof into->part);
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

/* Samples that were taken otherwise than those of the run that the history is for, else of the newest run,
 * are of another metric. Any test of that run tells how they were taken: a run that mixes ways is not judged.
 */
#define OF_SAMPLES(value, like)                                                                              \
    "SELECT t.run_id, " value " AS value, t.gpu, t.gpu_mode, n.activity_window AS part"                      \
    " FROM test t LEFT JOIN ("                                                                               \
    "SELECT activity_window, joules_from FROM test WHERE series_id = :series"                                \
    " AND run_id BETWEEN coalesce(:before, 0) AND coalesce(:before, :newest)"                                \
    " AND status = 'OK' AND warmup = 0 AND activity_window IS NOT NULL ORDER BY run_id DESC LIMIT 1) n"      \
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
        return OF_SAMPLES("t.sclk_mhz", SAME_WINDOW);
    if (m == METRIC_JOULES)
        return OF_SAMPLES("t.joules", SAME_METER);
    if (m == METRIC_JOULES_PER_TOKEN)
        return OF_SAMPLES("CASE WHEN " RUN_TEST_HAS_TOKENS " THEN t.joules END", SAME_METER);
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
    const struct history_runs *runs;
    int64_t before;      /* the run that the history is of; 0: none */
    struct coded *codes; /* sorted by variant and run; only those that are known */
    size_t n_codes;
    const struct coded *of_variant; /* those of the variant whose series is read */
    size_t n_of_variant;
    struct night *night;
    struct filling fill;
    bool *seen; /* by rank: nights that contributed */
};

static int by_run(const void *a, const void *b)
{
    const struct coded *x = a, *y = b;
    return (x->run > y->run) - (x->run < y->run);
}

static int by_variant_and_run(const void *a, const void *b)
{
    int variants = strcmp(((const struct coded *)a)->variant, ((const struct coded *)b)->variant);
    return variants ? variants : by_run(a, b);
}

static int load_codes(struct scan *c, struct err *err)
{
    SQL_STMT stmt = sql_prepare(c->s,
                                "SELECT run_id, name, code_sha256 FROM variant"
                                " WHERE run_id BETWEEN :first AND :last AND code_sha256 IS NOT NULL",
                                err);
    sql_bind_int(stmt, ":first", c->runs->items[0].key);
    sql_bind_int(stmt, ":last", c->runs->items[c->runs->count - 1].key);
    size_t cap = 0;
    int rc;
    while ((rc = sql_step(stmt, err)) > 0) {
        char sha256[SHA256_HEX_LEN + 1];
        int64_t run = sql_col_int(stmt, "run_id", 0);
        if (!history_runs_find(c->runs, run))
            continue;
        ALLOC_GROW(c->codes, c->n_codes + 1, cap);
        struct coded *code = &c->codes[c->n_codes++];
        code->run = run;
        sql_col_text(stmt, "name", code->variant, sizeof code->variant);
        sql_col_text(stmt, "code_sha256", sha256, sizeof sha256);
        code->code = run_identity(sha256);
    }
    items_sort(c->codes, c->n_codes, sizeof *c->codes, by_variant_and_run);
    return rc;
}

/* The series come by variant, as the codes do. */
static void find_codes(struct scan *c, const char *variant)
{
    const struct coded *end = c->codes + c->n_codes, *at = c->of_variant ? c->of_variant : c->codes;
    if (at == end || strcmp(at->variant, variant) > 0)
        at = c->codes;
    while (at < end && strcmp(at->variant, variant) < 0)
        at++;
    c->of_variant = at;
    while (at < end && strcmp(at->variant, variant) == 0)
        at++;
    c->n_of_variant = (size_t)(at - c->of_variant);
}

static uint64_t code_of(const struct scan *c, int64_t run)
{
    const struct coded wanted = {.run = run};
    const struct coded *found =
        c->n_of_variant ? bsearch(&wanted, c->of_variant, c->n_of_variant, sizeof wanted, by_run) : NULL;
    return found ? found->code : 0;
}

static bool is_other_gpu(struct sql_stmt *stmt, const struct night *night)
{
    const char *gpu = sql_col_str(stmt, "gpu", NULL), *mode = sql_col_str(stmt, "gpu_mode", NULL);
    return strcmp(gpu ? gpu : "", night->gpu) != 0 || strcmp(mode ? mode : "", night->mode) != 0;
}

/* A part ends at a gap: years may lie between the runs of an old base and the newest nights. */
static size_t part_end(const struct history_runs *e, size_t from)
{
    size_t to = from + 1;
    while (to < e->count && e->items[to].key - e->items[to - 1].key <= KEYS_APART)
        to++;
    return to;
}

static void begin_night(struct scan *c, struct sql_stmt *stmt, int64_t run)
{
    struct night *night = c->night;
    close_night(&c->fill, night);
    night->run = run;
    if (is_other_gpu(stmt, night)) {
        sql_col_text(stmt, "gpu", night->gpu, sizeof night->gpu);
        sql_col_text(stmt, "gpu_mode", night->mode, sizeof night->mode);
        night->device = gpu_identity(night->gpu, night->mode);
    }
    night->dated = history_runs_find(c->runs, run);
    night->code = night->dated ? code_of(c, run) : 0;
}

/* The rows of a series are sorted by run and GPU. */
static int scan_part(struct scan *c, struct sql_stmt *stmt, int context, enum metric m, struct err *err)
{
    struct night *night = c->night;
    int rc;
    while ((rc = sql_step(stmt, err)) > 0) {
        int64_t run = sql_col_int(stmt, "run_id", 0);
        double v = derive(m, sql_col_num(stmt, "value"), context);
        if (run != night->run || is_other_gpu(stmt, night))
            begin_night(c, stmt, run);
        if (metric_info(m)->sampled)
            sql_col_text(stmt, "part", c->fill.part, sizeof c->fill.part);
        if (night->dated && !isnan(v) && night->n < LIMIT_REPETITIONS)
            night->values[night->n++] = v;
    }
    return rc;
}

static int scan_series(struct scan *c, struct sql_stmt *stmt, int64_t series, int context, enum metric m,
                       struct err *err)
{
    struct night *night = c->night;
    const struct metric_info *info = metric_info(m);
    night->run = -1;
    night->dated = NULL;
    night->n = 0;
    c->fill.count = 0;
    c->fill.part[0] = '\0';
    if (info->kind == METRIC_OF_EXTRA) {
        sql_bind_text(stmt, ":metric", info->name);
        sql_bind_text(stmt, ":unit", info->unit);
        sql_bind_text(stmt, ":better", info->better == METRIC_MORE ? "more" : "less");
    }
    if (info->sampled) {
        sql_bind_int_or_null(stmt, ":before", c->before, 0);
        sql_bind_int(stmt, ":newest", c->runs->items[c->runs->count - 1].key);
    }
    sql_bind_int(stmt, ":series", series);
    for (size_t from = 0, to; from < c->runs->count; from = to) {
        to = part_end(c->runs, from);
        sql_bind_int(stmt, ":first", c->runs->items[from].key);
        sql_bind_int(stmt, ":last", c->runs->items[to - 1].key);
        if (scan_part(c, stmt, context, m, err) != 0)
            return -1;
    }
    close_night(&c->fill, night);
    for (size_t i = 0; i < c->fill.count; i++)
        c->seen[c->fill.points[i].rank] = true;
    return 0;
}

static int scan_metric(struct scan *c, struct sql_stmt *list, enum metric m, struct history *out,
                       struct err *err)
{
    char variant[RUN_NAME_MAX];
    if (metric_info(m)->kind == METRIC_FREE)
        return 0;
    SQL_STMT stmt = sql_prepare(c->s, query_of(m), err);
    int rc;
    while ((rc = sql_step(list, err)) > 0) {
        int context = (int)sql_col_int(list, "context_len", 0);
        sql_col_text(list, "variant", variant, sizeof variant);
        find_codes(c, variant);
        if (scan_series(c, stmt, sql_col_int(list, "id", 0), context, m, err) != 0)
            return -1;
        keep_series(out, &c->fill, variant, context, m);
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

static void scan_release(struct scan *c)
{
    free(c->night);
    free(c->seen);
    free(c->fill.points);
    free(c->codes);
}

int history_load(struct store *s, const struct history_options *o, struct history *out, struct err *err)
{
    *out = (struct history){0};
    AUTO(history_runs_release) struct history_runs runs = {0};
    if (history_runs_load(s, o, &runs, err) != 0)
        return -1;
    out->changed = runs.changed;
    if (runs.count == 0)
        return 0;
    AUTO(scan_release)
    struct scan c = {.s = s,
                     .runs = &runs,
                     .before = o->before,
                     .night = xcalloc(1, sizeof *c.night),
                     .seen = xcalloc(runs.nights, sizeof *c.seen)};
    if (load_codes(&c, err) != 0 || scan_all(&c, o, out, err) != 0) {
        history_release(out);
        return -1;
    }
    for (size_t i = 0; i < runs.nights; i++)
        out->nights += c.seen[i];
    history_sort(out);
    return 0;
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
        .judged = true,
        .keep = keep,
        .n_keep = n_keep,
        .metric = metric,
        .all_metrics = all_metrics,
    };
    return history_load(s, &o, out, err);
}
