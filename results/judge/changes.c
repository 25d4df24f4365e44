#include "results/judge/changes.h"

#include "results/stats/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct changes_options changes_defaults(void)
{
    return (struct changes_options){.p = 0.001, .magnitude = 0.02};
}

struct search {
    const double *x;
    const struct changes_options *o;
    size_t *cuts; /* found so far, sorted when the search is over */
    size_t count;
};

/* The split of [from, to) with the largest energy distance between its sides. The sums of distances within
 * the left part, within the right part and between them are updated incrementally as the border moves. */
static size_t best_split(const double *x, size_t from, size_t to)
{
    double left = 0, right = 0, between = 0, best = -1;
    size_t at = from;
    for (size_t i = from; i < to; i++)
        for (size_t j = i + 1; j < to; j++)
            right += fabs(x[i] - x[j]);
    for (size_t cut = from + 1; cut < to; cut++) {
        double to_left = 0, to_right = 0;
        for (size_t i = from; i < cut - 1; i++)
            to_left += fabs(x[cut - 1] - x[i]);
        for (size_t i = cut; i < to; i++)
            to_right += fabs(x[cut - 1] - x[i]);
        left += to_left;
        right -= to_right;
        between += to_right - to_left;
        double n = (double)(cut - from), m = (double)(to - cut);
        if (n < CHANGES_SEGMENT_MIN || m < CHANGES_SEGMENT_MIN)
            continue;
        double energy = 2 * between / (n * m) - 2 * left / (n * (n - 1)) - 2 * right / (m * (m - 1));
        double q = n * m / (n + m) * energy;
        if (q > best) {
            best = q;
            at = cut;
        }
    }
    return at;
}

static struct change describe_cut(const double *x, size_t from, size_t at, size_t to)
{
    struct change c = {
        .at = at, .before = stats_mean(x + from, at - from), .after = stats_mean(x + at, to - at)};
    c.ratio = c.after / c.before;
    c.p = stats_student(x + from, at - from, x + at, to - at);
    return c;
}

static bool is_significant(const struct changes_options *o, const struct change *c)
{
    return c->p < o->p && fabs(c->ratio - 1) >= o->magnitude;
}

static void search_cuts(struct search *s, size_t from, size_t to)
{
    while (to - from >= 2 * CHANGES_SEGMENT_MIN) {
        size_t at = best_split(s->x, from, to);
        struct change c = describe_cut(s->x, from, at, to);
        if (at == from || !is_significant(s->o, &c))
            return;
        s->cuts[s->count++] = at;
        search_cuts(s, from, at);
        from = at;
    }
}

static int by_place(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

static struct change between_neighbours(const struct search *s, size_t n, size_t i)
{
    size_t from = i ? s->cuts[i - 1] : 0, to = i + 1 < s->count ? s->cuts[i + 1] : n;
    return describe_cut(s->x, from, s->cuts[i], to);
}

static void drop_weak(struct search *s, size_t n)
{
    for (;;) {
        size_t weakest = s->count;
        double p = -1;
        for (size_t i = 0; i < s->count; i++) {
            struct change c = between_neighbours(s, n, i);
            if (!is_significant(s->o, &c) && c.p > p) {
                p = c.p;
                weakest = i;
            }
        }
        if (weakest == s->count)
            return;
        memmove(s->cuts + weakest, s->cuts + weakest + 1, (s->count - weakest - 1) * sizeof *s->cuts);
        s->count--;
    }
}

int changes_find(const double *x, size_t n, const struct changes_options *o, struct changes *out,
                 struct err *err)
{
    *out = (struct changes){.from = n > CHANGES_POINTS_MAX ? n - CHANGES_POINTS_MAX : 0};
    x += out->from;
    n -= out->from;
    struct search s = {.x = x, .o = o, .cuts = calloc(n + 1, sizeof *s.cuts)};
    out->items = calloc(n + 1, sizeof *out->items);
    if (!s.cuts || !out->items) {
        free(s.cuts);
        changes_release(out);
        return err_set(err, ERR_INTERNAL, "no memory for %zu points", n);
    }
    search_cuts(&s, 0, n);
    qsort(s.cuts, s.count, sizeof *s.cuts, by_place);
    drop_weak(&s, n);
    for (size_t i = 0; i < s.count; i++) {
        out->items[i] = between_neighbours(&s, n, i);
        out->items[i].at += out->from;
    }
    out->count = s.count;
    free(s.cuts);
    return 0;
}

void changes_release(struct changes *c)
{
    free(c->items);
    *c = (struct changes){0};
}
