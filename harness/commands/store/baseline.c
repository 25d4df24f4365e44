/* kernsweep baseline set|list|remove: named runs that others are compared with. */
#include "results/store/baseline.h"
#include "harness/commands/base/cmd.h"
#include "results/query/find_run.h"
#include "results/store/runs.h"

#include <stdio.h>
#include <string.h>

struct baseline_args {
    const char *node, *ticket;
    bool add;
};

/* Names the activity for which runs of this purpose are made. */
static const char *purpose_verb(enum run_purpose p)
{
    switch (p) {
    case PURPOSE_CONFIRM:
        return "confirm suspects";
    case PURPOSE_NOISE:
        return "measure noise";
    case PURPOSE_BISECT:
        return "bisect";
    case PURPOSE_AB:
        return "compare two builds";
    case PURPOSE_SEARCH:
        return "search for the best point";
    case PURPOSE_SWEEP:
    case PURPOSE_COUNT:
        break;
    }
    return "sweep";
}

static int set_baseline(const struct cmd_env *env, struct store *s, const struct baseline_args *a,
                        const char **words, struct err *err)
{
    AUTO(run_data_release) struct run_data run = {0};
    if (store_load_run(s, words[2], &run, err) != 0 ||
        baseline_set(s, words[1], run.info.key, a->add, err) != 0)
        return -1;
    if (run.info.purpose != PURPOSE_SWEEP)
        fprintf(env->notes, "note: run %s was made to %s, not as a sweep\n", run.info.run_id,
                purpose_verb(run.info.purpose));
    if (!a->add)
        cmd_note_lacking(env->notes, &run);
    fprintf(env->notes, "baseline %s of plan %s on %s is %s%s\n", words[1], run.info.ticket, run.info.node,
            run.info.run_id, a->add ? ", in addition to its earlier runs" : "");
    return EXIT_DONE;
}

static void print_list(const struct baseline_list *l)
{
    static const char *const titles[] = {"BASELINE", "NODE", "TICKET", "RUN", "RUNS"};
    AUTO(table_release) struct table t = {0};
    for (size_t i = 0; l->count > 0 && i < sizeof titles / sizeof *titles; i++)
        table_column(&t, titles[i], i == 4);
    for (size_t i = 0; i < l->count; i++) {
        const struct baseline *b = &l->items[i];
        char runs[16];
        snprintf(runs, sizeof runs, "%d", b->runs);
        table_code(&t, b->name);
        table_code(&t, b->node);
        table_code(&t, b->ticket);
        table_code(&t, b->run_id);
        table_text(&t, runs);
    }
    cmd_print_table(&t);
}

static int list_baselines(const struct cmd_env *env, struct store *s, struct err *err)
{
    AUTO(baseline_list_release) struct baseline_list l = {0};
    json_auto_t *all = json_array();
    if (baseline_list(s, &l, err) != 0)
        return -1;
    for (size_t i = 0; i < l.count; i++) {
        const struct baseline *b = &l.items[i];
        json_array_append_new(all, json_pack("{s:s, s:s, s:s, s:s, s:i, s:s}", "name", b->name, "node",
                                             b->node, "ticket", b->ticket, "run_id", b->run_id, "runs",
                                             b->runs, "set_at", b->set_at));
    }
    if (env->json)
        return cmd_print_json(json_incref(all));
    print_list(&l);
    return EXIT_DONE;
}

static int check_options(const struct cmd_env *env, const struct baseline_args *a, const char *verb,
                         struct err *err)
{
    if (env->json && strcmp(verb, "list") != 0)
        return err_set(err, ERR_INPUT, "baseline %.20s: --json is not supported: it prints no results", verb);
    if (a->add && strcmp(verb, "set") != 0)
        return err_set(err, ERR_INPUT, "baseline %.20s: --add is an option of `baseline set`", verb);
    if ((a->node || a->ticket) && strcmp(verb, "remove") != 0)
        return err_set(err, ERR_INPUT, "baseline %.20s: --node and --ticket are options of `baseline remove`",
                       verb);
    return 0;
}

static int dispatch(const struct cmd_env *env, struct store *s, const struct baseline_args *a,
                    const char **words, size_t n, struct err *err)
{
    if (strcmp(words[0], "set") == 0 && n == 3)
        return set_baseline(env, s, a, words, err);
    if (strcmp(words[0], "list") == 0 && n == 1)
        return list_baselines(env, s, err);
    if (strcmp(words[0], "remove") == 0 && n == 2)
        return baseline_remove(s, words[1], a->node, a->ticket, err);
    return err_set(err, ERR_INPUT, "baseline: usage: kernsweep baseline set NAME RUN | list | remove NAME");
}

static int baseline(struct cmd_env *env, void *args, const struct words *words, struct err *err)
{
    const struct baseline_args *a = args;
    const char *verb = words->v[0];
    AUTO(store_close) struct store s = {0};
    if (check_options(env, a, verb, err) != 0 ||
        cmd_store_open(env, &s, strcmp(verb, "list") == 0 ? STORE_READ : STORE_CHANGE, err) != 0)
        return -1;
    return dispatch(env, &s, a, words->v, words->n, err);
}

#define AT(member) ARG_AT(struct baseline_args, member)

static const struct arg options[] = {
    {"--add", NULL, AT(add), "set: keep the baseline's earlier runs as its history"},
    {"--node", "NODE", AT(node), "remove: the baseline of this node"},
    {"--ticket", "NAME", AT(ticket), "remove: the baseline of this ticket"},
};

const struct cmd cmd_baseline = {
    .name = "baseline",
    .summary = "manage the runs that others are compared with",
    .usage = "set NAME RUN | list | remove NAME",
    .about = "Manages named baselines: stored runs with which others of the same node and plan are compared.",
    .options = ARG_TABLE(struct baseline_args, options),
    .min_words = 1,
    .max_words = 3,
    .unlisted = CMD_NODE_OPTIONS,
    .run = baseline,
};
