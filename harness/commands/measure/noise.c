/* kernsweep noise PLAN [--gpus]|list|remove: measures how much runs of one build differ on a node, and how
 * often the plan's threshold would have reported the difference as a change. Stored noise floors:
 * noise_stored.h. */
#include "results/judge/noise.h"
#include "common/base/alloc.h"
#include "harness/commands/base/on_node.h"
#include "harness/commands/measure/noise_gpus.h"
#include "harness/commands/measure/noise_outlier.h"
#include "harness/commands/measure/noise_stored.h"
#include "harness/session/measure.h"
#include "results/judge/compare.h"
#include "results/judge/measure_noise.h"
#include "results/query/find_run.h"
#include "results/query/noise_store.h"
#include "results/store/run_load.h"
#include "results/store/runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS_DEFAULT = 5, RUNS_MAX = 64 };

struct noise_args {
    const char *runs, *artifacts;
    struct noise_choice choice; /* its node is also the node to measure on */
    bool stored, gpus;
};

/* Runs of one build, and the noise between them. */
struct sweep {
    struct run_data runs[RUNS_MAX];
    size_t count;
    struct compare_options options;
    struct noise noise;
    struct noise_outlier outlier;
};

static int fill_options(struct cmd_env *env, const struct noise_args *a, struct session_options *opt,
                        int64_t *runs, struct err *err)
{
    const struct attach_args where = {.artifacts = a->artifacts};
    attach_options(env, &where, opt);
    opt->overrides = (struct overrides){.node = a->choice.node};
    opt->purpose = PURPOSE_NOISE;
    return cmd_number("--runs", a->runs, 2, RUNS_MAX, runs, err) != 0 ? -1
                                                                      : cmd_backend(env, &opt->backend, err);
}

static int measure_runs(const struct session_options *opt, int64_t wanted, const char *file, struct store *s,
                        struct sweep *w, struct err *err)
{
    AUTO(plan_release) struct plan p = {0};
    if (plan_load(&p, file, err) != 0)
        return -1;
    w->options.regression = w->options.improvement = p.threshold;
    for (; w->count < (size_t)wanted; w->count++) {
        int64_t key;
        fprintf(opt->progress, "run %zu of %lld of the same build\n", w->count + 1, (long long)wanted);
        if (measure_run(&p, opt, s, &key, err) != 0 || run_data_load(s, key, &w->runs[w->count], err) != 0)
            return -1;
    }
    return 0;
}

static json_t *encode_outlier(const struct noise_outlier *o)
{
    return !o->run ? json_null()
                   : json_pack("{s:s, s:i, s:s, s:i, s:f}", "run_id", o->run->run_id, "cells", (int)o->cells,
                               "variant", o->variant, "context", o->context, "change", o->change);
}

static void warn_of_outlier(const struct noise_outlier *o)
{
    if (o->run)
        fprintf(
            stderr,
            "warning: run %s is far from the others (%s %d: %+.0f %%; %zu %s in all): the noise floor leaves "
            "it out there, the false alarms count it; if the node was in use, `kernsweep runs reject %s "
            "--why TEXT`, then `kernsweep noise --stored` with the others\n",
            o->run->run_id, o->variant, o->context, 100 * o->change, o->cells,
            o->cells == 1 ? "cell" : "cells", o->run->run_id);
}

static json_t *encode(const struct sweep *w)
{
    const struct noise *n = &w->noise;
    json_t *cells = json_array();
    for (size_t i = 0; i < n->count; i++) {
        const struct noise_cell *c = &n->cells[i];
        json_array_append_new(cells,
                              json_pack("{s:s, s:i, s:s, s:f, s:o, s:i, s:i, s:i}", "variant", c->variant,
                                        "context", c->context, "metric", metric_info(c->metric)->name,
                                        "spread", c->spread, "within", cmd_json_number(c->within), "runs",
                                        c->runs, "comparisons", c->comparisons, "alarms", c->alarms));
    }
    double rate = n->comparisons ? (double)n->alarms / n->comparisons : 0;
    return json_pack("{s:o, s:i, s:i, s:f, s:o}", "cells", cells, "comparisons", n->comparisons, "alarms",
                     n->alarms, "false_alarm_rate", rate, "outlier", encode_outlier(&w->outlier));
}

static void print_text(const struct sweep *w)
{
    const struct noise *n = &w->noise;
    enum metric primary = run_data_metric(&w->runs[0]);
    printf("%7s  %-16s %12s %12s %16s\n", "Context", "Variant", "Between runs", "Within a run",
           "False alarms");
    for (size_t i = 0; i < n->count; i++) {
        const struct noise_cell *c = &n->cells[i];
        char within[32] = "-";
        if (c->metric != primary)
            continue;
        if (!isnan(c->within))
            snprintf(within, sizeof within, "%.2f %%", 100 * c->within);
        printf("%7d  %-16s %10.2f %% %12s %9d of %-4d\n", c->context, c->variant, 100 * c->spread, within,
               c->alarms, c->comparisons);
    }
    printf(
        "\n%zu runs of the same build; a threshold of %.3g %% alone would have raised %d false alarms in %d "
        "comparisons"
        " (%.1f %%)\n",
        w->count, 100 * w->options.regression, n->alarms, n->comparisons,
        n->comparisons ? 100.0 * n->alarms / n->comparisons : 0.0);
}

