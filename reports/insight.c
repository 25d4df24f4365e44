#include "reports/insight.h"

#include "results/stats.h"

#include <math.h>
#include <stdlib.h>

struct standing_range insight_standing(const struct report_model *m, size_t variant)
{
    struct variant_view view = report_model_view(m);
    struct standing_range s = {.low = INFINITY};
    for (size_t i = 0; i < m->n_vs; i++) {
        if (m->vs[i].variant != variant || !isfinite(m->vs[i].factor))
            continue;
        enum standing standing = standing_of(&view, i);
        s.contexts++;
        s.fast += standing == STANDING_FAST;
        s.slow += standing == STANDING_SLOW;
        s.low = fmin(s.low, m->vs[i].factor);
        s.high = fmax(s.high, m->vs[i].factor);
    }
    return s;
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

/* Marks the variants that are not the fastest somewhere: lost[v]. order: cells by context. */
static void mark_losers(const struct report_model *m, const size_t *order, bool *lost)
{
    const struct run_data *run = &m->now;
    for (size_t from = 0, to; from < run->n_cells; from = to) {
        double least = INFINITY;
        int context = run->cells[order[from]].context;
        for (to = from; to < run->n_cells && run->cells[order[to]].context == context; to++)
            least = fmin(least, run->cells[order[to]].median[m->metric]);
        for (size_t i = from; i < to; i++) {
            const struct cell *c = &run->cells[order[i]];
            lost[c->variant] |= !(c->median[m->metric] <= least);
        }
    }
}

bool insight_fastest(const struct report_model *m, size_t *variant)
{
    size_t *order = NULL;
    bool *lost = calloc(m->now.n_variants + 1, sizeof *lost), found = false;
    if (lost && m->now.n_variants > 1 && cells_by_context(&m->now, &order) == 0) {
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
    double most = *v->kernel ? (double)NAN : v->scratch_bytes; /* of a kernel's shapes: told of the first */
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
