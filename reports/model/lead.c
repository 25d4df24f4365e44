#include "reports/model/lead.h"

#include "results/judge/confirm.h"

#include <string.h>

static bool both(const char *a, const char *b)
{
    return *a && *b;
}

static struct code_change change_by(enum code_evidence by, bool same)
{
    return (struct code_change){same ? CODE_SAME : CODE_CHANGED, by};
}

/* Equal sources are equal code only if the plan, which has the build's commands and patches, is equal too. */
static struct code_change by_sources(const struct run_info *base, const struct run_info *now)
{
    const struct code_change unknown = {CODE_UNKNOWN, BY_NOTHING};
    if (!both(base->source_sha256, now->source_sha256))
        return unknown;
    if (strcmp(base->source_sha256, now->source_sha256) != 0)
        return change_by(BY_SOURCES, false);
    bool same_plan =
        both(base->plan_sha256, now->plan_sha256) && strcmp(base->plan_sha256, now->plan_sha256) == 0;
    return same_plan ? change_by(BY_SOURCES, true) : unknown;
}

struct code_change lead_code(const struct report_model *m, const char *variant)
{
    const struct run_data *base = &m->against->base;
    const struct run_variant *a = run_data_variant(base, variant), *b = run_data_variant(&m->now, variant);
    if (a && b && both(a->code_sha256, b->code_sha256) && a->code_of_device == b->code_of_device)
        return change_by(a->code_of_device ? BY_DEVICE_CODE : BY_BUILD,
                         strcmp(a->code_sha256, b->code_sha256) == 0);
    return by_sources(&base->info, &m->now.info);
}

bool lead_has_sources(const struct report_model *m)
{
    return both(m->against->base.info.source_sha256, m->now.info.source_sha256);
}

size_t lead_facts(const struct report_model *m, size_t *index, size_t most)
{
    size_t n = 0;
    for (size_t i = 0; i < m->comparison->n_facts; i++)
        if (strcmp(m->comparison->facts[i].key, "source") != 0 && n++ < most)
            index[n - 1] = i;
    return n;
}

static enum lead by_records(const struct report_model *m, const struct delta *d)
{
    bool sources = lead_has_sources(m);
    bool recorded = m->now.n_facts && m->against->base.n_facts, facts = lead_facts(m, NULL, 0) > 0;
    enum code_state code = lead_code(m, d->variant).state;
    if (!recorded)
        return LEAD_UNRECORDED;
    switch (code) {
    case CODE_CHANGED:
        return !facts ? LEAD_CODE : sources ? LEAD_EITHER : LEAD_SOURCELESS;
    case CODE_SAME:
        return facts ? LEAD_NODE : sources ? LEAD_NEITHER : LEAD_SOURCELESS;
    case CODE_UNKNOWN:
        break;
    }
    return facts ? LEAD_FACTS : sources ? LEAD_UNKNOWN_CODE : LEAD_SOURCELESS;
}

enum lead lead_of(const struct report_model *m, const struct delta *d)
{
    if (d->confirmation == CONFIRM_NODE)
        return LEAD_NODE_CONFIRMED;
    if (!m->against->has_base || m->comparison->mixed_base)
        return LEAD_NIGHTS;
    if (d->confirmation == CONFIRM_STANDS)
        return lead_code(m, d->variant).state == CODE_SAME ? LEAD_SAME_CONFIRMED : LEAD_CODE_CONFIRMED;
    if (confirm_exceeds_base(d)) /* lost since nights about which the base's code and facts say nothing */
        return LEAD_NIGHTS;
    if (d->confirmation == CONFIRM_UNDECIDED && !d->doubts.other_build)
        return LEAD_UNDECIDED;
    return d->doubts.other_plan ? LEAD_PLAN : by_records(m, d);
}

bool lead_is_wanted(const struct delta *d)
{
    bool own = d->verdict == VERDICT_REGRESSED && d->reason != REASON_SHARED;
    return own || confirm_outcome(d) == CONFIRM_NODE;
}

bool lead_is_settled(const struct delta *d)
{
    enum confirmation outcome = confirm_outcome(d);
    return outcome == CONFIRM_STANDS || outcome == CONFIRM_REFUTED || outcome == CONFIRM_NODE;
}

bool lead_may_be_confirmed(const struct comparison *c)
{
    return confirm_use_for(c) == CONFIRM_CAN_TELL;
}
