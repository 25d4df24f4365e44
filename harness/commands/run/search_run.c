#include "harness/commands/run/search_run.h"

#include "common/base/alloc.h"
#include "harness/commands/compare/best_output.h"
#include "harness/session/cells.h"
#include "harness/session/measure.h"
#include "results/judge/search/halving.h"
#include "results/store/run_load.h"

#include <stdio.h>

struct search {
    struct cmd_env *env;
    const char *plan;
    const struct session_options *opt;
    struct store store;
    struct run_data runs[HALVING_ROUNDS_MAX];
    size_t rounds;
    struct best_groups groups; /* of all rounds */
};

static int load_plan(const struct search *s, struct plan *p, struct err *err)
{
    return plan_load(p, s->plan, err) != 0 ? -1 : overrides_apply(&s->opt->overrides, p, err);
}

static int measure_round(void *of, const struct suspect_list *cells, size_t round, struct err *err)
{
    struct search *s = of;
    AUTO(plan_release) struct plan p = {0};
    struct session_options opt = *s->opt;
    int64_t key;
    opt.purpose = PURPOSE_SEARCH;
    opt.overrides.variants = opt.overrides.contexts = opt.overrides.axis = opt.overrides.repeat = NULL;
    opt.overrides.fresh = s->opt->overrides.fresh && round == 1;
    if (load_plan(s, &p, err) != 0 || cells_keep(&p, cells, err) != 0)
        return -1;
    matrix_repeat_exactly(&p.matrix, halving_repetitions(round));
    if (plan_check_size(&p, "--search", err) != 0)
        return -1;
    fprintf(stderr, "search, round %zu: %zu test%s\n", round, plan_test_count(&p),
            text_plural((long long)plan_test_count(&p)));
    if (measure_run(&p, &opt, &s->store, &key, err) != 0 ||
        run_data_load(&s->store, key, &s->runs[s->rounds], err) != 0)
        return -1;
    return measure_check_ran(&s->runs[s->rounds++].info, err);
}

static int judge_rounds(void *of, struct err *err)
{
    struct search *s = of;
    best_groups_release(&s->groups);
    return best_groups_make(&s->groups, s->runs, s->rounds, METRIC_COUNT, false, err);
}

static void list_kept(const struct search *s, const struct best_group *g, struct suspect_list *out)
{
    AUTO_FREE bool *keep = xcalloc(g->count + 1, sizeof *keep);
    halving_keep(g, s->rounds, keep);
    for (size_t i = 0; i < g->count; i++)
        if (keep[i])
            cells_add(out, g->member[i].variant->name, g->context);
}

/* Lists all cells at first, then those that may still be the best. */
static int list_open(void *of, struct suspect_list *out, struct err *err)
{
    const struct search *s = of;
    if (s->rounds == 0) {
        AUTO(plan_release) struct plan p = {0};
        if (load_plan(s, &p, err) != 0)
            return -1;
        *out = cells_of_plan(&p);
    }
    for (size_t i = 0; i < s->groups.count; i++)
        list_kept(s, &s->groups.item[i], out);
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

static int search(struct search *s, struct err *err)
{
    const struct settling settling = {.of = s,
                                      .rounds_max = HALVING_ROUNDS_MAX,
                                      .open = list_open,
                                      .measure = measure_round,
                                      .judge = judge_rounds};
    if (cmd_store_open(s->env, &s->store, STORE_WRITE, err) != 0 ||
        measure_settle(s->plan, NULL, PURPOSE_SEARCH, s->opt, err) != 0)
        return -1;
    if (cells_settle(&settling, err) != 0) {
        if (s->rounds > 0)
            print_again(s);
        return -1;
    }
    int rc = print_found(s, err);
    return rc == 0 && any_failed(s) ? EXIT_TEST_FAILED : rc;
}

int search_run(struct cmd_env *env, const char *plan, const struct session_options *opt, struct err *err)
{
    struct search s = {.env = env, .plan = plan, .opt = opt};
    int rc = search(&s, err);
    best_groups_release(&s.groups);
    for (size_t i = 0; i < s.rounds; i++)
        run_data_release(&s.runs[i]);
    store_close(&s.store);
    return rc;
}
