/* Comparison: the base of the run and the verdicts, taken from the subject or computed here. */
#include "reports/model/parts.h"
#include "results/query/find_run.h"
#include "results/store/baseline.h"
#include "results/store/runs.h"

#include <stdio.h>

static int load_baseline(struct report_model *m, const struct compare_options *o, struct err *err)
{
    struct store *s = m->subject->store;
    struct baseline b;
    if (baseline_resolve(s, m->subject->baseline, &m->now.info, &b, err))
        return -1;
    snprintf(m->base.name, sizeof m->base.name, "%s", b.name);
    m->base.is_now = b.key == m->now.info.key;
    return m->base.is_now ? 0 : against_baseline(s, &m->now, b.name, o, &m->base.own_against, err);
}

static int load_base_run(struct report_model *m, const struct compare_options *o, struct err *err)
{
    struct store *s = m->subject->store;
    int64_t key;
    if (store_find_run(s, m->subject->against, &key, err))
        return -1;
    m->base.is_now = key == m->now.info.key;
    return m->base.is_now ? 0 : against_run(s, &m->now, key, o, &m->base.own_against, err);
}

/* Without a base, the run is judged by earlier nightly runs if there are enough of them. */
static bool judged(const struct against *a)
{
    return a->has_base || a->history.nights >= a->options.history_min;
}

/* The plan's threshold, which was checked before the run, overrides the subject's. */
static struct compare_options options_of(const struct report_model *m)
{
    const json_t *threshold = json_object_get(json_object_get(m->plan, "threshold"), "regression");
    struct compare_options o = m->subject->compare;
    if (json_is_number(threshold) && json_number_value(threshold) > 0)
        o.regression = o.improvement = json_number_value(threshold);
    return o;
}

/* A rejected run cannot become a baseline, so nobody needs to be told to make it one. */
static const char *unset_baseline(const struct report_model *m)
{
    const char *name = json_string_value(json_object_get(m->plan, "baseline"));
    struct baseline found;
    struct err why = {0};
    if (!name || !*name || *m->now.info.rejected)
        return NULL;
    bool unset = baseline_resolve(m->subject->store, name, &m->now.info, &found, &why) != 0;
    return unset && why.kind == ERR_INPUT ? name : NULL;
}

static int compare(struct report_model *m, struct err *err)
{
    const struct report_subject *subject = m->subject;
    const struct compare_options options = options_of(m);
    int rc;
    if (subject->against && subject->baseline)
        return err_set(err, ERR_INPUT, "report: give a run to compare with or a baseline, not both");
    if (subject->baseline)
        rc = load_baseline(m, &options, err);
    else if (subject->against)
        rc = load_base_run(m, &options, err);
    else
        rc = against_nights(subject->store, &m->now, &options, &m->base.own_against, err);
    m->base.unset = unset_baseline(m);
    if (rc || m->base.is_now || !judged(&m->base.own_against))
        return rc;
    m->has_comparison = true;
    return against_compare(&m->base.own_against, &m->now, &m->base.own_comparison, err);
}

int model_comparison(struct report_model *m, struct err *err)
{
    const struct report_subject *subject = m->subject;
    if (!subject->comparison)
        return compare(m, err);
    m->against = subject->held_against;
    m->comparison = subject->comparison;
    m->has_comparison = true;
    snprintf(m->base.name, sizeof m->base.name, "%s", subject->baseline ? subject->baseline : "");
    return 0;
}
