#include "results/judge/launches.h"

#include <math.h>
#include <string.h>

static double work(const struct launch *l)
{
    return l->batch * l->heads;
}

static bool same_size(const struct launch *a, const struct launch *b)
{
    return a->seq == b->seq && (a->head_dim == b->head_dim || (isnan(a->head_dim) && isnan(b->head_dim)));
}

static bool same_kernel(const struct launch *a, const struct launch *b)
{
    return strcmp(a->kernel, b->kernel) == 0 && same_size(a, b);
}

static double blocks(const struct launch *l)
{
    return isfinite(l->blocks) ? l->blocks : work(l) * ceil(l->seq / LAUNCH_QUERIES);
}

static double rounds(const struct launch *l)
{
    return ceil(blocks(l) / l->units);
}

static bool serialised(const struct launch_growth *g, double units)
{
    return g->work >= 2 && g->blocks <= units && g->actual >= LAUNCH_SERIAL_SHARE * g->work;
}

struct launch_growth launch_growth(const struct launch *all, size_t count, size_t index)
{
    const struct launch *l = &all[index], *least = l;
    struct launch_growth g = {.largest = true, .grid_known = isfinite(l->blocks), .blocks = blocks(l)};
    for (size_t i = 0; i < count; i++) {
        if (!same_kernel(&all[i], l) || !isfinite(work(&all[i])))
            continue;
        g.has_peer |= isfinite(work(l)) && work(&all[i]) != work(l);
        g.largest &= work(&all[i]) <= work(l);
        if (work(&all[i]) < work(least))
            least = &all[i];
    }
    g.work = work(l) / work(least);
    g.expected = rounds(l) / rounds(least);
    if (!isfinite(g.expected))
        g.expected = g.work; /* the device's units are unknown */
    g.actual = l->ms / least->ms;
    g.serialised = serialised(&g, l->units);
    return g;
}

size_t launch_outgrown_by(const struct launch *all, size_t count, size_t index)
{
    const struct launch *l = &all[index];
    const struct launch_growth g = launch_growth(all, count, index);
    double least = g.actual / LAUNCH_OUTGROWN;
    size_t found = count;
    if (!g.has_peer || !g.largest || g.work < 2 || g.actual < LAUNCH_SERIAL_SHARE * g.work)
        return count;
    for (size_t i = 0; i < count; i++) {
        if (!same_size(&all[i], l) || all[i].batch != l->batch || all[i].heads != l->heads)
            continue;
        const struct launch_growth other = launch_growth(all, count, i);
        if (other.work != g.work || !(other.actual <= least))
            continue;
        least = other.actual;
        found = i;
    }
    return found;
}
