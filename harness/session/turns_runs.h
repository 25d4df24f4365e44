/* turns_runs: the runs that measuring in turns made, loaded from the store, and the verdicts they give.
 *
 * The owner calls turns_sides_free(). Errors: ERR_STORAGE.
 */
#ifndef KERNSWEEP_HARNESS_SESSION_TURNS_RUNS_H
#define KERNSWEEP_HARNESS_SESSION_TURNS_RUNS_H

#include "harness/session/turns.h"
#include "results/judge/turns.h"

struct turns_sides {
    struct run_data base[TURNS_RUNS_MAX], now[TURNS_RUNS_MAX];
    const struct run_data *bases[TURNS_RUNS_MAX], *nows[TURNS_RUNS_MAX];
    size_t count;
};

/* NULL with err. */
struct turns_sides *turns_sides_load(struct store *s, const struct turns_made *made, struct err *err);
void turns_sides_free(struct turns_sides *s);

/* As turns_metric() does. */
enum metric turns_sides_metric(const struct turns_sides *s, const struct delta *d);
/* Judges the cell that d names, as turns_judge_rounds() does. */
int turns_sides_judge(const struct turns_sides *s, const struct compare_options *o, struct delta *d,
                      struct err *err);

#endif
