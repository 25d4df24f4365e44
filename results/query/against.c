#include "results/query/against.h"

#include "common/base/alloc.h"
#include "results/query/base_plan.h"
#include "results/query/base_pool.h"
#include "results/query/causes_load.h"
#include "results/query/confirm_store.h"
#include "results/query/failing.h"
#include "results/query/history_load.h"
#include "results/query/noise_store.h"
#include "results/query/openings_load.h"
#include "results/query/report_queries.h"
#include "results/store/baseline.h"
#include "results/store/run_load.h"
#include "results/store/sql.h"

#include <stdlib.h>
#include <string.h>

int against_plan_options(struct store *s, const struct run_data *now, struct compare_options *o,
                         struct err *err)
{
    json_auto_t *plan = NULL;
    if (report_plan_load(s, now->info.key, &plan, err) != 0)
        return -1;
    double threshold = json_number_value(json_object_get(json_object_get(plan, "threshold"), "regression"));
    if (threshold > 0)
        o->regression = o->improvement = threshold;
    return 0;
}

static int begin(struct store *s, const struct run_data *now, const struct compare_options *options,
                 struct against *out, struct err *err)
{
    *out = (struct against){.store = s, .options = *options};
    if (noise_load(s, &now->info, &out->noise, err) != 0)
        return -1;
    out->options.noise = &out->noise;
    return 0;
}

/* An import may not know its mode. */
static int check_modes(const struct run_info *base, const struct run_info *now, struct err *err)
{
    if (!*base->mode || !*now->mode || strcmp(base->mode, now->mode) == 0)
        return 0;
    return err_set(err, ERR_INPUT,
                   "run %s was measured in mode %s, and %s in mode %s: runs of different modes are never "
                   "compared; choose a base of the same mode",
                   now->run_id, now->mode, base->run_id, base->mode);
}

static int load_base(struct store *s, const struct run_data *now, int64_t key, struct against *out,
                     struct err *err)
{
    if (run_check_comparable(&now->info, err) != 0 || run_data_load(s, key, &out->base, err) != 0 ||
        run_check_comparable(&out->base.info, err) != 0 || check_modes(&out->base.info, &now->info, err) != 0)
        return -1;
    out->has_base = true;
    return confirm_load(s, now->info.key, key, &out->confirmed, err);
}

/* The metric that against_compare() will judge by: unless all are compared, only its history is loaded. */
static enum metric primary_of(const struct run_data *now, const struct against *a)
{
    return compare_primary(a->has_base ? &a->base : NULL, now, &a->options);
}

/* Fills in the history as seen from the GPU of each cell: reports draw it, and causes are looked for in
 * it. */
static void see_nights(const struct run_data *now, enum metric m, bool all, struct against *out)
{
    out->history.nights = out->nights.nights;
    for (int i = all ? 0 : (int)m; i < (all ? METRIC_COUNT : (int)m + 1); i++) {
        struct history one;
        history_of_places(&out->nights, now, (enum metric)i, true, &one);
        history_append(&out->history, &one);
        history_release(&one);
    }
    history_sort(&out->history);
}

static int load_nights(struct store *s, const struct run_data *now, enum metric m, struct against *out,
                       struct err *err)
{
    return history_for_run(s, &now->info, out->base_runs, out->n_base_runs, m, out->options.all_metrics,
                           &out->nights, err);
}

/* A program that no longer prints what the last night was judged by has lost it: the wall time is no
 * answer. */
static int keep_metric_of_nights(struct store *s, const struct run_data *now, struct against *out,
                                 struct err *err)
{
    bool chosen = out->has_base || out->options.metric != metric_default() || now->primary != METRIC_COUNT;
    if (chosen || metric_is_judged(primary_of(now, out)) || out->nights.nights == 0)
        return 0;
    const int64_t last = history_last(&out->nights);
    for (int m = 0; m < METRIC_COUNT; m++) {
        if (!metric_is_judged((enum metric)m))
            continue;
        history_release(&out->nights);
        if (load_nights(s, now, (enum metric)m, out, err) != 0)
            return -1;
        if (out->nights.nights > 0 && history_last(&out->nights) == last) {
            out->options.metric = (enum metric)m;
            out->options.keep_metric = true;
            return 0;
        }
    }
    history_release(&out->nights);
    return load_nights(s, now, primary_of(now, out), out, err);
}

