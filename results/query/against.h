/* against: a stored run with everything that it is judged against: the run of the base, the nights before,
 * the noise that an A/A sweep measured, and the options that follow from these.
 *
 * Shared by `compare`, `run` and reports, so that a run gets the same verdict everywhere. A baseline of
 * enough runs is its own history. The owner calls against_release(); nothing in it outlives the run it was
 * made for.
 */
#ifndef KERNSWEEP_RESULTS_QUERY_AGAINST_H
#define KERNSWEEP_RESULTS_QUERY_AGAINST_H

#include "results/judge/compare.h"
#include "results/judge/confirm.h"
#include "results/judge/noise.h"
#include "results/store/store.h"

struct against {
    bool has_base;
    struct run_data base;
    struct history history;
    struct noise noise;
    struct confirm_records confirmed; /* what confirming found of these two runs */
    struct compare_options options;   /* options.noise points into this struct: it must not be moved */
};

/* The base is a run, a baseline of that name for now's node and plan, or only the nights before. */
int against_run(struct store *s, const struct run_data *now, int64_t base_key,
                const struct compare_options *options, struct against *out, struct err *err);
int against_baseline(struct store *s, const struct run_data *now, const char *name,
                     const struct compare_options *options, struct against *out, struct err *err);
int against_nights(struct store *s, const struct run_data *now, const struct compare_options *options,
                   struct against *out, struct err *err);

int against_compare(const struct against *a, const struct run_data *now, struct comparison *out,
                    struct err *err);
void against_release(struct against *a);

#endif
