/* levels_support: twenty nights of a plan of eight cells, and a run of it. Everything is inline, as in
 * support.h.
 */
#pragma once

#include "tests/unit/results_support.h"

#include "results/judge/confirm.h"
#include "results/judge/nights/history.h"
#include "results/stats/stats.h"

enum { CELLS = 8, NIGHTS = 20 };

struct plan_nights {
    struct history_series series[CELLS];
    struct history_point points[CELLS][NIGHTS];
    struct history history;
};

/* Every cell has its own level; a night's values vary by half a per cent. */
static inline void make_nights(struct plan_nights *p)
{
    struct stats_rng rng;
    stats_rng_seed(&rng, 5);
    memset(p, 0, sizeof *p);
    for (int c = 0; c < CELLS; c++) {
        for (int n = 0; n < NIGHTS; n++)
            p->points[c][n] = (struct history_point){.run_key = n + 1,
                                                     .measured_at = 1000 * (n + 1),
                                                     .median = (c + 1) * (1 + 0.005 * stats_rng_normal(&rng)),
                                                     .n = 3};
        p->series[c] = (struct history_series){
            .context = 1000 + c, .metric = METRIC_PREFILL_S, .points = p->points[c], .count = NIGHTS};
        snprintf(p->series[c].variant, sizeof p->series[c].variant, "v");
    }
    p->history = (struct history){.series = p->series, .count = CELLS, .nights = NIGHTS};
}

/* Two variants, so that what all cells have in common is not just one variant's. */
static inline struct run_data night_of(int number, double factor)
{
    struct draft d;
    draft_night(&d, number);
    for (int c = 0; c < CELLS; c++)
        for (int r = 1; r <= 3; r++)
            draft_shot(&d, c < CELLS / 2 ? "v" : "w", 1000 + c, r, (c + 1) * factor * (1 + 0.001 * r));
    return run_of_draft(&d);
}

/* What all cells lost is measured again, in two turns: whose it then is. so_many: suspects that there have to
 * be. */
static inline enum shift_cause cause_measured_again(struct comparison *c, size_t so_many,
                                                    const struct run_data *base, const struct run_data *now,
                                                    const struct compare_options *o)
{
    const struct run_data *const bases[] = {base, base}, *const nows[] = {now, now};
    struct suspect_list suspects;
    assert_true(confirm_is_needed(c));
    confirm_suspects(c, &suspects);
    assert_int_equal(suspects.count, so_many);
    suspect_list_release(&suspects);
    confirm_judge(c, bases, 2, nows, 2, o);
    return c->shift.confirmed;
}
