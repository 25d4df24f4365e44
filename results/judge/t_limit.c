#include "results/judge/t_limit.h"

#include "results/stats/stats.h"

double t_limit_of(struct t_limit *last, double p, double freedom)
{
    if (last->p != p || last->freedom != freedom)
        *last = (struct t_limit){.p = p, .freedom = freedom, .t = stats_t_limit(p, freedom)};
    return last->t;
}
