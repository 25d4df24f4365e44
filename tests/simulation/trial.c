#include "tests/simulation/trial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const against_names[AGAINST_COUNT] = {
    [AGAINST_NIGHTS] = "history",
    [AGAINST_LAST] = "base",
    [AGAINST_BOTH] = "base + history",
};

const char *against_name(enum against_what a)
{
    return against_names[a];
}

struct comparison trial_compare(const struct simulated *n, enum against_what a, size_t base)
{
    struct compare_options o = compare_defaults();
    struct comparison c;
    size_t last = n->count - 1;
    struct run_data now = simulated_run(n, last), before = {0};
    struct history h = simulated_history(n, 0, a == AGAINST_LAST ? 0 : last);
    if (a != AGAINST_NIGHTS)
        before = simulated_run(n, base);
    const int64_t base_run = before.info.key;
    o.metric = n->model->metric;
    if (a == AGAINST_BOTH) {
        o.base_runs = &base_run;
        o.n_base_runs = 1;
    }
    compare_runs(a == AGAINST_NIGHTS ? NULL : &before, &now, a == AGAINST_LAST ? NULL : &h, &o, &c);
    history_release(&h);
    run_data_release(&before);
    run_data_release(&now);
    return c;
}

void trial_judge(const struct comparison *c, bool slower[SIMULATED_CELLS])
{
    memset(slower, 0, SIMULATED_CELLS * sizeof *slower);
    for (size_t i = 0; i < c->count; i++)
        if (c->deltas[i].metric == c->primary && verdict_is_slower(c->deltas[i].verdict))
            slower[simulated_cell(c->deltas[i].variant, c->deltas[i].context)] = true;
}

void trial_rule(struct simulated *n, enum rule r, bool slower[SIMULATED_CELLS])
{
    struct rule_cell cells[SIMULATED_CELLS];
    double session[SIMULATED_CELLS][3][SIMULATED_REPETITIONS];
    size_t last = n->count - 1;
    double *medians = calloc(SIMULATED_CELLS * last + 1, sizeof *medians);
    if (!medians)
        abort();
    for (size_t i = 0; i < SIMULATED_CELLS; i++) {
        double *of_cell = medians + i * last;
        for (size_t night = 0; night < last; night++)
            of_cell[night] = simulated_median(n, night, i);
        cells[i] = (struct rule_cell){.nights = of_cell, .n_nights = last};
        cells[i].now = simulated_shots(n, last, i, &cells[i].n_now);
        cells[i].last = simulated_shots(n, last - 1, i, &cells[i].n_last);
        for (size_t k = 0; k < 3; k++)
            cells[i].n_again = simulated_again(n, last - (k != 1), i, session[i][k]);
        cells[i].first = session[i][0];
        cells[i].again = session[i][1];
        cells[i].third = session[i][2];
    }
    rule_apply(r, cells, SIMULATED_CELLS, slower);
    free(medians);
}

void score_add(struct score *s, const bool slower[SIMULATED_CELLS], size_t planted)
{
    int flagged = 0;
    for (size_t i = 0; i < SIMULATED_CELLS; i++)
        flagged += slower[i];
    s->flagged += flagged;
    if (planted == NO_CELL) {
        s->still++;
        s->alarms += flagged > 0;
    } else {
        s->planted++;
        s->found += slower[planted];
    }
}

double score_alarms(const struct score *s)
{
    return s->still ? (double)s->alarms / s->still : NAN;
}

double score_precision(const struct score *s)
{
    return s->flagged ? (double)s->found / s->flagged : NAN;
}

double score_recall(const struct score *s)
{
    return s->planted ? (double)s->found / s->planted : NAN;
}

/* 0 if nothing was found. */
double score_f1(const struct score *s)
{
    return s->flagged + s->planted ? 2.0 * s->found / (s->flagged + s->planted) : NAN;
}
