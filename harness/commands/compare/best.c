/* kernsweep best: the best point of each variant and context, with its margin and how sure it is. */
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
    struct best_groups groups = {.count = 0};
    enum metric metric = METRIC_COUNT;
    int rc = a->metric ? metric_parse(a->metric, &metric, err) : 0;
    if (rc == 0)
        rc = best_groups_make(&groups, runs, n, metric, a->overall, err);
    if (rc == 0 && env->json)
        rc = cmd_print_json(best_encode(&groups, runs, n));
    else if (rc == 0)
        rc = best_print(&groups, n, a->markdown, err);
    best_groups_release(&groups);
    return rc;
}

static int best(struct cmd_env *env, const struct best_args *a, const char **words, size_t n, struct err *err)
{
    static const char *const latest[] = {"latest"};
    struct store s = {0};
    size_t count = 0;
    struct run_data *runs = calloc(n + 1, sizeof *runs);
    if (!runs)
        return err_set(err, ERR_INTERNAL, "best: no memory for the runs");
    int rc = cmd_store_open(env, &s, STORE_READ, err);
    if (rc == 0)
        rc = store_load_runs(&s, n ? words : latest, n ? n : 1, runs, &count, err);
    if (rc == 0)
        rc = print_best(env, a, runs, count, err);
    for (size_t i = 0; i < count; i++)
        run_data_release(&runs[i]);
    free(runs);
    store_close(&s);
    return rc;
}

int cmd_best(struct cmd_env *env, int argc, char **argv)
{
    struct best_args a = {0};
    const char *words[BEST_RUNS_MAX];
    const struct arg options[] = {
        {"--metric", "NAME", &a.metric, NULL, "what to choose by (default: what the run is judged by)"},
        {"--overall", NULL, NULL, &a.overall, "the best over all variants of the plan, not of each"},
        {"--markdown", NULL, NULL, &a.markdown, "print Markdown"},
    };
    struct args spec = {.command = "best",
                        .usage = "[RUN...]",
                        .about = "Shows the best point of each variant and context, and how sure that is.",
                        .options = options,
                        .n_options = sizeof options / sizeof *options,
                        .max_words = BEST_RUNS_MAX};
    struct err err = {0};
    size_t n;
    int rc = cmd_args(env, &spec, argc, argv, words, &n, &err);
    if (rc == 1)
        return EXIT_DONE;
    if (rc == 0)
        rc = best(env, &a, words, n, &err);
    return rc < 0 ? cmd_fail(&err) : rc;
}
