#include "harness/commands/measure/ab_budget.h"

#include "common/base/clock.h"
#include "harness/session/cells.h"
#include "results/store/placing.h"

#include <math.h>
#include <string.h>

struct expecting {
    const struct plan *plan;
    struct ab_cell *cells;
    size_t count;
};

static int64_t tests_of_round(const struct plan *p, int64_t context)
{
    int64_t each = TURNS_REPETITIONS_MIN;
    for (size_t i = 0; i < p->matrix.count; i++)
        if (p->matrix.contexts[i].tokens == context && p->matrix.contexts[i].repetitions > each)
            each = p->matrix.contexts[i].repetitions;
    return 2 * TURNS_EACH * (each + p->matrix.warmup);
}

static void expect(void *arg, const struct last_place *last)
{
    struct expecting *e = arg;
    for (size_t i = 0; last->wall_s > 0 && i < e->count; i++)
        if (e->cells[i].delta.context == last->context &&
            strcmp(e->cells[i].delta.variant, last->variant) == 0)
            e->cells[i].round_s = last->wall_s * (double)tests_of_round(e->plan, last->context);
}

static void mark_smoke(const struct plan *p, struct ab_cell *c)
{
    for (size_t v = 0; v < p->variants.count; v++)
        if (strcmp(p->variants.item[v].name, c->delta.variant) == 0)
            c->smoke = plan_variant_smokes(&p->variants, &p->variants.item[v], c->delta.context);
}

int ab_budget_begin(struct ab_budget *b, const char *text, const struct plan *p, struct store *store,
                    struct ab_cell *cells, size_t count, struct err *err)
{
    struct expecting e = {p, cells, count};
    double budget_s;
    if (overrides_budget(text, &budget_s, err) != 0)
        return -1;
    b->until_s = text ? clock_mono_s() + budget_s : INFINITY;
    for (size_t i = 0; i < count; i++) {
        cells[i].round_s = NAN;
        mark_smoke(p, &cells[i]);
    }
    return last_places(store, p->scheduler.on ? p->scheduler.node_class : p->node, p->settings.ticket,
                       p->settings.mode, expect, &e, err);
}

/* A change is reported once two rounds have found it. */
static double least_s(const struct ab_cell *c, int64_t rounds_max)
{
    return c->round_s * (c->slower + c->faster > 0 || c->delta.base.n > 0 || rounds_max == 1 ? 1 : 2);
}

void ab_budget_choose(struct ab_budget *b, struct ab_cell *cells, size_t count, int64_t rounds_max,
                      struct suspect_list *out)
{
    b->round_began_s = clock_mono_s();
    double left_s = b->until_s - b->round_began_s;
    for (size_t i = 0; i < 2 * count; i++) {
        struct ab_cell *c = &cells[i < count ? i : i - count];
        double least = least_s(c, rounds_max);
        if (!c->open || c->smoke != (i < count))
            continue;
        c->chosen = c->smoke || !(least > left_s);
        c->left_out = !c->chosen && c->delta.base.n == 0;
        left_s -= c->chosen && !isnan(least) ? least : 0;
        if (c->chosen)
            cells_add(out, c->delta.variant, c->delta.context);
    }
}

void ab_budget_took(const struct ab_budget *b, struct ab_cell *cells, size_t count)
{
    double took_s = clock_mono_s() - b->round_began_s, known_s = 0;
    size_t known = 0, chosen = 0;
    for (size_t i = 0; i < count; i++) {
        bool is_known = cells[i].chosen && !isnan(cells[i].round_s);
        chosen += cells[i].chosen;
        known += is_known;
        known_s += is_known ? cells[i].round_s : 0;
    }
    /* Those of unknown duration are taken to be like the others. */
    double usual_s = known > 0 && known_s > 0 ? known_s / (double)known : 1;
    double all_s = usual_s * (double)(chosen ? chosen : 1);
    for (size_t i = 0; i < count; i++) {
        struct ab_cell *c = &cells[i];
        if (c->chosen)
            c->round_s = took_s * (isnan(c->round_s) ? usual_s : c->round_s) / all_s;
        c->chosen = false;
    }
}
