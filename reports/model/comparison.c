/* Comparison: what the run is held against, and the verdicts. */
#include "reports/model/parts.h"
#include "results/query/find_run.h"
#include "results/store/baseline.h"
#include "results/store/runs.h"

#include <string.h>

static int hold_against_baseline(struct report_model *m, const struct compare_options *o, struct err *err)
{
    struct baseline b;
    if (baseline_resolve(m->req->store, m->req->baseline, &m->now.info, &b, err))
        return -1;
    memcpy(m->baseline, b.name, sizeof m->baseline);
    m->base_is_now = b.key == m->now.info.key;
    return m->base_is_now ? 0 : against_baseline(m->req->store, &m->now, b.name, o, &m->against, err);
}

static int hold_against_run(struct report_model *m, const struct compare_options *o, struct err *err)
{
    int64_t key;
    if (store_find_run(m->req->store, m->req->against, &key, err))
        return -1;
    m->base_is_now = key == m->now.info.key;
    return m->base_is_now ? 0 : against_run(m->req->store, &m->now, key, o, &m->against, err);
}

/* Without a base, the nights judge the run when there are enough of them. */
static bool judged(const struct report_model *m)
{
    return m->against.has_base || m->against.history.nights >= m->against.options.history_min;
}

int model_comparison(struct report_model *m, const struct compare_options *options, struct err *err)
{
    int rc;
    if (m->req->against && m->req->baseline)
        return err_set(err, ERR_INPUT, "report: give a run to compare with or a baseline, not both");
    if (m->req->baseline)
        rc = hold_against_baseline(m, options, err);
    else if (m->req->against)
        rc = hold_against_run(m, options, err);
    else
        rc = against_nights(m->req->store, &m->now, options, &m->against, err);
    if (rc || m->base_is_now || !judged(m))
        return rc;
    m->has_comparison = true;
    return against_compare(&m->against, &m->now, &m->comparison, err);
}
