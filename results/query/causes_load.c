#include "results/query/causes_load.h"

#include "common/base/alloc.h"
#include "results/judge/causes/causes_find.h"
#include "results/query/history_load.h"
#include "results/query/report_queries.h"
#include "results/query/together_store.h"
#include "results/store/details.h"
#include "results/store/run_load.h"

#include <stdlib.h>

/* Changed cells mostly share the run before, and the first night that shows the change; if there are more
 * different runs than this, cells stay without causes. */
enum { BEFORES_MAX = 16 };

/* Runs stay loaded while they have no more tests than this together: a test takes some 2 kB. */
enum { TESTS_KEPT = 10000 };

struct loaded {
    struct run_data run; /* only its info until it is opened; empty for the run tonight and the base, which
                            the caller has */
    struct run_details kernels;
    json_t *plan;
    bool open;
};

struct loading {
    const struct causes_source *from;
    struct causes_input input;
    struct history clocks;
    struct loaded now, before[BEFORES_MAX];
    struct cause_run befores[BEFORES_MAX];
    struct together together;
    bool failed;
    struct err *err;
};

static int load_around(struct store *s, const struct run_data *run, struct loaded *l, struct cause_run *out,
                       struct err *err)
{
    if (details_load_kernels(s, run->info.key, &l->kernels, err) != 0 ||
        report_plan_load(s, run->info.key, &l->plan, err) != 0)
        return -1;
    *out = (struct cause_run){.run = run, .details = &l->kernels, .plan = l->plan};
    return 0;
}

static void release_loaded(struct loaded *l)
{
    run_data_release(&l->run);
    details_release(&l->kernels);
    json_decref(l->plan);
}

static int add_before(struct loading *l, int64_t key, struct err *err)
{
    size_t at = l->input.n_befores;
    for (size_t i = 0; i < at; i++)
        if (l->befores[i].run->info.key == key)
            return 0;
    if (key == 0 || at == BEFORES_MAX)
        return 0;
    bool is_base = l->from->base && key == l->from->base->info.key;
    if (!is_base && run_facts_load(l->from->store, key, &l->before[at].run, err) != 0)
        return -1;
    l->befores[at].run = is_base ? l->from->base : &l->before[at].run;
    l->input.n_befores++;
    return 0;
}

static int open_before(struct loading *l, size_t at, struct err *err)
{
    struct loaded *to = &l->before[at];
    const struct run_data *run = l->befores[at].run;
    int64_t key = run->info.key;
    if (to->open)
        return 0;
    if (run == &to->run) {
        run_data_release(&to->run);
        if (run_data_load(l->from->store, key, &to->run, err) != 0)
            return -1;
    }
    to->open = true;
    return load_around(l->from->store, run, to, &l->befores[at], err);
}

/* Which run it is stays known. */
static void close_before(struct loading *l, size_t at)
{
    struct loaded *of = &l->before[at];
    const struct run_info info = of->run.info;
    release_loaded(of);
    *of = (struct loaded){.run.info = info};
    l->befores[at] = (struct cause_run){.run = l->befores[at].run};
}

/* As causes_input.open. */
static bool open_befores(void *arg, const struct cause_run *before, const struct cause_run *onset)
{
    struct loading *l = arg;
    size_t at[] = {(size_t)(before - l->befores), onset ? (size_t)(onset - l->befores) : BEFORES_MAX},
           kept = 0;
    for (size_t i = 0; i < l->input.n_befores; i++)
        kept += l->before[i].run.n_tests;
    for (size_t i = 0; i < l->input.n_befores && kept > TESTS_KEPT; i++)
        if (l->before[i].open && i != at[0] && i != at[1])
            close_before(l, i);
    l->failed =
        l->failed || open_before(l, at[0], l->err) != 0 || (onset && open_before(l, at[1], l->err) != 0);
    return !l->failed;
}

static int add_befores(struct loading *l, const struct comparison *c, struct err *err)
{
    if (c->shift.found && (add_before(l, causes_before(&l->input, c, NULL), err) != 0 ||
                           add_before(l, causes_onset(&l->input, c, NULL), err) != 0))
        return -1;
    for (size_t i = 0; i < c->count; i++)
        if (causes_wanted(c, &c->deltas[i]) &&
            (add_before(l, causes_before(&l->input, c, &c->deltas[i]), err) != 0 ||
             add_before(l, causes_onset(&l->input, c, &c->deltas[i]), err) != 0))
            return -1;
    return 0;
}

/* Without a clock tonight, those of the nights before explain nothing. */
static bool has_clocks(const struct run_data *now)
{
    for (size_t i = 0; i < now->n_tests; i++)
        if (now->tests[i].value[METRIC_SCLK_MHZ] > 0)
            return true;
    return false;
}

static int load_clocks(struct loading *l, const struct run_data *now, struct err *err)
{
    const struct causes_source *from = l->from;
    if (!l->input.nights || !has_clocks(now))
        return 0;
    if (history_for_run(from->store, &now->info, from->base_runs, from->n_base_runs, METRIC_SCLK_MHZ, false,
                        &l->clocks, err) != 0)
        return -1;
    l->input.clocks = &l->clocks;
    return 0;
}

static void loading_free(struct loading **of)
{
    AUTO_FREE struct loading *l = *of;
    history_release(&l->clocks);
    together_release(&l->together);
    release_loaded(&l->now);
    for (size_t i = 0; i < BEFORES_MAX; i++)
        release_loaded(&l->before[i]);
}

static bool anything_wanted(const struct comparison *c)
{
    bool wanted = c->shift.found;
    for (size_t i = 0; i < c->count; i++)
        wanted |= causes_wanted(c, &c->deltas[i]);
    return wanted;
}

static int load_and_find(const struct causes_source *from, const struct run_data *now, struct comparison *c,
                         struct err *err)
{
    AUTO(loading_free) struct loading *l = xcalloc(1, sizeof *l);
    l->from = from;
    l->input.base_key = from->base ? from->base->info.key : 0;
    l->input.befores = l->befores;
    l->input.open = open_befores;
    l->input.arg = l;
    l->err = err;
    l->input.together = &l->together;
    l->input.nights = c->nights->count > 0 ? c->nights : NULL;
    if (load_around(from->store, now, &l->now, &l->input.now, err) != 0 || load_clocks(l, now, err) != 0 ||
        together_load(from->store, now->info.node, now->info.ticket, now->info.mode, &l->together, err) !=
            0 ||
        add_befores(l, c, err) != 0)
        return -1;
    causes_find(&l->input, c, &c->causes);
    return l->failed ? -1 : 0;
}

int causes_load(const struct causes_source *from, const struct run_data *now, struct comparison *c,
                struct err *err)
{
    causes_release(&c->causes);
    if (!anything_wanted(c) || load_and_find(from, now, c, err) == 0)
        return 0;
    return err_wrap(err, "causes of run %s", now->info.run_id);
}
