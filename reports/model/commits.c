/* Commits and counters: what was committed since the base and since the last night, and what a profiler
 * counted. */
#include "reports/model/parts.h"

int model_commits(struct report_model *m, struct err *err)
{
    struct store *s = m->subject->store;
    if (!m->has_comparison)
        return 0;
    return against_commits(s, m->against, &m->now, &m->base.commits, err) != 0 ||
                   against_commits_of_night(s, m->against, &m->now, &m->base.commits_of_night, err) != 0
               ? -1
               : counted_load(s, against_key(m->against), m->now.info.key, &m->base.counted, err);
}
