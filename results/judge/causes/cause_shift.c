/* The causes of what all cells have in common. */
#include "results/judge/causes/cause_finding.h"
#include "results/stats/stats.h"

#include <math.h>

static size_t cells_with_code(const struct finding *f, enum cause_code code)
{
    size_t n = 0;
    for (size_t i = 0; i < f->c->count; i++)
        n += f->c->deltas[i].metric == f->c->primary && f->beside->code[i] == code;
    return n;
}

/* Neighbours are a cause if more than half of the cells have some that they did not have before. */
static void add_shared_neighbours(struct finding *f)
{
    size_t cells = 0, with = 0;
    double was = 0, is = 0, before = NAN, now = NAN;
    for (size_t i = 0; i < f->c->count; i++) {
        const struct delta *e = &f->c->deltas[i];
        if (e->metric != f->c->primary || !e->now.present)
            continue;
        cells++;
        if (cell_neighbours(f->before->run, f->in->now.run, e, f->change, &was, &is) == NEIGHBOURS_NONE)
            continue;
        with++;
        before = was;
        now = is;
    }
    if (2 * with <= cells)
        return;
    f->neighbours = NEIGHBOURS_COINCIDE;
    f->neighbours_before = before;
    f->neighbours_now = now;
    finding_add_neighbours(f);
}

/* Machine code tells that it differs only where all of it was read from kernels. If the sources are equal and
 * few builds differ, something in the files that were built does. */
static enum cause_by code_by(const struct finding *f, bool most_differ)
{
    if (!most_differ)
        return f->differs.other_sources ? CAUSE_BY_SOURCES : CAUSE_BY_FILES;
    for (size_t i = 0; i < f->c->count; i++)
        if (f->beside->code[i] == CAUSE_CODE_DIFFERS && !f->beside->of_device[i])
            return CAUSE_BY_FILES;
    return CAUSE_BY_DEVICE;
}

/* Code explains what all cells share if confirming said so, or if at least half of the cells changed it and
 * no control speaks for the node. */
static void add_shared_code(struct finding *f)
{
    const struct common_shift *s = &f->c->shift;
    size_t all = cells_with_code(f, CAUSE_CODE_DIFFERS) + cells_with_code(f, CAUSE_CODE_SAME) +
                 cells_with_code(f, CAUSE_CODE_UNKNOWN);
    size_t other = cells_with_code(f, CAUSE_CODE_DIFFERS);
    bool by_sources = f->differs.other_sources && 2 * cells_with_code(f, CAUSE_CODE_UNKNOWN) >= all;
    bool node = s->from_controls || s->confirmed == SHIFT_NODE;
    bool most = 2 * other >= all || by_sources;
    if (node || (!most && s->confirmed != SHIFT_CODE))
        return;
    struct cause *c = finding_add(f, CAUSE_CODE, s->confirmed == SHIFT_CODE);
    c->by = code_by(f, other > 0 && 2 * other >= all);
    c->n_cells = other;
    if (s->confirmed != SHIFT_CODE)
        finding_add_changes(f, CAUSE_TOOLCHAIN, false, &f->differs.toolchain);
}

static void add_shared_node(struct finding *f)
{
    const struct common_shift *s = &f->c->shift;
    if (!s->from_controls && s->confirmed != SHIFT_NODE)
        return;
    struct cause *c = finding_add(f, CAUSE_NODE, true);
    c->controls = s->from_controls ? s->agree : s->controls;
    c->now = s->ratio;
}

static double error_of_shift(const struct common_shift *s, double change)
{
    bool usable = s->p > 1e-12 && s->p < 1; /* smaller ones have no quantile in double precision */
    return usable ? fabs(change) / stats_normal_quantile(1 - s->p / 2) : 0;
}

static void add_shared_clock(struct finding *f)
{
    const struct clock_part *middle = beside_clock(f->beside, f->c, NULL);
    struct cause found = {.kind = CAUSE_CLOCK, .share = NAN, .sensitivity = NAN, .sensitivity_error = NAN};
    double error = error_of_shift(&f->c->shift, f->change);
    if (middle && clock_explains(middle, f->change, error, 0, &found))
        *finding_add(f, CAUSE_CLOCK, false) = found;
}

/* The facts name all GPUs of a node; only the tests say which of them they ran on. */
static void compare_shared_cards(struct finding *f)
{
    size_t cells = 0, moved = 0;
    const char *was, *is, *old = NULL, *new = NULL;
    for (size_t i = 0; i < f->c->count; i++) {
        const struct delta *e = &f->c->deltas[i];
        if (e->metric != f->c->primary || !e->now.present)
            continue;
        cells++;
        if (!finding_moved(f, e, &was, &is))
            continue;
        moved++;
        old = was;
        new = is;
    }
    if (2 * moved > cells && !f->differs.device.count)
        cause_add_change(&f->differs.device, "gpu", old, new);
}

void finding_explain_shift(struct finding *f)
{
    f->change = slower_by(f->c->primary, f->c->shift.ratio);
    finding_compare(f);
    add_shared_code(f);
    if (f->c->shift.confirmed == SHIFT_CODE)
        return;
    compare_shared_cards(f);
    struct cause_changes method = f->differs.method[SCOPE_ALL];
    finding_append_changes(&method, &f->differs.device);
    add_shared_node(f);
    add_shared_clock(f);
    add_shared_neighbours(f);
    finding_add_changes(f, CAUSE_ENVIRONMENT, false, &f->differs.environment[SCOPE_ALL]);
    finding_add_changes(f, CAUSE_METHOD, false, &method);
    if (!f->out->count)
        finding_add_rest(f);
}
