/* against: everything that a stored run is judged against: the run of the base, the nights before, the noise
 * measured by an A/A sweep, and the resulting options.
 *
 * Shared by `compare`, `run` and reports, so that a run gets the same verdict everywhere. A baseline with
 * enough runs is its own history. The owner calls against_release().
 */
#pragma once

#include "results/judge/compare.h"
#include "results/judge/confirm.h"
#include "results/judge/noise.h"
#include "results/store/commit_range.h"
#include "results/store/store.h"

struct against {
    struct store *store; /* that it was read from; open for as long as this is compared with */
    bool has_base;
    struct run_data base;
    bool mixed_base; /* its runs are of different sources, as far as known */
    bool is_pooled;
    struct run_data pool; /* base_pool.h: of a baseline of several runs */
    int64_t *base_runs; /* the store's rows of the runs of the base: those of the baseline, or the one run */
    size_t n_base_runs;
    struct run_data last;  /* info and facts of the last night before */
    struct history nights; /* as measured, on whichever GPUs */
    struct history
        history; /* the same as seen from the GPU of each of now's cells, a series per cell: to draw */
    struct noise noise;
    struct failing_cell *failing; /* cells that failed on the nights before, too; not against a single run */
    size_t n_failing;
    struct acceptances accepted;      /* of findings; none where two runs are compared */
    struct confirm_records confirmed; /* of these two runs */
    struct compare_options options;   /* options.noise points into this struct: it must not be moved */
};

/* A rejected run is refused; against_nights() gives it no night.
 * The base is a run, the baseline of that name for now's node and plan, or only the nights before. */
int against_run(struct store *s, const struct run_data *now, int64_t base_key,
                const struct compare_options *options, struct against *out, struct err *err);
int against_baseline(struct store *s, const struct run_data *now, const char *name,
                     const struct compare_options *options, struct against *out, struct err *err);
int against_nights(struct store *s, const struct run_data *now, const struct compare_options *options,
                   struct against *out, struct err *err);

/* The thresholds of the run's plan, where it has any. */
int against_plan_options(struct store *s, const struct run_data *now, struct compare_options *o,
                         struct err *err);

/* Compares, and finds the causes of what changed (causes_load.h). */
int against_compare(const struct against *a, const struct run_data *now, struct comparison *out,
                    struct err *err);
/* The run of the base or, without one, of the last night; 0 if there is neither. */
int64_t against_key(const struct against *a);
/* The commits since the base or, without one, since the last night. */
int against_commits(struct store *s, const struct against *a, const struct run_data *now,
                    struct commit_range *out, struct err *err);
/* The commits since the last night, if that was not the base itself. */
int against_commits_of_night(struct store *s, const struct against *a, const struct run_data *now,
                             struct commit_range *out, struct err *err);
/* Finds the causes and the openings anew, after suspects were measured alternating with the base, or a search
 * has ended. */
int against_explain(const struct against *a, const struct run_data *now, struct comparison *c,
                    struct err *err);
void against_release(struct against *a);
