#include "results/query/timeline.h"

#include "common/base/alloc.h"
#include "results/query/history_load.h"
#include "results/query/plan_cells.h"
#include "results/store/identity.h"
#include "results/store/run_load.h"
#include "results/store/sql.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SERIES_SHOWN = 5 };

static int find_series(struct store *s, const struct timeline_filter *f, struct timeline *out,
                       struct err *err)
{
    SQL_STMT stmt = sql_prepare(
        s,
        "SELECT node, ticket, mode FROM series WHERE variant = :variant AND context_len = :context"
        " AND (:node IS NULL OR node = :node) AND (:ticket IS NULL OR ticket = :ticket)"
        " AND (:mode IS NULL OR mode = :mode) ORDER BY node, ticket, mode",
        err);
    AUTO(buf_release) struct buf names = {.max = 8192};
    sql_bind_text(stmt, ":variant", f->variant);
    sql_bind_int(stmt, ":context", f->context);
    plan_bind(stmt, f->node, f->ticket, f->mode);
    int found = 0, rc;
    while ((rc = sql_step(stmt, err)) > 0) {
        sql_col_text(stmt, "node", out->node, sizeof out->node);
        sql_col_text(stmt, "ticket", out->ticket, sizeof out->ticket);
        sql_col_text(stmt, "mode", out->mode, sizeof out->mode);
        if (found++ < SERIES_SHOWN)
            buf_printf(&names, "%splan %s on %s (%s)", found > 1 ? ", " : "", out->ticket, out->node,
                       out->mode);
    }
    if (rc < 0)
        return -1;
    if (found == 0)
        return err_set(err, ERR_INPUT, "no stored results for variant %s at context %d%s", f->variant,
                       f->context, f->node || f->ticket || f->mode ? " with that node, plan and mode" : "");
    if (found > 1)
        return err_set(err, ERR_INPUT, "%s at %d is ambiguous: %s%s; choose with --node, --ticket or --mode",
                       f->variant, f->context, buf_str(&names), found > SERIES_SHOWN ? ", ..." : "");
    return 0;
}

/* Finds what was committed since the point before. */
static int find_commits(struct commit_log *log, struct timeline_point *points, size_t i, struct err *err)
{
    static const struct run_revision none;
    struct run_revision own;
    struct timeline_point *p = &points[i];
    if (revision_load(log->store, p->run_key, &own, err) != 0)
        return -1;
    return commit_range_find(log, i > 0 ? &points[i - 1].commits.to : &none, &own, &p->commits, err);
}

/* The GPUs that tests of the cell name. */
struct named_gpu {
    uint64_t device;
    char gpu[RUN_GPU_MAX];
    bool wanted;
};

enum { GPUS_MAX = 256 };

static int describe_point(struct sql_stmt *stmt, const struct history_point *from,
                          const struct named_gpu *gpu, struct timeline_point *p, struct err *err)
{
    *p = (struct timeline_point){
        .run_key = from->run_key, .median = from->median, .n = from->n, .device = from->device};
    snprintf(p->gpu, sizeof p->gpu, "%s", gpu ? gpu->gpu : "");
    sql_bind_int(stmt, ":run", from->run_key);
    int rc = sql_step(stmt, err);
    if (rc > 0) {
        sql_col_text(stmt, "run_id", p->run_id, sizeof p->run_id);
        sql_col_text(stmt, "date", p->date, sizeof p->date);
        sql_col_text(stmt, "tag", p->tag, sizeof p->tag);
        sql_col_text(stmt, "source_sha256", p->source_sha256, sizeof p->source_sha256);
    }
    sql_reset(stmt);
    return rc < 0 ? -1 : 0;
}

static bool is_wanted(const char *gpu, const char *part)
{
    size_t n = strlen(gpu), m = part ? strlen(part) : 0;
    return !part || (m <= n && m > 0 && (strncmp(gpu, part, m) == 0 || strcmp(gpu + n - m, part) == 0));
}