static int nights_before(struct store *s, const struct run_data *now, struct against *out, struct err *err)
{
    if (load_nights(s, now, primary_of(now, out), out, err) != 0 ||
        keep_metric_of_nights(s, now, out, err) != 0)
        return -1;
    see_nights(now, primary_of(now, out), out->options.all_metrics, out);
    return out->history.nights > 0 ? run_facts_load(s, history_last(&out->history), &out->last, err) : 0;
}

static int release_on_error(struct against *out, int rc)
{
    if (rc != 0)
        against_release(out);
    return rc;
}

/* Enough nights tell the level of the baseline's runs; then the pool only fills gaps. */
static int pool_base(struct store *s, const struct run_data *now, struct against *out, struct err *err)
{
    AUTO_FREE int64_t *carried = NULL;
    size_t n_carried = 0;
    bool alone = out->n_base_runs < 2;
    if (alone && out->base.n_carried == 0)
        return 0;
    if (alone && base_pool_carried(s, &out->base, &carried, &n_carried, err) != 0)
        return -1;
    const struct base_pool_request r = {.base = &out->base,
                                        .runs = alone ? carried : out->base_runs,
                                        .n_runs = alone ? n_carried : out->n_base_runs,
                                        .now = now,
                                        .gaps_only = out->nights.nights >= out->options.history_min,
                                        .carried_only = alone};
    if (base_pool(s, &r, &out->pool, err) != 0)
        return -1;
    out->is_pooled = true;
    return 0;
}

static int open_run(struct store *s, const struct run_data *now, int64_t base_key,
                    const struct compare_options *options, struct against *out, struct err *err)
{
    if (begin(s, now, options, out, err) != 0 || load_base(s, now, base_key, out, err) != 0)
        return -1;
    out->base_runs = xmemdup(&base_key, sizeof base_key);
    out->n_base_runs = 1;
    return nights_before(s, now, out, err) != 0 ? -1 : pool_base(s, now, out, err);
}

int against_run(struct store *s, const struct run_data *now, int64_t base_key,
                const struct compare_options *options, struct against *out, struct err *err)
{
    return release_on_error(out, open_run(s, now, base_key, options, out, err));
}

static int look_for_other_sources(struct store *s, struct against *out, struct err *err)
{
    SQL_STMT stmt = sql_prepare(s, "SELECT source_sha256 FROM run WHERE id = :run", err);
    int rc = 0;
    for (size_t i = 0; rc >= 0 && i < out->n_base_runs; i++) {
        char source[SHA256_HEX_LEN + 1] = "";
        sql_bind_int(stmt, ":run", out->base_runs[i]);
        rc = sql_step(stmt, err);
        if (rc > 0)
            sql_col_text(stmt, "source_sha256", source, sizeof source);
        sql_reset(stmt);
        out->mixed_base |= *source && strcmp(source, out->base.info.source_sha256) != 0;
    }
    return rc < 0 ? -1 : 0;
}

static int open_baseline(struct store *s, const struct run_data *now, const char *name,
                         const struct compare_options *options, struct against *out, struct err *err)
{
    struct baseline b;
    if (begin(s, now, options, out, err) != 0 || baseline_resolve(s, name, &now->info, &b, err) != 0 ||
        load_base(s, now, b.key, out, err) != 0 ||
        baseline_runs(s, &b, &out->base_runs, &out->n_base_runs, err) != 0 ||
        acceptances_load(s, &now->info, &out->accepted, err) != 0 ||
        failing_load(s, now, &out->failing, &out->n_failing, err) != 0 ||
        nights_before(s, now, out, err) != 0 || pool_base(s, now, out, err) != 0)
        return -1;
    return look_for_other_sources(s, out, err);
}

int against_baseline(struct store *s, const struct run_data *now, const char *name,
                     const struct compare_options *options, struct against *out, struct err *err)
{
    return release_on_error(out, open_baseline(s, now, name, options, out, err));
}

int against_nights(struct store *s, const struct run_data *now, const struct compare_options *options,
                   struct against *out, struct err *err)
{
    int rc = begin(s, now, options, out, err);
    if (rc == 0 && !*now->info.rejected)
        rc = acceptances_load(s, &now->info, &out->accepted, err) != 0 ||
                     failing_load(s, now, &out->failing, &out->n_failing, err) != 0
                 ? -1
                 : nights_before(s, now, out, err);
    return release_on_error(out, rc);
}