static int analyse(struct cmd_env *env, struct store *s, struct sweep *w, struct err *err)
{
    const struct run_data *runs[RUNS_MAX];
    for (size_t i = 0; i < w->count; i++)
        runs[i] = &w->runs[i];
    if (noise_measure(runs, w->count, &w->options, &w->noise, err) != 0 ||
        noise_save(s, &w->runs[0].info, &w->noise, err) != 0)
        return -1;
    w->outlier = noise_outlier_find(runs, w->count, w->options.regression);
    warn_of_outlier(&w->outlier);
    if (env->json)
        return cmd_print_json(encode(w));
    print_text(w);
    return EXIT_DONE;
}

static void sweep_release(struct sweep *w)
{
    for (size_t i = 0; i < w->count; i++)
        run_data_release(&w->runs[i]);
    noise_release(&w->noise);
}

static int measure_and_print(struct cmd_env *env, const struct noise_args *a, const char **words, size_t n,
                             struct err *err)
{
    AUTO(store_close) struct store s = {0};
    AUTO(sweep_release) struct sweep w = {.options = compare_defaults()};
    struct session_options opt = {0};
    int64_t wanted = RUNS_DEFAULT;
    if (!a->stored && n != 1)
        return err_set(err, ERR_INPUT, "noise: expected one plan, or --stored and at least two runs");
    if (cmd_store_open(env, &s, a->stored ? STORE_CHANGE : STORE_WRITE, err) != 0)
        return -1;
    if (!a->stored && fill_options(env, a, &opt, &wanted, err) != 0)
        return -1;
    if (a->gpus)
        return noise_gpus(env, words[0], &opt, (size_t)wanted, &s, err);
    if ((a->stored ? store_load_runs(&s, words, n, w.runs, &w.count, err)
                   : measure_runs(&opt, wanted, words[0], &s, &w, err)) != 0)
        return -1;
    return analyse(env, &s, &w, err);
}

/* Options that would be ignored are refused. */
static int check_options(const struct noise_args *a, bool kept, struct err *err)
{
    bool of_kept = a->choice.ticket || a->choice.variant || a->choice.session;
    bool of_runs = a->runs || a->artifacts || a->gpus;
    if (kept && of_runs)
        return err_set(err, ERR_INPUT, "noise: --runs, --artifacts and --gpus need a plan to run");
    if (!kept && of_kept)
        return err_set(err, ERR_INPUT,
                       "noise: --ticket, --variant and --session are options of list and remove");
    if (a->stored && (of_runs || a->choice.node))
        return err_set(
            err, ERR_INPUT,
            "noise: --stored runs nothing, so it cannot be combined with --runs, --node, --artifacts or "
            "--gpus");
    return 0;
}

static int dispatch(struct cmd_env *env, void *args, const struct words *words, struct err *err)
{
    const struct noise_args *a = args;
    AUTO(store_close) struct store s = {0};
    bool list = words->n == 1 && !a->stored && strcmp(words->v[0], "list") == 0;
    bool remove = words->n == 1 && !a->stored && strcmp(words->v[0], "remove") == 0;
    if (check_options(a, list || remove, err) != 0)
        return -1;
    if (!list && !remove)
        return measure_and_print(env, a, words->v, words->n, err);
    if (cmd_store_open(env, &s, list ? STORE_READ : STORE_CHANGE, err) != 0)
        return -1;
    return list ? noise_stored_list(env, &s, &a->choice, err) : noise_stored_remove(env, &s, &a->choice, err);
}

#define AT(member) ARG_AT(struct noise_args, member)

static const struct arg options[] = {
    {"--runs", "N", AT(runs), "number of runs, or of rounds with --gpus (default 5)"},
    {"--node", "NODE", AT(choice.node), "override the plan's node; list, remove: only of this node"},
    {"--artifacts", "DIR", AT(artifacts), "folder for bundles (default ./artifacts_remote)"},
    {"--ticket", "NAME", AT(choice.ticket), "list, remove: only of this ticket"},
    {"--variant", "NAME", AT(choice.variant), "list, remove: only of this variant"},
    {"--session", "TIME", AT(choice.session), "list, remove: only what was measured then, as list prints it"},
    {"--gpus", NULL, AT(gpus),
     "measure each cell on one GPU alone and on all GPUs at once, in --runs rounds"},
    {"--stored", NULL, AT(stored), "use stored runs of one build instead of running the plan"},
};

const struct cmd cmd_noise = {
    .name = "noise",
    .summary = "measure how much runs of identical builds vary on a node",
    .usage = "PLAN [--gpus] | --stored RUN RUN... | list | remove",
    .about = "Runs a plan several times without changes and reports the noise floor of every cell and the "
             "false-alarm rate of the plan's threshold. Comparisons without 8 nights of history use the "
             "result. list shows the stored noise floors, remove drops those of a bad session.",
    .options = ARG_TABLE(struct noise_args, options),
    .min_words = 1,
    .max_words = RUNS_MAX,
    .run = dispatch,
};
