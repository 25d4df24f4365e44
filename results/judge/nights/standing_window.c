#include "results/judge/nights/standing_window.h"

#include "common/base/values.h"
#include "results/stats/stats.h"

#include <math.h>
#include <string.h>

/* Nights are sorted again unless so few of them are others. */
enum { LOOK = STANDING_LOOK, PAST_MIN = 4, OTHERS_MAX = 8 };

/* What a window of k nights has to show: a mean so large, and so many of its standard errors. */
static const double mean_least[STANDING_WINDOW_MAX + 1] = {
    [2] = 0.04, [3] = 0.03, [4] = 0.025, [5] = 0.02, [6] = 0.02, [7] = 0.02, [8] = 0.02};
static const double errors_least[STANDING_WINDOW_MAX + 1] = {
    [2] = 3.6, [3] = 3.6, [4] = 3.5, [5] = 3.5, [6] = 3.5, [7] = 3.5, [8] = 3.5};
static const double share_of_many = 0.35;
/* The scale of few nights is uncertain: a limit of Student's t is about so much wider, over their number. */
static const double widening_of_few = 7;
/* A window is no news if the cell had such nights before that reached its own but for this factor. */
static const double tail_margin = 1.15, far_margin = 1.5;
/* In LOOK nights, so many times. What was never seen may come as often as if it had been seen so many times,
 * and what is far beyond all that was seen less often: then two nights are enough after twelve others. */
static const double chance_most = 0.02, unseen = 0.3, unseen_far = 0.22;
static const double tail_weight = 0.8;
/* One night alone is a finding this many times beyond the worst of the nights before, and so many scales;
 * below the last, spikes of one night that no night before had are too frequent on every public history. */
static const double beyond_worst = 3, beyond_scales = 6, beyond_least = 0.5;

double standing_median_before(const struct standing *s, size_t n, size_t *of)
{
    double v[STANDING_LEVEL];
    size_t count = n < STANDING_LEVEL ? n : STANDING_LEVEL;
    for (size_t i = 0; i < count; i++)
        v[i] = s->x[s->members[n - count + i]];
    *of = count;
    return stats_median(v, count);
}

/* Takes a size out of n, which it is one of. */
static void drop(double *sorted, size_t n, double size)
{
    size_t i = 0;
    while (i + 1 < n && sorted[i] < size)
        i++;
    memmove(sorted + i, sorted + i + 1, (n - i - 1) * sizeof *sorted);
}

static void add(double *sorted, size_t n, double size)
{
    for (; n > 0 && sorted[n - 1] > size; n--)
        sorted[n] = sorted[n - 1];
    sorted[n] = size;
}

/* To those of the newest of the first n in apart. */
static void move_sizes(const double *apart, size_t n, struct standing_sizes *z)
{
    size_t from = n > LOOK ? n - LOOK : 0;
    if (z->to == 0 || z->to + OTHERS_MAX < n || n + OTHERS_MAX < z->to) {
        for (size_t i = from; i < n; i++)
            z->v[i - from] = fabs(apart[i]);
        values_sort(z->v, n - from);
        z->from = from;
        z->to = n;
    }
    for (; z->from < from; z->from++)
        drop(z->v, z->to - z->from, fabs(apart[z->from]));
    for (; z->to > n; z->to--)
        drop(z->v, z->to - z->from, fabs(apart[z->to - 1]));
    for (; z->to < n; z->to++)
        add(z->v, z->to - z->from, fabs(apart[z->to]));
    for (; z->from > from; z->from--)
        add(z->v, z->to - z->from, fabs(apart[z->from - 1]));
}

void standing_look(struct standing *s)
{
    size_t of;
    move_sizes(s->apart, s->n_apart, &s->sizes);
    if (!s->open)
        s->middle = standing_median_before(s, s->n, &of);
}

double standing_scale(const struct standing *s, size_t n)
{
    struct standing_sizes moved;
    const double *d = s->sizes.v;
    size_t count = n < LOOK ? n : LOOK;
    if (count == 0)
        return s->least;
    if (s->sizes.to != n) {
        moved = s->sizes;
        move_sizes(s->apart, n, &moved);
        d = moved.v;
    }
    double middle = 1.4826 * (d[(count - 1) / 2] + d[count / 2]) / 2;
    size_t tail = count * 9 / 10;
    return fmax(fmax(middle, s->least), tail_weight * d[tail < count ? tail : count - 1] / 1.645);
}

bool standing_median_may_be(const struct standing *s, size_t n, double side, double value)
{
    size_t count = n < STANDING_LEVEL ? n : STANDING_LEVEL, such = 0;
    for (size_t i = n - count; i < n; i++)
        such += side * s->x[s->members[i]] > side * value;
    return such >= count / 2;
}