/* Without a base, readers look for what changed on the node since the last night. */
static void facts_since_last_night(const struct against *a, const struct run_data *now,
                                   struct comparison *out)
{
    struct fact_list facts;
    compare_facts(&a->last, now, &facts);
    out->facts = facts.items;
    out->n_facts = facts.count;
}

int against_explain(const struct against *a, const struct run_data *now, struct comparison *c,
                    struct err *err)
{
    const struct causes_source from = {.store = a->store,
                                       .base = a->has_base ? &a->base : NULL,
                                       .base_runs = a->base_runs,
                                       .n_base_runs = a->n_base_runs};
    return causes_load(&from, now, c, err) != 0 ? -1 : openings_load(a->store, now, c, err);
}

static int compare(const struct against *a, const struct run_data *now, struct comparison *out,
                   struct err *err)
{
    struct compare_options options = a->options;
    options.base_runs = a->base_runs;
    options.n_base_runs = a->n_base_runs;
    options.accepted = &a->accepted;
    options.failing = a->failing;
    options.n_failing = a->n_failing;
    const struct run_data *base = a->is_pooled ? &a->pool : a->has_base ? &a->base : NULL;
    AUTO_FREE bool *otherwise = xcalloc(now->n_variants + 1, sizeof *otherwise);
    options.otherwise = otherwise;
    size_t nights = a->nights.nights < options.history_min ? 0 : options.history_min;
    if (base_plan_otherwise(a->store, now, a->base_runs, a->n_base_runs, nights, otherwise, err) != 0)
        return -1;
    compare_runs(base, now, &a->nights, &options, out);
    return 0;
}

/* Adds what the store knows besides the values. */
static int add_surroundings(const struct against *a, const struct run_data *now, struct comparison *out,
                            struct err *err)
{
    if (!a->has_base && a->history.nights > 0)
        facts_since_last_night(a, now, out);
    out->mixed_base = a->mixed_base;
    bool base_has_sources = *a->base.info.source_sha256, now_has_sources = *now->info.source_sha256;
    out->sourceless = a->has_base && !base_has_sources && !now_has_sources;
    out->half_sourced = a->has_base && base_has_sources != now_has_sources;
    for (size_t i = 0; i < out->count; i++)
        out->deltas[i].doubts.no_builds = out->mixed_base || out->sourceless || out->half_sourced;
    if (a->has_base && confirm_is_needed(out) && base_plan_mark(a->store, &a->base, now, out, err) != 0)
        return -1;
    confirm_apply(&a->confirmed, out);
    comparison_accept(out, &a->accepted, a->last.info.date);
    return against_explain(a, now, out, err);
}

int against_compare(const struct against *a, const struct run_data *now, struct comparison *out,
                    struct err *err)
{
    if (compare(a, now, out, err) != 0)
        return -1;
    if (add_surroundings(a, now, out, err) == 0)
        return 0;
    comparison_release(out);
    return -1;
}

int64_t against_key(const struct against *a)
{
    return a->has_base ? a->base.info.key : a->last.info.key;
}

int against_commits(struct store *s, const struct against *a, const struct run_data *now,
                    struct commit_range *out, struct err *err)
{
    const struct run_data *before = a->has_base ? &a->base : &a->last;
    return commit_range_load(s, &before->info.revision, &now->info.revision, out, err);
}

int against_commits_of_night(struct store *s, const struct against *a, const struct run_data *now,
                             struct commit_range *out, struct err *err)
{
    *out = (struct commit_range){0};
    if (!a->has_base || a->history.nights == 0 || a->last.info.key == a->base.info.key)
        return 0;
    return commit_range_load(s, &a->last.info.revision, &now->info.revision, out, err);
}

void against_release(struct against *a)
{
    run_data_release(&a->base);
    run_data_release(&a->pool);
    run_data_release(&a->last);
    history_release(&a->history);
    history_release(&a->nights);
    noise_release(&a->noise);
    acceptances_release(&a->accepted);
    confirm_records_release(&a->confirmed);
    free(a->failing);
    a->failing = NULL;
    a->n_failing = 0;
    free(a->base_runs);
    a->base_runs = NULL;
    a->n_base_runs = 0;
    a->has_base = a->is_pooled = false;
}
