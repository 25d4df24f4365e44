#include "reports/model/insight.h"

#include "results/stats/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct standing_range insight_standing(const struct report_model *m, size_t variant, size_t other)
{
    struct standing_range s = {.low = INFINITY};
    for (size_t i = 0; i < m->now.n_cells; i++) {
        const struct cell *c = &m->now.cells[i];
        if (!report_model_same(m, c->variant, variant))
            continue;
        struct variant_delta d =
            other == m->reference ? m->vs[i]
                                  : compare_pair(&m->now, c->variant, other, c->context, m->primary.metric);
        if (!isfinite(d.factor) || d.variant == d.reference)
            continue;
        enum standing standing = standing_of(c, &d);
        s.context = c->context;
        s.contexts++;
        s.fast += standing == STANDING_FAST;
        s.slow += standing == STANDING_SLOW;
        s.low = fmin(s.low, d.factor);
        s.high = fmax(s.high, d.factor);
    }
    return s;
}

size_t insight_others(const struct report_model *m, size_t *first, size_t most)
{
    size_t n = 0;
    for (size_t v = 0; v < m->now.n_variants; v++)
        if (report_model_first(m, v) && !report_model_same(m, v, m->reference) && n++ < most)
            first[n - 1] = v;
    return n;
}

static bool ended_alike(const struct cell *a, const struct cell *b)
{
    return a->variant == b->variant && a->status == b->status && (a->ok > 0) == (b->ok > 0) &&
           strcmp(a->reason ? a->reason : "", b->reason ? b->reason : "") == 0;
}

static bool add_to_group(struct cell_group *g, const struct cell *c)
{
    const struct cell **cells = reallocarray(g->cells, g->count + 1, sizeof(const struct cell *));
    if (!cells)
        return false;
    g->cells = cells;
    g->cells[g->count++] = c;
    return true;
}

int insight_not_ok(const struct run_data *run, struct cell_group **groups, size_t *count)
{
    size_t of_variant = 0;
    *count = 0;
    *groups = calloc(run->n_cells + 1, sizeof **groups);
    for (size_t i = 0; *groups && i < run->n_cells; i++) {
        const struct cell *c = &run->cells[i];
        if (i && run->cells[i - 1].variant != c->variant)
            of_variant = *count;
        size_t g = of_variant;
        if (c->status == STATUS_OK)
            continue;
        while (g < *count && !ended_alike((*groups)[g].cells[0], c))
            g++;
        if (!add_to_group(&(*groups)[g], c))
            return -1;
        *count += g == *count;
    }
    return *groups ? 0 : -1;
}

void insight_groups_release(struct cell_group *groups, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(groups[i].cells);
    free(groups);
}

struct cell_spread insight_spread(const struct run_data *run, const struct cell *c, enum metric metric)
{
    struct cell_spread s = {.low = INFINITY, .high = -INFINITY, .relative = (double)NAN};
    double *values = calloc(c->count + 1, sizeof *values);
    if (!values)
        return s;
    s.n = (int)run_data_values(run, c, metric, values);
    for (int i = 0; i < s.n; i++) {
        s.low = fmin(s.low, values[i]);
        s.high = fmax(s.high, values[i]);
    }
    if (s.n >= 2 && c->median[metric] > 0)
        s.relative = (s.high - s.low) / c->median[metric];
    free(values);
    return s;
}

/* Sets lost[v] for each variant that is not the fastest at some context. order: cells by context. */
static void mark_losers(const struct report_model *m, const size_t *order, bool *lost)
{
    const struct run_data *run = &m->now;
    for (size_t from = 0, to; from < run->n_cells; from = to) {
        double least = INFINITY;
        int context = run->cells[order[from]].context;
        for (to = from; to < run->n_cells && run->cells[order[to]].context == context; to++)
            least = fmin(least, run->cells[order[to]].median[m->primary.metric]);
        for (size_t i = from; i < to; i++) {
            const struct cell *c = &run->cells[order[i]];
            lost[c->variant] |= !(c->median[m->primary.metric] <= least);
        }
    }
}

bool insight_fastest(const struct report_model *m, size_t *variant)
{
    size_t *order = NULL;
    bool *lost = calloc(m->now.n_variants + 1, sizeof *lost), found = false;
    bool shapes = *m->now.variants[m->reference].shape; /* then cells of one context do different work */
    if (lost && !shapes && m->now.n_variants > 1 && cells_by_context(&m->now, &order) == 0) {
        mark_losers(m, order, lost);
        for (size_t i = 0; !found && i < m->now.n_cells; i++)
            if (!lost[m->now.cells[i].variant]) {
                *variant = m->now.cells[i].variant;
                found = true;
            }
    }
    free(order);
    free(lost);
    return found;
}

const struct scaling_row *insight_worst_step(const struct scaling *s)
{
    const struct scaling_row *worst = NULL;
    for (size_t i = 1; i < s->count; i++)
        if (scaling_flagged(&s->rows[i]) &&
            (!worst || s->rows[i].step / s->rows[i].step_expected > worst->step / worst->step_expected))
            worst = &s->rows[i];
    return worst;
}

bool insight_memory_kept(double before, double peak, double after)
{
    double margin = fmax(64.0 * 1024 * 1024, isfinite(peak) ? peak / 100 : 0);
    return isfinite(before) && isfinite(after) && after - before > margin;
}

double insight_scratch(const struct report_model *m, size_t variant)
{
    const struct run_variant *v = &m->now.variants[variant];
    /* Shapes of a kernel share a build: only the kernels themselves say more. */
    double most = *v->kernel ? (double)NAN : v->value[METRIC_SCRATCH_BYTES];
    for (size_t i = 0; i < m->resources[variant].count; i++)
        most = fmax(most, m->resources[variant].kernels[i].use.scratch);
    return most;
}

bool insight_unstable(enum status s)
{
    switch (s) {
    case STATUS_TIMEOUT:
    case STATUS_HANG:
    case STATUS_OOM:
    case STATUS_CRASH:
    case STATUS_INTERRUPTED:
        return true;
    case STATUS_OK:
    case STATUS_FAIL:
    case STATUS_INVALID:
    case STATUS_SKIPPED:
    case STATUS_CANCELLED:
    case STATUS_BUILD_FAILED:
    case STATUS_GATE_FAILED:
    case STATUS_COUNT:
        break;
    }
    return false;
}