static int load_gpus(struct store *s, const struct timeline_filter *f, const struct timeline *t,
                     struct named_gpu *out, size_t *count, struct err *err)
{
    SQL_STMT stmt = sql_prepare(s,
                                "SELECT DISTINCT t.gpu, t.gpu_mode FROM test t JOIN series c"
                                " ON c.id = t.series_id WHERE c.node = :node AND c.ticket = :ticket"
                                " AND c.mode = :mode AND c.variant = :variant AND c.context_len = :context"
                                " AND t.status = 'OK' AND t.warmup = 0 AND t.gpu IS NOT NULL"
                                " ORDER BY t.gpu, t.gpu_mode",
                                err);
    *count = 0;
    plan_bind(stmt, t->node, t->ticket, t->mode);
    sql_bind_text(stmt, ":variant", t->variant);
    sql_bind_int(stmt, ":context", t->context);
    int rc;
    bool any = false;
    while ((rc = sql_step(stmt, err)) > 0 && *count < GPUS_MAX) {
        struct named_gpu *g = &out[(*count)++];
        char mode[RUN_MODE_MAX];
        sql_col_text(stmt, "gpu", g->gpu, sizeof g->gpu);
        sql_col_text(stmt, "gpu_mode", mode, sizeof mode);
        g->device = gpu_identity(g->gpu, mode);
        g->wanted = is_wanted(g->gpu, f->gpu);
        any |= g->wanted;
    }
    if (rc >= 0 && f->gpu && !any)
        return err_set(err, ERR_INPUT, "--gpu: no test of %s at %d names a GPU \"%.80s\"%s%.120s", t->variant,
                       t->context, f->gpu, *count ? ": the first one is " : "", *count ? out[0].gpu : "");
    return rc < 0 ? -1 : 0;
}

static bool has_several(const struct history_series *s)
{
    for (size_t i = 1; i < s->count; i++)
        if (s->points[i].run_key == s->points[i - 1].run_key)
            return true;
    return false;
}

static const struct named_gpu *find_gpu(const struct named_gpu *gpus, size_t n, uint64_t device)
{
    for (size_t i = 0; i < n; i++)
        if (gpus[i].device == device)
            return &gpus[i];
    return NULL;
}

/* Keeps the points to show: without a choice, those of the newest point's GPU if a night had several. */
static size_t keep_points(const struct timeline_filter *f, const struct named_gpu *gpus, size_t n_gpus,
                          struct history_series *s)
{
    uint64_t only = !f->gpu && s->count > 1 && has_several(s) ? s->points[s->count - 1].device : 0;
    size_t kept = 0;
    for (size_t i = 0; i < s->count; i++) {
        const struct named_gpu *g = find_gpu(gpus, n_gpus, s->points[i].device);
        if (f->gpu ? g && g->wanted : !only || !s->points[i].device || s->points[i].device == only)
            s->points[kept++] = s->points[i];
    }
    return kept;
}

static int load_points(struct store *s, const struct timeline_filter *f, struct timeline *out,
                       struct err *err)
{
    const struct history_options o = {
        .node = out->node,
        .ticket = out->ticket,
        .mode = out->mode,
        .tag = f->tag,
        .variant = f->variant,
        .context = f->context,
        .nights = f->nights,
        .metric = out->metric,
    };
    AUTO(history_release) struct history h = {0};
    AUTO(commit_log_release) struct commit_log log = {.store = s};
    AUTO_FREE struct named_gpu *gpus = xcalloc(GPUS_MAX, sizeof *gpus);
    size_t n_gpus = 0;
    SQL_STMT stmt = sql_prepare(s, "SELECT run_id, date, tag, source_sha256 FROM run WHERE id = :run", err);
    if (history_load(s, &o, &h, err) != 0 || load_gpus(s, f, out, gpus, &n_gpus, err) != 0)
        return -1;
    struct history_series none = {0}, *series = h.count ? &h.series[0] : &none;
    out->count = keep_points(f, gpus, n_gpus, series);
    out->left_out = series->count - out->count;
    out->changed = h.changed;
    out->points = xcalloc(out->count + 1, sizeof *out->points);
    for (size_t i = 0; i < out->count; i++) {
        const struct history_point *p = &series->points[i];
        if (describe_point(stmt, p, find_gpu(gpus, n_gpus, p->device), &out->points[i], err) != 0 ||
            find_commits(&log, out->points, i, err) != 0)
            return -1;
    }
    return 0;
}

