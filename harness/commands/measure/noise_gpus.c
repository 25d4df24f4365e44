#include "harness/commands/measure/noise_gpus.h"

#include "common/base/alloc.h"
#include "harness/session/measure.h"
#include "reports/tables/tables.h"
#include "results/judge/together.h"
#include "results/judge/verdict.h"
#include "results/query/together_store.h"
#include "results/store/run_load.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct rounds {
    struct run_data alone[TOGETHER_ROUNDS_MAX], all[TOGETHER_ROUNDS_MAX];
    size_t count;
    struct together result;
};

static void rounds_release(struct rounds *r)
{
    for (size_t i = 0; i < TOGETHER_ROUNDS_MAX; i++) {
        run_data_release(&r->alone[i]);
        run_data_release(&r->all[i]);
    }
    together_release(&r->result);
}

/* Makes the plan run its tests on one GPU, or each cell on all GPUs at once, overriding its own settings. */
static int set_gpus(struct plan *p, bool all, struct err *err)
{
    struct json_at root = json_root(p->root, p->file);
    p->settings.placement = all ? PLACEMENT_EVERY : PLACEMENT_POINT;
    for (size_t v = 0; v < p->variants.read_count; v++)
        p->variants.read[v].alone = false;
    if (p->scheduler.on)
        return err_set(err, ERR_INPUT,
                       "noise --gpus: a scheduler chooses the GPUs: name the node itself in the plan");
    json_object_set_new(p->root, "gpus", json_string(all ? "all" : "one"));
    return gpu_wish_read(&p->gpus, &root, &p->settings, false, err);
}

static int measure_side(const char *file, bool all, const struct session_options *opt, struct store *s,
                        struct run_data *out, struct err *err)
{
    AUTO(plan_release) struct plan p = {0};
    struct session_options own = *opt;
    int64_t key;
    own.gpus_at_once = all ? 2 : 0;
    return plan_load(&p, file, err) != 0 || set_gpus(&p, all, err) != 0 ||
                   measure_run(&p, &own, s, &key, err) != 0
               ? -1
               : run_data_load(s, key, out, err);
}

/* Alternates the order, so that a drift of the node affects both sides alike. The first round begins with all
 * GPUs, because too few of them is an error that should come before anything is measured. */
static int measure_round(const char *file, size_t i, size_t of, const struct session_options *opt,
                         struct store *s, struct rounds *r, struct err *err)
{
    bool all_first = i % 2 == 0;
    for (int k = 0; k < 2; k++) {
        bool all = (k == 0) == all_first;
        fprintf(stderr, "round %zu of %zu: %s\n", i + 1, of,
                all ? "on all GPUs at once" : "on one GPU, alone");
        if (measure_side(file, all, opt, s, all ? &r->all[i] : &r->alone[i], err) != 0)
            return -1;
    }
    return 0;
}

static json_t *encode(const struct rounds *r, double practical)
{
    json_t *cells = json_array();
    for (size_t i = 0; i < r->result.count; i++) {
        const struct together_cell *c = &r->result.cells[i];
        json_array_append_new(
            cells, json_pack("{s:s, s:i, s:s, s:f, s:o, s:o, s:i, s:i, s:b}", "variant", c->variant,
                             "context", c->context, "metric", metric_info(c->metric)->name, "ratio", c->ratio,
                             "low", cmd_json_number(c->low), "high", cmd_json_number(c->high), "gpus",
                             c->gpus, "rounds", c->rounds, "suffers", together_suffers(c, practical)));
    }
    return json_pack("{s:o, s:i}", "cells", cells, "rounds", (int)r->count);
}

static void print_text(const struct rounds *r, double practical)
{
    enum metric primary = run_data_metric(&r->alone[0]);
    size_t suffering = 0;
    printf("%7s  %-16s %10s  %-20s  %s\n", "Context", "Variant", "Together", "95 % interval", "");
    for (size_t i = 0; i < r->result.count; i++) {
        const struct together_cell *c = &r->result.cells[i];
        bool suffers = together_suffers(c, practical);
        char interval[96] = "-";
        if (c->metric != primary)
            continue;
        suffering += suffers;
        if (!isnan(c->low))
            snprintf(interval, sizeof interval, "%s to %s", num_change_fine(c->low - 1).s,
                     num_change_fine(c->high - 1).s);
        printf("%7d  %-16s %10s  %-20s  %s\n", c->context, c->variant, num_change_fine(c->ratio - 1).s,
               interval, suffers ? "suffers: will run alone" : "");
    }
    printf("\n%zu rounds; %s with %d tests at once, compared with one alone: %zu %s more than %.3g %% worse "
           "among neighbours\n",
           r->count, metric_info(primary)->name, r->result.count ? r->result.cells[0].gpus : 0, suffering,
           suffering == 1 ? "cell is" : "cells are", 100 * practical);
}

static int conclude(struct cmd_env *env, struct store *s, struct rounds *r, struct err *err)
{
    const struct run_data *alone[TOGETHER_ROUNDS_MAX], *all[TOGETHER_ROUNDS_MAX];
    double practical = compare_defaults().practical;
    for (size_t i = 0; i < r->count; i++) {
        alone[i] = &r->alone[i];
        all[i] = &r->all[i];
    }
    if (together_measure(alone, all, r->count, &r->result, err) != 0 ||
        together_save(s, &r->alone[0].info, &r->result, err) != 0)
        return -1;
    if (env->json)
        return cmd_print_json(encode(r, practical));
    print_text(r, practical);
    return EXIT_DONE;
}

int noise_gpus(struct cmd_env *env, const char *plan, const struct session_options *opt, size_t rounds,
               struct store *s, struct err *err)
{
    AUTO(rounds_release) struct rounds r = {.count = 0};
    if (rounds > TOGETHER_ROUNDS_MAX)
        return err_set(err, ERR_INPUT, "--runs: at most %d rounds with --gpus", TOGETHER_ROUNDS_MAX);
    for (; r.count < rounds; r.count++)
        if (measure_round(plan, r.count, rounds, opt, s, &r, err) != 0)
            return -1;
    return conclude(env, s, &r, err);
}
