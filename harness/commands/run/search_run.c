#include "harness/commands/run/search_run.h"

#include "harness/commands/compare/best_output.h"
#include "harness/plan/narrow.h"
#include "harness/session/measure.h"
#include "results/judge/search/halving.h"
#include "results/store/run_load.h"

#include <inttypes.h>
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
    json_t *dropped; /* cells, as conditions */
    struct best_groups groups;
};

/* The plan with what is left of it, as the next round measures it. */
static int load_round(struct search *s, struct plan *p, struct err *err)
{
    char repeat[32];
    if (plan_load(p, s->plan, err) != 0 || overrides_apply(&s->opt->overrides, p, err) != 0)
        return -1;
    snprintf(repeat, sizeof repeat, "%" PRId64, halving_repetitions(s->rounds + 1));
    if (matrix_repeat(&p->matrix, repeat, true, err) != 0)
        return -1;
    narrow_without(&p->variants, s->dropped, &p->matrix);
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
    opt.purpose = PURPOSE_CONFIRM;
    opt.purpose_tag = SEARCH_TAG;
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

/* Drops what the next round does not measure; *left: how many cells it does. */
static int drop_cells(struct search *s, size_t *left, struct err *err)
{
    *left = 0;
    json_array_clear(s->dropped);
    for (size_t i = 0; i < s->groups.count; i++) {
        const struct best_group *g = &s->groups.item[i];
        bool *keep = calloc(g->count + 1, sizeof *keep);
        if (!keep)
            return err_set(err, ERR_INTERNAL, "no memory for the search");
        *left += halving_keep(g, s->rounds, keep);
        for (size_t k = 0; k < g->count; k++)
            if (!keep[k])
                json_array_append_new(
                    s->dropped,
                    json_pack("{s:s, s:i}", "variant", g->member[k].variant->name, "context", g->context));
        free(keep);
    }
    return 0;
}

static int run_rounds(struct search *s, struct err *err)
{
    size_t left = 1;
    while (left > 0 && s->rounds < HALVING_ROUNDS_MAX) {
        if (measure_round(s, err) != 0 || judge_rounds(s, err) != 0 || drop_cells(s, &left, err) != 0)
            return -1;
    }
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
    struct search s = {.env = env, .plan = plan, .opt = opt, .dropped = json_array()};
    int rc = cmd_store_open(env, &s.store, STORE_WRITE, err);
    if (rc == 0)
        rc = measure_settle(env->db, plan, NULL, PURPOSE_CONFIRM, opt, err);
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
    json_decref(s.dropped);
    store_close(&s.store);
    return rc;
}
