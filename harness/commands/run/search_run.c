#include "harness/commands/run/search_run.h"

#include "common/base/alloc.h"
#include "harness/commands/compare/best_output.h"
#include "harness/session/measure.h"
#include "results/judge/search/halving.h"
#include "results/store/run_load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct search {
    struct cmd_env *env;
    const char *plan;
    const struct session_options *opt;
    struct store store;
    struct run_data runs[HALVING_ROUNDS_MAX];
    size_t rounds;
    struct suspect_list left; /* the cells that are measured again */
    struct best_groups groups;
};

/* The plan with what is left of it, as the next round measures it. */
static int load_round(struct search *s, struct plan *p, struct err *err)
{
    if (plan_load(p, s->plan, err) != 0 || overrides_apply(&s->opt->overrides, p, err) != 0 ||
        (s->rounds > 0 && measure_keep_cells(p, &s->left, err) != 0))
        return -1;
    matrix_repeat_exactly(&p->matrix, halving_repetitions(s->rounds + 1));
    return plan_check_size(p, "--search", err);
}

static int check_ran(const struct run_info *r, struct err *err)
{
    if (r->status != RUN_BLOCKED && r->status != RUN_CANCELLED)
        return 0;
    return err_set(err, ERR_NODE, "run %s was %s: `kernsweep show %s` says more", r->run_id,
                   r->status == RUN_BLOCKED ? "blocked by the node" : "cancelled", r->run_id);
}

static int measure_round(struct search *s, struct err *err)
{
    struct plan p = {0};
    struct session_options opt = *s->opt;
    int64_t key;
    opt.purpose = PURPOSE_SEARCH;
    opt.overrides.variants = opt.overrides.contexts = opt.overrides.axis = opt.overrides.repeat = NULL;
    opt.overrides.fresh = s->opt->overrides.fresh && s->rounds == 0;
    int rc = load_round(s, &p, err);
    if (rc == 0)
        fprintf(stderr, "search, round %zu: %zu test%s\n", s->rounds + 1, plan_test_count(&p),
                text_plural((long long)plan_test_count(&p)));
    if (rc == 0)
        rc = measure_run(&p, &opt, &s->store, &key, err);
    plan_release(&p);
    if (rc == 0)
        rc = run_data_load(&s->store, key, &s->runs[s->rounds], err);
    if (rc != 0)
        return -1;
    return check_ran(&s->runs[s->rounds++].info, err);
}

static int judge_rounds(struct search *s, struct err *err)
{
    best_groups_release(&s->groups);
    return best_groups_make(&s->groups, s->runs, s->rounds, METRIC_COUNT, false, err);
}

static void keep_cell(struct search *s, const struct best_group *g, size_t point)
{
    struct suspect *cell = &s->left.items[s->left.count++];
    snprintf(cell->variant, sizeof cell->variant, "%s", g->member[point].variant->name);
    cell->context = g->context;
}

/* Lists what the next round measures. */
static void list_left(struct search *s)
{
    size_t most = 0;
    for (size_t i = 0; i < s->groups.count; i++)
        most += s->groups.item[i].count;
    AUTO_FREE bool *keep = xcalloc(most + 1, sizeof *keep);
    suspect_list_release(&s->left);
    s->left.items = xcalloc(most + 1, sizeof *s->left.items);
    for (size_t i = 0; i < s->groups.count; i++) {
        const struct best_group *g = &s->groups.item[i];
        halving_keep(g, s->rounds, keep);
        for (size_t k = 0; k < g->count; k++)
            if (keep[k])
                keep_cell(s, g, k);
    }
}

static int run_rounds(struct search *s, struct err *err)
{
    do {
        if (measure_round(s, err) != 0 || judge_rounds(s, err) != 0)
            return -1;
        list_left(s);
    } while (s->left.count > 0 && s->rounds < HALVING_ROUNDS_MAX);
    return 0;
}

static void print_again(const struct search *s)
{
    fputs("the same from the store: kernsweep best", stderr);
    for (size_t i = 0; i < s->rounds; i++)
        fprintf(stderr, " %s", s->runs[i].info.run_id);
    fputc('\n', stderr);
}

static int print_found(struct search *s, struct err *err)
{
    int rc = s->env->json ? cmd_print_json(best_encode(&s->groups, s->runs, s->rounds))
                          : best_print(&s->groups, s->rounds, false, err);
    print_again(s);
    return rc;
}

static bool any_failed(const struct search *s)
{
    for (size_t i = 0; i < s->groups.count; i++)
        for (size_t k = 0; k < s->groups.item[i].count; k++)
            if (s->groups.item[i].member[k].failed > 0)
                return true;
    return false;
}

int search_run(struct cmd_env *env, const char *plan, const struct session_options *opt, struct err *err)
{
    struct search s = {.env = env, .plan = plan, .opt = opt};
    int rc = cmd_store_open(env, &s.store, STORE_WRITE, err);
    if (rc == 0)
        rc = measure_settle(plan, NULL, PURPOSE_SEARCH, opt, err);
    if (rc == 0)
        rc = run_rounds(&s, err);
    if (rc == 0)
        rc = print_found(&s, err);
    else if (s.rounds > 0)
        print_again(&s);
    if (rc == 0 && any_failed(&s))
        rc = EXIT_TEST_FAILED;
    best_groups_release(&s.groups);
    for (size_t i = 0; i < s.rounds; i++)
        run_data_release(&s.runs[i]);
    suspect_list_release(&s.left);
    store_close(&s.store);
    return rc;
}
