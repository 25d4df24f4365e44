/* kernsweep best: the best point of each variant and context, with its margin and how certain it is. */
#include "common/base/alloc.h"
#include "harness/commands/compare/best_output.h"
#include "results/query/find_run.h"

#include <stdlib.h>

struct best_args {
    const char *metric;
    bool overall, markdown;
};

static int print_best(const struct cmd_env *env, const struct best_args *a, const struct run_data *runs,
                      size_t n, struct err *err)
{
    AUTO(best_groups_release) struct best_groups groups = {.count = 0};
    enum metric metric = METRIC_COUNT;
    if ((a->metric && metric_parse(a->metric, &metric, err) != 0) ||
        best_groups_make(&groups, runs, n, metric, a->overall, err) != 0)
        return -1;
    return env->json ? cmd_print_json(best_encode(&groups, runs, n))
                     : best_print(&groups, n, a->markdown, err);
}

static int best(struct cmd_env *env, void *args, const struct words *words, struct err *err)
{
    static const char *const latest[] = {"latest"};
    AUTO(store_close) struct store s = {0};
    size_t count = 0, n = words->n;
    AUTO_FREE struct run_data *runs = xcalloc(n + 1, sizeof *runs);
    if (cmd_store_open(env, &s, STORE_READ, err) != 0)
        return -1;
    int rc = store_load_runs(&s, n ? words->v : latest, n ? n : 1, runs, &count, err);
    if (rc == 0)
        rc = print_best(env, args, runs, count, err);
    for (size_t i = 0; i < count; i++)
        run_data_release(&runs[i]);
    return rc;
}

#define AT(member) ARG_AT(struct best_args, member)

static const struct arg options[] = {
    {"--metric", "NAME", AT(metric), "what to choose by (default: what the run is judged by)"},
    {"--overall", NULL, AT(overall), "the best over all variants of the plan, not of each"},
    {"--markdown", NULL, AT(markdown), "print Markdown"},
};

const struct cmd cmd_best = {
    .name = "best",
    .summary = "the best point of each variant and context, and how certain that is",
    .usage = "[RUN...]",
    .about = "Shows the best point of each variant and context, and how certain that is.",
    .options = ARG_TABLE(struct best_args, options),
    .max_words = BEST_RUNS_MAX,
    .unlisted = CMD_NODE_OPTIONS,
    .run = best,
};
