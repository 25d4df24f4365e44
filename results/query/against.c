#include "results/query/against.h"

#include "results/query/confirm_store.h"
#include "results/query/history_load.h"
#include "results/query/noise_store.h"
#include "results/store/baseline.h"
#include "results/store/run_load.h"

#include <stdlib.h>

static int begin(struct store *s, const struct run_data *now, const struct compare_options *options,
                 struct against *out, struct err *err)
{
    *out = (struct against){.options = *options};
    if (noise_load(s, &now->info, &out->noise, err) != 0)
        return -1;
    out->options.noise = &out->noise;
    return 0;
}

static int load_base(struct store *s, const struct run_data *now, int64_t key, struct against *out,
                     struct err *err)
{
    if (run_check_comparable(&now->info, err) != 0 || run_data_load(s, key, &out->base, err) != 0 ||
        run_check_comparable(&out->base.info, err) != 0)
        return -1;
    out->has_base = true;
    return confirm_load(s, now->info.key, key, &out->confirmed, err);
}

/* The metric that against_compare() will judge by: unless all are compared, only its history is loaded. */
static enum metric primary_of(const struct run_data *now, const struct against *a)
{
    return compare_primary(a->has_base ? &a->base : NULL, now, a->options.metric);
}

static int nights_before(struct store *s, const struct run_data *now, struct against *out, struct err *err)
{
    return history_for_run(s, &now->info, primary_of(now, out), out->options.all_metrics, &out->history, err);
}

static int release_on_error(struct against *out, int rc)
{
    if (rc != 0)
        against_release(out);
    return rc;
}

int against_run(struct store *s, const struct run_data *now, int64_t base_key,
                const struct compare_options *options, struct against *out, struct err *err)
{
    int rc = begin(s, now, options, out, err);
    if (rc == 0)
        rc = load_base(s, now, base_key, out, err);
    if (rc == 0)
        rc = nights_before(s, now, out, err);
    return release_on_error(out, rc);
}

/* The nights of a baseline of several runs, without the run that is judged. */
static int baseline_nights(struct store *s, const struct run_data *now, const struct baseline *b,
                           struct against *out, struct err *err)
{
    int64_t *keys;
    size_t n;
    if (baseline_runs(s, b, &keys, &n, err) != 0)
        return -1;
    const struct history_options o = {
        .node = now->info.node,
        .ticket = now->info.ticket,
        .mode = now->info.mode,
        .only = keys,
        .n_only = n,
        .without = now->info.key,
        .metric = primary_of(now, out),
        .all_metrics = out->options.all_metrics,
    };
    int rc = history_load(s, &o, &out->history, err);
    free(keys);
    return rc;
}

int against_baseline(struct store *s, const struct run_data *now, const char *name,
                     const struct compare_options *options, struct against *out, struct err *err)
{
    struct baseline b;
    int rc = begin(s, now, options, out, err);
    if (rc == 0)
        rc = baseline_resolve(s, name, &now->info, &b, err);
    if (rc == 0)
        rc = load_base(s, now, b.key, out, err);
    if (rc == 0) {
        out->options.history_is_base = (size_t)b.runs >= out->options.history_min;
        rc = out->options.history_is_base ? baseline_nights(s, now, &b, out, err)
                                          : nights_before(s, now, out, err);
    }
    return release_on_error(out, rc);
}

int against_nights(struct store *s, const struct run_data *now, const struct compare_options *options,
                   struct against *out, struct err *err)
{
    int rc = begin(s, now, options, out, err);
    if (rc == 0 && !*now->info.rejected)
        rc = nights_before(s, now, out, err);
    return release_on_error(out, rc);
}

int against_compare(const struct against *a, const struct run_data *now, struct comparison *out,
                    struct err *err)
{
    if (compare_runs(a->has_base ? &a->base : NULL, now, &a->history, &a->options, out, err) != 0)
        return -1;
    confirm_apply(&a->confirmed, out);
    return 0;
}

void against_release(struct against *a)
{
    run_data_release(&a->base);
    history_release(&a->history);
    noise_release(&a->noise);
    confirm_records_release(&a->confirmed);
    a->has_base = false;
}
