/* Findings: the verdicts, most important first. */
#include "common/base/alloc.h"
#include "reports/model/parts.h"
#include "results/judge/confirm.h"

#include <math.h>
#include <stdlib.h>

/* Lower ranks come first. */
static int rank(enum verdict v)
{
    static const int ranks[VERDICT_COUNT] = {
        [VERDICT_BROKEN] = 0,    [VERDICT_REGRESSED] = 1, [VERDICT_MISSING] = 2,    [VERDICT_FAILING] = 3,
        [VERDICT_SUSPECTED] = 4, [VERDICT_IMPROVED] = 5,  [VERDICT_FIXED] = 6,      [VERDICT_NEW] = 7,
        [VERDICT_ACCEPTED] = 8,  [VERDICT_NOISY] = 9,     [VERDICT_UNCHANGED] = 10,
    };
    return ranks[v];
}

/* A change that confirming put down to the node is inconclusive about the code, but still a finding. */
static int rank_of(const struct delta *d)
{
    return rank(confirm_outcome(d) == CONFIRM_NODE ? VERDICT_REGRESSED : d->verdict);
}

bool report_finding_matters(const struct delta *d)
{
    return rank_of(d) < rank(VERDICT_NEW);
}

static double size_of(const struct delta *d)
{
    double ratio = delta_size(d);
    return isfinite(ratio) && ratio > 0 ? fabs(log(ratio)) : 0;
}

static int by_importance(const void *a, const void *b)
{
    const struct delta *x = *(const struct delta *const *)a, *y = *(const struct delta *const *)b;
    if (rank_of(x) != rank_of(y))
        return rank_of(x) - rank_of(y);
    if (size_of(x) != size_of(y))
        return size_of(x) > size_of(y) ? -1 : 1;
    return x < y ? -1 : x > y; /* the comparison's own order */
}

void model_findings(struct report_model *m)
{
    const struct comparison *c = m->comparison;
    m->findings = xcalloc(c->count, sizeof *m->findings);
    for (size_t i = 0; i < c->count; i++)
        if (c->deltas[i].metric == c->primary)
            m->findings[m->n_findings++] = &c->deltas[i];
    qsort(m->findings, m->n_findings, sizeof *m->findings, by_importance);
}
