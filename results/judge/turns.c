#include "results/judge/turns.h"

#include "results/judge/judge.h"
#include "results/judge/windows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void clear_evidence(struct delta *d)
{
    d->p = d->p_adjusted = d->z = d->freedom = d->ratio_low = d->ratio_high = d->history_median = NAN;
    d->reason[0] = '\0';
}

int turns_judge_values(const struct turns_values *v, const struct compare_options *o, struct delta *d,
                       struct err *err)
{
    const struct evidence e = {.base = v->base,
                               .base_n = v->base_n,
                               .now = v->now,
                               .now_n = v->now_n,
                               .common = 1,
                               .exact = NAN,
                               .noise = NAN};
    struct compare_options session = *o;
    session.same_session = true;
    clear_evidence(d);
    d->metric = v->metric;
    d->base_n = (int)v->base_n;
    d->now_n = (int)v->now_n;
    d->verdict = VERDICT_NOISY;
    if (v->base_n == 0 || v->now_n == 0) {
        d->ratio = NAN;
        snprintf(d->reason, sizeof d->reason, "%s has no valid measurement", v->now_n ? "the base" : "it");
        return 0;
    }
    if (judge_measure(&e, &session, d, err) != 0)
        return -1;
    d->p_adjusted = d->p;
    judge_decide(&session, 1, d);
    return 0;
}

/* All values of the cell in the runs of one side; the caller frees *out. */
static int pool(const struct turns_runs *side, const struct delta *d, double **out, size_t *count,
                struct err *err)
{
    size_t most = 1;
    *count = 0;
    for (size_t i = 0; i < side->count; i++)
        most += side->items[i]->n_tests;
    *out = malloc(most * sizeof **out);
    if (!*out)
        return err_set(err, ERR_INTERNAL, "no memory for the repetitions");
    for (size_t i = 0; i < side->count; i++) {
        const struct cell *cell = run_data_cell(side->items[i], d->variant, d->context);
        if (cell)
            *count += run_data_values(side->items[i], cell, d->metric, *out + *count);
    }
    return 0;
}

/* Of any two of the runs: each is held against the first. */
static const char *differ_in_window(const struct turns_runs *base, const struct turns_runs *now,
                                    const struct delta *d)
{
    const struct run_data *first = base->count ? base->items[0] : NULL;
    const struct cell *of_first = first ? run_data_cell(first, d->variant, d->context) : NULL;
    const char *why = NULL;
    for (size_t i = 0; first && !why && i < base->count + now->count; i++) {
        const struct run_data *run = i < base->count ? base->items[i] : now->items[i - base->count];
        why = windows_differ(d->metric, first, of_first, run, run_data_cell(run, d->variant, d->context));
    }
    return why;
}

int turns_judge(const struct turns_runs *base, const struct turns_runs *now, const struct compare_options *o,
                struct delta *d, struct err *err)
{
    double *a = NULL, *b = NULL;
    struct turns_values v = {.metric = d->metric};
    int rc = pool(base, d, &a, &v.base_n, err);
    if (rc == 0)
        rc = pool(now, d, &b, &v.now_n, err);
    v.base = a;
    v.now = b;
    if (rc == 0)
        rc = turns_judge_values(&v, o, d, err);
    const char *why = differ_in_window(base, now, d);
    if (rc == 0 && why && v.base_n && v.now_n) {
        d->verdict = VERDICT_NOISY;
        snprintf(d->reason, sizeof d->reason, "%s", why);
    }
    free(a);
    free(b);
    return rc;
}
