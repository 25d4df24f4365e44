#include "results/judge/launches.h"

#include <math.h>
#include <string.h>

static double work(const struct launch *l)
{
    return l->batch * l->heads;
}

static bool same_kernel(const struct launch *a, const struct launch *b)
{
    bool same_size = a->head_dim == b->head_dim || (isnan(a->head_dim) && isnan(b->head_dim));
    return strcmp(a->kernel, b->kernel) == 0 && a->seq == b->seq && same_size;
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