/* The mean, in which no value counts for more than the lower median. sorted: ascending. */
static double clipped_mean(const double *sorted, size_t k)
{
    double most = sorted[(k - 1) / 2], sum = 0;
    for (size_t i = 0; i < k; i++)
        sum += most > 0 ? fmin(sorted[i], most) : sorted[i];
    return sum / (double)k;
}

/* What of k nights is compared with other such nights: the least of few, else the lower quartile. */
static double reached(const double *nights, size_t k)
{
    double v[STANDING_WINDOW_MAX];
    memcpy(v, nights, k * sizeof *v);
    values_sort(v, k);
    return v[k <= 3 ? 0 : k / 4];
}

static bool had_such_nights(const double *apart, size_t n, size_t k, double value)
{
    for (size_t i = n > LOOK ? n - LOOK : 0; i + k <= n; i++)
        if (tail_margin * reached(apart + i, k) > value)
            return true;
    return false;
}

/* Whether k such nights in a row are to be expected by chance, as often as the cell had one. */
static bool may_be_chance(const double *apart, size_t n, size_t k, double value)
{
    size_t looked = n < LOOK ? n : LOOK, such = 0, near = 0;
    for (size_t i = n - looked; i < n; i++) {
        such += tail_margin * apart[i] > value;
        near += far_margin * apart[i] > value;
    }
    double seen = near ? (double)such + unseen : unseen_far;
    return pow(seen / (double)(looked + 1), (double)k) * LOOK > chance_most;
}

bool standing_window_is_worse(const struct standing *s, const double *nights, size_t k, size_t behind,
                              size_t n)
{
    double v[STANDING_WINDOW_MAX];
    if (nights[0] < STANDING_START || n < PAST_MIN)
        return false;
    memcpy(v, nights, k * sizeof *v);
    values_sort(v, k);
    double mean = clipped_mean(v, k);
    bool few = k <= 3;
    if (mean < mean_least[k] || v[few ? 0 : 1] < (few ? STANDING_SHARE_OF_FEW : share_of_many) * mean)
        return false;
    double error = standing_scale(s, n) * sqrt(fmin(1, s->alike / (double)k) +
                                               fmin(1, STANDING_MEDIAN_VARIANCE * s->alike / (double)behind));
    double few_nights = 1 + widening_of_few / (double)(n < LOOK ? n : LOOK);
    return mean >= errors_least[k] * few_nights * error && !had_such_nights(s->apart, n, k, reached(v, k)) &&
           !may_be_chance(s->apart, n, k, reached(v, k));
}

/* The shortest window that shows a worse level: 0 if there is none. */
static size_t find_shortest(const struct standing *s, double *level, double *size)
{
    for (size_t k = STANDING_WINDOW_MIN;
         k <= STANDING_WINDOW_MAX && s->n >= k + STANDING_ADOPT && s->n_apart >= k; k++) {
        double v[STANDING_WINDOW_MAX];
        size_t behind;
        if (!standing_median_may_be(s, s->n - k, -1, s->x[s->members[s->n - k]]))
            continue;
        *level = standing_median_before(s, s->n - k, &behind);
        for (size_t i = 0; i < k; i++)
            v[i] = s->x[s->members[s->n - k + i]] - *level;
        *size = stats_median(v, k);
        if (standing_window_is_worse(s, v, k, behind, s->n_apart - k))
            return k;
    }
    return 0;
}

/* Whether the newest night is so far beyond the worst of those before it that none other is needed. */
static bool is_beyond_all(const struct standing *s, double *level)
{
    size_t behind, n = s->n_apart - 1;
    double worst = STANDING_WORSE, newest = s->x[s->members[s->n - 1]];
    if (s->n <= STANDING_ADOPT || !standing_median_may_be(s, s->n - 1, -1, newest - STANDING_WORSE))
        return false;
    *level = standing_median_before(s, s->n - 1, &behind);
    for (size_t i = n > LOOK ? n - LOOK : 0; i < n; i++)
        worst = fmax(worst, s->apart[i]);
    double apart = newest - *level;
    return apart > beyond_least && apart > beyond_worst * worst &&
           apart > beyond_scales * standing_scale(s, n);
}

size_t standing_window_find(const struct standing *s, double *level, double *size)
{
    size_t k = find_shortest(s, level, size);
    if (k > 0 || !is_beyond_all(s, level))
        return k;
    *size = s->x[s->members[s->n - 1]] - *level;
    return 1;
}
