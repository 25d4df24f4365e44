/* Comparison: the base of the run and the verdicts, taken from the subject or computed here. */
#include "reports/model/parts.h"
#include "results/query/find_run.h"
#include "results/store/baseline.h"
#include "results/store/runs.h"

#include <stdio.h>

static int load_baseline(struct report_model *m, const char *name, const struct compare_options *o,
                         struct err *err)
{
    struct store *s = m->subject->store;
    struct baseline b;
    if (baseline_resolve(s, name, &m->now.info, &b, err))
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
static const char *baseline_of_plan(const struct report_model *m)
{
    const char *name = json_string_value(json_object_get(m->plan, "baseline"));
    return name && *name && !*m->now.info.rejected ? name : NULL;
}

static bool is_set(const struct report_model *m, const char *name)
{
    struct baseline found;
    struct err why = {0};
    return baseline_resolve(m->subject->store, name, &m->now.info, &found, &why) == 0;
}

/* Nobody asked for the plan's baseline by name: a run that cannot be compared with it has none. */
static int load_default(struct report_model *m, const struct compare_options *o, struct err *err)
{
    const char *name = baseline_of_plan(m);
    struct err why = {0};
    m->base.unset = name && !is_set(m, name) ? name : NULL;
    bool by_plan = name && !m->base.unset && m->now.info.purpose == PURPOSE_SWEEP;
    if (by_plan && load_baseline(m, name, o, &why) == 0)
        return 0;
    if (why.kind != ERR_NONE && why.kind != ERR_INPUT) {
        *err = why;
        return -1;
    }
    m->base.name[0] = '\0';
    return against_nights(m->subject->store, &m->now, o, &m->base.own_against, err);
}

/* Whether the store has no other run of the plan on the node. */
static int look_for_others(struct report_model *m, struct err *err)
{
    const struct run_info *i = &m->now.info;
    const struct run_filter of_plan = {.ticket = i->ticket, .node = i->node, .mode = i->mode};
    size_t runs;
    if (runs_count(m->subject->store, &of_plan, &runs, err) != 0)
        return -1;
    m->base.is_first = runs == 1;
    return 0;
}

static int compare(struct report_model *m, struct err *err)
{
    const struct report_subject *subject = m->subject;
    const struct compare_options options = options_of(m);
    int rc;
    if (subject->against && subject->baseline)
        return err_set(err, ERR_INPUT, "report: give a run to compare with or a baseline, not both");
    if (subject->baseline)
        rc = load_baseline(m, subject->baseline, &options, err);
    else if (subject->against)
        rc = load_base_run(m, &options, err);
    else
        rc = load_default(m, &options, err);
    if (rc || look_for_others(m, err) != 0)
        return -1;
    if (m->base.is_now || !judged(&m->base.own_against))
        return 0;
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
