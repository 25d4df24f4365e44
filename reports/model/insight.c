#include "reports/model/insight.h"

#include "common/base/alloc.h"
#include "results/stats/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of its time-out, up to which the CPU time of a test is that of starting a program, not of computing. */
#define IDLE_SHARE 0.01

static const struct cell *counterpart(const struct report_model *m, const struct cell *c,
                                      const struct variant_delta *d)
{
    return run_data_cell(&m->now, m->now.variants[d->reference].name, c->context);
}

/* Repetitions of a cell that is not OK may have values, but no speed can be told from them. */
static bool both_ok(const struct report_model *m, const struct cell *c, const struct variant_delta *d)
{
    const struct cell *other = counterpart(m, c, d);
    return c->status == STATUS_OK && (!other || other->status == STATUS_OK);
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

static int least_repetitions(const struct report_model *m, const struct cell *c,
                             const struct variant_delta *d)
{
    const struct cell *other = counterpart(m, c, d);
    return other ? least(c->ok, other->ok) : c->ok;
}

struct standing_range insight_standing(const struct report_model *m, size_t variant, size_t other)
{
    struct standing_range s = {.low = INFINITY};
    for (size_t i = 0; i < m->now.n_cells; i++) {
        const struct cell *c = &m->now.cells[i];
        if (!report_model_same(m, c->variant, variant) || report_model_same(m, variant, other))
            continue;
        struct variant_delta d =
            other == m->reference ? m->vs[i]
                                  : compare_pair(&m->now, c->variant, other, c->context, m->primary.metric);
        if (d.variant == d.reference)
            continue;
        if (d.unlike) {
            s.unlike++;
            continue;
        }
        if (!isfinite(d.factor))
            continue;
        if (!both_ok(m, c, &d)) {
            s.not_ok++;
            continue;
        }
        s.repetitions =
            s.contexts ? least(s.repetitions, least_repetitions(m, c, &d)) : least_repetitions(m, c, &d);
        enum beside beside = beside_of(c, &d);
        s.context = c->context;
        s.contexts++;
        s.fast += beside == BESIDE_FAST;
        s.slow += beside == BESIDE_SLOW;
        s.unsure += beside == BESIDE_UNSURE;
        s.low = fmin(s.low, d.factor);
        s.high = fmax(s.high, d.factor);
    }
    return s;
}

static bool same_place(const struct run_data *run, const struct cell *a, const struct cell *b)
{
    return a->context == b->context &&
           strcmp(run->variants[a->variant].shape, run->variants[b->variant].shape) == 0;
}

int insight_places(const struct report_model *m)
{
    const struct run_data *run = &m->now;
    int n = 0;
    for (size_t i = 0; i < run->n_cells; i++) {
        const struct cell *c = &run->cells[i];
        bool counted = isnan(c->median[m->primary.metric]);
        for (size_t k = 0; k < i && !counted; k++)
            counted = isfinite(run->cells[k].median[m->primary.metric]) && same_place(run, &run->cells[k], c);
        n += !counted;
    }
    return n;
}

size_t insight_others(const struct report_model *m, size_t *first, size_t most)
{
    size_t n = 0;
    for (size_t v = 0; v < m->now.n_variants; v++)
        if (report_model_first(m, v) && !report_model_same(m, v, m->reference) && n++ < most)
            first[n - 1] = v;
    return n;
}

/* The counts are said of cells that succeeded in part. */
static bool ended_alike(const struct cell *a, const struct cell *b)
{
    bool counts = a->ok == b->ok && (a->ok == 0 || a->counted == b->counted);
    return a->variant == b->variant && a->status == b->status && counts &&
           strcmp(a->reason ? a->reason : "", b->reason ? b->reason : "") == 0;
}

static void add_to_group(struct cell_group *g, const struct cell *c)
{
    g->cells = xrealloc(g->cells, (g->count + 1) * sizeof(const struct cell *));
    g->cells[g->count++] = c;
}

size_t insight_not_ok(const struct run_data *run, struct cell_group **groups)
{
    size_t of_variant = 0, count = 0;
    *groups = xcalloc(run->n_cells, sizeof **groups);
    for (size_t i = 0; i < run->n_cells; i++) {
        const struct cell *c = &run->cells[i];
        if (i && run->cells[i - 1].variant != c->variant)
            of_variant = count;
        size_t g = of_variant;
        if (c->status == STATUS_OK)
            continue;
        while (g < count && !ended_alike((*groups)[g].cells[0], c))
            g++;
        add_to_group(&(*groups)[g], c);
        count += g == count;
    }
    return count;
}

void insight_groups_release(struct cell_group *groups, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(groups[i].cells);
    free(groups);
}

struct cell_spread insight_spread(const struct run_data *run, const struct cell *c, enum metric metric)
{
    struct cell_spread s = {
        .low = INFINITY, .high = -INFINITY, .relative = (double)NAN, .deviation = (double)NAN};
    AUTO_FREE double *values = xcalloc(c->count, sizeof *values);
    s.n = (int)run_data_values(run, c, metric, values);
    for (int i = 0; i < s.n; i++) {
        s.low = fmin(s.low, values[i]);
        s.high = fmax(s.high, values[i]);
    }
    if (s.n >= 2 && c->median[metric] > 0)
        s.relative = (s.high - s.low) / c->median[metric];
    if (s.n >= 2)
        s.deviation = stats_sd(values, (size_t)s.n);
    return s;
}

static bool measured(const struct report_model *m, const struct cell *c)
{
    return isfinite(c->median[m->primary.metric]);
}

/* Whether a is faster than b at the same context, by more than their noise. */
static bool beats(const struct report_model *m, const struct cell *a, const struct cell *b)
{
    struct variant_delta d = compare_pair(&m->now, a->variant, b->variant, a->context, m->primary.metric);
    return beside_of(a, &d) == BESIDE_FAST;
}

/* Whether the variant was measured at every context at which any was, beside another, and is ahead of all
 * there. */
static bool fastest_everywhere(const struct report_model *m, size_t variant)
{
    const struct run_data *run = &m->now;
    bool any = false;
    for (size_t i = 0; i < run->n_cells; i++) {
        const struct cell *other = &run->cells[i];
        if (!measured(m, other) || other->variant == variant)
            continue;
        const struct cell *own = run_data_cell(run, run->variants[variant].name, other->context);
        if (!own || !measured(m, own) || !beats(m, own, other))
            return false;
        any = true;
    }
    return any;
}

bool insight_fastest(const struct report_model *m, size_t *variant)
{
    if (*m->now.variants[m->reference].shape) /* then cells of one context do different work */
        return false;
    for (size_t v = 0; v < m->now.n_variants; v++)
        if (fastest_everywhere(m, v)) {
            *variant = v;
            return true;
        }
    return false;
}

int insight_ok_at(const struct report_model *m, int context)
{
    int n = 0;
    for (size_t i = 0; i < m->now.n_cells; i++) {
        const struct cell *c = &m->now.cells[i];
        n += c->context == context && c->status == STATUS_OK && measured(m, c);
    }
    return n;
}

/* Over a shorter step than to 1.4 times the context, fixed costs and tile sizes outweigh n^2. */
#define STEP_MIN 2.0

const struct scaling_row *insight_worst_step(const struct scaling *s)
{
    const struct scaling_row *worst = NULL;
    for (size_t i = 1; i < s->count; i++)
        if (s->rows[i].step_expected >= STEP_MIN && scaling_flag_of(&s->rows[i]) == SCALING_ABOVE &&
            (!worst || s->rows[i].step / s->rows[i].step_expected > worst->step / worst->step_expected))
            worst = &s->rows[i];
    return worst;
}

bool insight_memory_kept(double before, double peak, double after)
{
    double margin = fmax(64.0 * 1024 * 1024, isfinite(peak) ? peak / 100 : 0);
    return isfinite(before) && isfinite(after) && after - before > margin;
}

/* A spilled register takes four bytes a lane; compilers round a frame up by less than SCRATCH_SLACK. */
#define SPILL_BYTES 4.0
#define SCRATCH_SLACK 16.0

enum scratch_use insight_scratch_use(const struct kernel_resources *k)
{
    if (isnan(k->vgpr_spills) || (k->vgpr_spills <= 0 && k->sgpr_spills > 0))
        return SCRATCH_UNKNOWN;
    if (k->vgpr_spills <= 0)
        return SCRATCH_OF_ARRAYS;
    return k->vgpr_spills * SPILL_BYTES + SCRATCH_SLACK > k->use.scratch ? SCRATCH_OF_SPILLS
                                                                         : SCRATCH_OF_BOTH;
}

static enum scratch_use both_uses(enum scratch_use a, enum scratch_use b)
{
    if (a == SCRATCH_UNKNOWN || b == SCRATCH_UNKNOWN)
        return SCRATCH_UNKNOWN;
    return a == b ? a : SCRATCH_OF_BOTH;
}

struct scratch insight_scratch(const struct report_model *m, size_t variant)
{
    const struct variant_resources *r = &m->resources[variant];
    struct scratch s = {.low = INFINITY};
    for (size_t i = 0; i < r->count; i++) {
        const struct kernel_resources *k = &r->kernels[i];
        if (!k->ran || !isfinite(k->use.scratch))
            continue;
        s.kernels++;
        s.low = fmin(s.low, k->use.scratch);
        s.high = fmax(s.high, k->use.scratch);
        enum scratch_use use = insight_scratch_use(k);
        s.use = s.kernels > 1 ? both_uses(s.use, use) : use;
    }
    return s;
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

const struct run_gate *insight_failed_gate(const struct report_model *m, size_t variant)
{
    for (size_t i = 0; i < m->details.n_gates; i++)
        if (m->details.gates[i].variant == variant && !m->details.gates[i].passed)
            return &m->details.gates[i];
    return NULL;
}

enum waiting insight_waiting(const struct run_data *run, const struct cell *c, double *cpu_s)
{
    enum waiting found = WAITING_UNKNOWN;
    for (size_t i = c->first; i < c->first + c->count; i++) {
        const struct run_test *t = &run->tests[i];
        *cpu_s = t->used.cpu_user_s + t->used.cpu_system_s;
        if (t->status != STATUS_TIMEOUT || !(t->timeout_s > 0) || !isfinite(*cpu_s))
            continue;
        if (*cpu_s < IDLE_SHARE * t->timeout_s)
            return WAITING_IDLE;
        found = WAITING_BUSY;
    }
    return found;
}
