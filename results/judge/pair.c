#include "results/judge/pair.h"

#include "common/base/alloc.h"
#include "common/base/values.h"
#include "results/stats/stats.h"

#include <math.h>

/* With fewer values than this, an outlier is one of too few to tell. */
enum { ORDERED_MIN = 8 };

/* The standard deviation of normal values whose median is as uncertain as that of these: NaN below two. Of
 * many values also, if that is less, how far two of them in order are apart, between which the median lies as
 * often as the binomial distribution says (Price and Bonett 2001), so that no outlier widens it. */
static double scale_of(const double *x, size_t n)
{
    double sd = stats_sd(x, n), below = 0, ways = 1;
    size_t from = (size_t)round(((double)n + 1) / 2 - sqrt((double)n));
    if (n < ORDERED_MIN)
        return sd;
    AUTO_FREE double *sorted = xmemdup(x, n * sizeof *sorted);
    values_sort(sorted, n);
    for (size_t i = 0; i < from; i++) { /* the first `from` of them all lie above the median */
        below += ldexp(ways, -(int)n);
        ways *= (double)(n - i) / (double)(i + 1);
    }
    double apart = sorted[n - from] - sorted[from - 1];
    double errors = 2 * stats_normal_quantile(1 - below);
    return apart > 0 ? fmin(apart / errors / stats_median_error(n), sd) : sd;
}

static double relative_scale(const double *x, size_t n)
{
    return scale_of(x, n) / fabs(stats_median(x, n));
}

struct pair_estimate pair_estimate(const struct pair *v, double alpha)
{
    double base = stats_median(v->base, v->base_n), now = stats_median(v->now, v->now_n);
    double error = stats_median_ratio_error(relative_scale(v->base, v->base_n), v->base_n,
                                            relative_scale(v->now, v->now_n), v->now_n);
    return (struct pair_estimate){
        .ratio = base > 0 && now > 0 ? now / base : NAN,
        .error = error,
        .freedom = isnan(error) ? NAN : (double)(v->base_n + v->now_n) - 2,
        .alpha = alpha,
        .p = stats_mann_whitney_floor(v->base_n, v->now_n) <= alpha
                 ? stats_mann_whitney(v->base, v->base_n, v->now, v->now_n)
                 : NAN,
    };
}

double pair_reach(const struct pair_estimate *e)
{
    return stats_t_limit(e->alpha, e->freedom) * e->error;
}

double pair_p(const struct pair_estimate *e)
{
    double size = fabs(log(e->ratio));
    if (!isfinite(size) || size == 0)
        return 1;
    return fmax(isfinite(e->error) ? stats_t_p(size / e->error, e->freedom) : 0, e->p);
}

enum pair_answer pair_differ(const struct pair_estimate *e, double threshold)
{
    double size = fabs(log(e->ratio)), limit = log1p(threshold);
    if (!isfinite(size))
        return PAIR_OPEN;
    if (size > limit && pair_p(e) <= e->alpha)
        return e->ratio > 1 ? PAIR_MORE : PAIR_LESS;
    double reach = isfinite(e->error) ? pair_reach(e) : 0;
    return size <= limit && reach <= limit ? PAIR_SAME : PAIR_OPEN;
}

static double share_above(const double *x, size_t n, double limit)
{
    size_t above = 0;
    for (size_t i = 0; i < n; i++)
        above += x[i] > limit;
    return (double)above / (double)n;
}

double pair_mixed(const struct pair *v, double ratio, double middle)
{
    double limit = stats_median(v->base, v->base_n) * middle;
    if (!isfinite(ratio))
        return 0;
    double base = share_above(v->base, v->base_n, limit), now = share_above(v->now, v->now_n, limit);
    return fmax(middle > 1 ? base : 1 - base, fmin(now, 1 - now));
}
