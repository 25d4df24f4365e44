#include "tests/simulation/rules.h"

#include "results/stats/stats.h"
#include "tests/simulation/otava.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LAST = 10, NEW_WITHIN = 5, Z_NIGHTS = 20, Z_LEAST = 8 };

static const double slower_by = 1.05, alpha = 0.05, aba_least = 0.03;
static const double z_limit = 3, z_variation = 0.15, z_mad_least = 0.01;

static const char *const names[RULE_COUNT] = {
    [RULE_LAST_TEN] = "5 % vs last ten", [RULE_WELCH] = "Welch + BH", [RULE_OTAVA] = "Otava",
    [RULE_MODIFIED_Z] = "modified z",    [RULE_A_B_A] = "A/B/A",      [RULE_REPEATED] = "5 %, repeated",
};

const char *rule_name(enum rule r)
{
    return names[r];
}

static double *room_for(size_t n)
{
    double *p = calloc(n + 1, sizeof *p);
    if (!p) {
        fprintf(stderr, "rules: no memory for %zu values\n", n);
        abort();
    }
    return p;
}

static bool above_last_ten(const struct rule_cell *c)
{
    size_t n = c->n_nights < LAST ? c->n_nights : LAST;
    return n && c->n_now &&
           stats_median(c->now, c->n_now) > slower_by * stats_median(c->nights + c->n_nights - n, n);
}

static void by_welch(const struct rule_cell *cells, size_t count, bool *slower)
{
    double *p = room_for(2 * count), *adjusted = p + count;
    for (size_t i = 0; i < count; i++)
        p[i] = stats_welch(cells[i].last, cells[i].n_last, cells[i].now, cells[i].n_now);
    stats_benjamini_hochberg(p, count, adjusted);
    for (size_t i = 0; i < count; i++)
        slower[i] = adjusted[i] <= alpha &&
                    stats_mean(cells[i].now, cells[i].n_now) > stats_mean(cells[i].last, cells[i].n_last);
    free(p);
}

static bool is_new(const struct otava_point *p, const struct otava_point *before, size_t n_before)
{
    for (size_t i = 0; i < n_before; i++)
        if (before[i].at + 1 >= p->at && before[i].at <= p->at + 1)
            return false;
    return true;
}

static bool by_otava(const struct rule_cell *c)
{
    const struct otava_options o = otava_defaults();
    size_t n = c->n_nights + 1;
    bool found = false;
    if (!c->n_now)
        return false;
    double *x = room_for(n);
    struct otava_point *points = calloc(2 * n, sizeof *points), *before = points + n;
    if (!points)
        abort();
    if (c->n_nights)
        memcpy(x, c->nights, c->n_nights * sizeof *x);
    x[c->n_nights] = stats_median(c->now, c->n_now);
    size_t count = otava_find(x, n, &o, points);
    /* Most often there is nothing to tell from what was known. */
    bool recent = count && points[count - 1].at + NEW_WITHIN >= n;
    size_t n_before = recent ? otava_find(x, n - 1, &o, before) : 0;
    for (size_t i = 0; recent && i < count; i++)
        found |= points[i].at + NEW_WITHIN >= n && points[i].after > points[i].before &&
                 is_new(&points[i], before, n_before);
    free(points);
    free(x);
    return found;
}

/* The rule of issue 6441 of intel-xpu-backend-for-triton. It has a gate for the spread of the nights and one
 * for the size; where most nights are the same, their MAD counts as 1 %. */
static bool by_modified_z(const struct rule_cell *c)
{
    double rates[Z_NIGHTS], away[Z_NIGHTS];
    size_t n = c->n_nights < Z_NIGHTS ? c->n_nights : Z_NIGHTS;
    if (n < Z_LEAST || !c->n_now)
        return false;
    for (size_t i = 0; i < n; i++)
        rates[i] = 1 / c->nights[c->n_nights - n + i];
    double spread = stats_sd(rates, n) / stats_mean(rates, n), middle = stats_median(rates, n);
    for (size_t i = 0; i < n; i++)
        away[i] = fabs(rates[i] - middle);
    double mad = stats_median(away, n), rate = 1 / stats_median(c->now, c->n_now);
    double z = 0.6745 * (rate - middle) / (mad > 0 ? mad : z_mad_least * middle);
    return spread <= z_variation && z < -z_limit && rate < (2 - slower_by) * middle;
}

/* As FlyDSL 1083: two runs of the last build around one of tonight's; how far the two differ is the noise
 * floor. */
static bool by_a_b_a(const struct rule_cell *c)
{
    if (!c->n_again)
        return false;
    double a = stats_median(c->first, c->n_again), b = stats_median(c->again, c->n_again),
           a2 = stats_median(c->third, c->n_again), mean = (a + a2) / 2;
    return b / mean - 1 > fmax(aba_least, fabs(a - a2) / mean);
}

/* As sglang 28012: against the last night, and run again if it fails. */
static bool by_repeating(const struct rule_cell *c)
{
    double limit = slower_by * (c->n_last ? stats_median(c->last, c->n_last) : INFINITY);
    return c->n_now && stats_median(c->now, c->n_now) > limit &&
           (!c->n_again || stats_median(c->again, c->n_again) > limit);
}

void rule_apply(enum rule r, const struct rule_cell *cells, size_t count, bool *slower)
{
    switch (r) {
    case RULE_LAST_TEN:
        for (size_t i = 0; i < count; i++)
            slower[i] = above_last_ten(&cells[i]);
        return;
    case RULE_WELCH:
        by_welch(cells, count, slower);
        return;
    case RULE_OTAVA:
        for (size_t i = 0; i < count; i++)
            slower[i] = by_otava(&cells[i]);
        return;
    case RULE_MODIFIED_Z:
        for (size_t i = 0; i < count; i++)
            slower[i] = by_modified_z(&cells[i]);
        return;
    case RULE_A_B_A:
        for (size_t i = 0; i < count; i++)
            slower[i] = by_a_b_a(&cells[i]);
        return;
    case RULE_REPEATED:
        for (size_t i = 0; i < count; i++)
            slower[i] = by_repeating(&cells[i]);
        return;
    case RULE_COUNT:
        return;
    }
}