static int facts_around(struct store *s, const struct timeline *t, const struct change *c,
                        struct fact_list *out, struct err *err)
{
    AUTO(run_data_release) struct run_data before = {0};
    AUTO(run_data_release) struct run_data after = {0};
    if (run_facts_load(s, t->points[c->last].run_key, &before, err) != 0 ||
        run_facts_load(s, t->points[c->at].run_key, &after, err) != 0)
        return -1;
    compare_facts(&before, &after, out);
    return 0;
}

static int load_changes(struct store *s, const struct changes_options *options, struct timeline *t,
                        struct err *err)
{
    AUTO(changes_release) struct changes found = {0};
    struct changes_options with_devices = *options;
    AUTO_FREE double *medians = xcalloc(t->count + 1, sizeof *medians);
    AUTO_FREE uint64_t *devices = xcalloc(t->count + 1, sizeof *devices);
    for (size_t i = 0; i < t->count; i++) {
        medians[i] = t->points[i].median;
        devices[i] = t->points[i].device;
    }
    with_devices.device = devices;
    changes_find(medians, t->count, &with_devices, &found);
    for (size_t i = 0; i < t->count; i++)
        t->points[i].odd = found.odd[i];
    t->changes = xcalloc(found.count + 1, sizeof *t->changes);
    for (size_t i = 0; i < found.count; i++) {
        struct timeline_change *c = &t->changes[t->n_changes++];
        c->change = found.items[i];
        if (facts_around(s, t, &c->change, &c->facts, err) != 0 ||
            commit_range_load(s, &t->points[c->change.last].commits.to, &t->points[c->change.at].commits.to,
                              &c->commits, err) != 0)
            return -1;
    }
    return 0;
}

/* Loads the newest run of the series, and with it the metrics that its plan defines. */
static int choose_metric(struct store *s, const struct timeline_filter *f, struct timeline *out,
                         struct err *err)
{
    SQL_STMT stmt = sql_prepare(s,
                                "SELECT r.id FROM run r JOIN test t ON t.run_id = r.id"
                                " JOIN series c ON c.id = t.series_id WHERE c.node = :node"
                                " AND c.ticket = :ticket AND c.mode = :mode AND c.variant = :variant"
                                " AND c.context_len = :context AND r.rejected_at IS NULL"
                                " ORDER BY r.purpose = 'sweep' DESC, r.ordered_at DESC, r.id DESC LIMIT 1",
                                err);
    AUTO(run_data_release) struct run_data newest = {0};
    plan_bind(stmt, out->node, out->ticket, out->mode);
    sql_bind_text(stmt, ":variant", out->variant);
    sql_bind_int(stmt, ":context", out->context);
    int rc = sql_step(stmt, err);
    if (rc > 0)
        rc = run_data_load(s, sql_col_int(stmt, "id", 0), &newest, err);
    if (rc == 0)
        out->metric = run_data_metric(&newest);
    return rc == 0 && f->metric ? metric_parse(f->metric, &out->metric, err) : rc;
}

int timeline_load(struct store *s, const struct timeline_filter *filter,
                  const struct changes_options *options, struct timeline *out, struct err *err)
{
    *out = (struct timeline){.context = filter->context};
    snprintf(out->variant, sizeof out->variant, "%s", filter->variant);
    if (find_series(s, filter, out, err) == 0 && choose_metric(s, filter, out, err) == 0 &&
        load_points(s, filter, out, err) == 0 && load_changes(s, options, out, err) == 0)
        return 0;
    timeline_release(out);
    return -1;
}

void timeline_release(struct timeline *t)
{
    for (size_t i = 0; i < t->n_changes; i++)
        fact_list_release(&t->changes[i].facts);
    free(t->points);
    free(t->changes);
    *t = (struct timeline){0};
}
