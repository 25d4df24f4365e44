#include "results/judge/causes_find.h"

#include "common/base/alloc.h"
#include "results/judge/cause_beside.h"
#include "results/stats/stats.h"
#include "results/store/identity.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Controls that moved by this share of the change stand for the node; by the second, for all of it. */
static const double node_least = 0.5, node_all = 0.8;
/* A clock that explains so much needs nothing beside it. */
static const double clock_large = 0.5, clock_all = 0.8;
/* Single cells differ by up to half of this between GPUs of one model (docs/statistics.md). */
static const double between_gpus = 0.06;

/* One change and what is known about it. */
struct finding {
    const struct causes_input *in;
    const struct comparison *c;
    const struct delta *d; /* NULL: what all cells have in common */
    const struct cause_run *before;
    struct cause_differences differs;
    struct beside *beside;
    struct controls controls;
    double change; /* positive for slower; NaN for a change of status */
    enum cause_code code;
    struct cause clock; /* if clock_stands */
    bool clock_stands;
    double node_share; /* NaN if the controls did not move as well */
    enum neighbours neighbours;
    double neighbours_before, neighbours_now;
    struct cell_causes *out;
};

bool causes_wanted(const struct comparison *c, const struct delta *d)
{
    if (d->metric != c->primary)
        return false;
    return d->verdict == VERDICT_REGRESSED || d->verdict == VERDICT_IMPROVED ||
           d->verdict == VERDICT_BROKEN || d->verdict == VERDICT_FIXED || d->confirmation == CONFIRM_NODE;
}

/* The newest night at the old level: less than half of tonight's change away from it. Of several, one that
 * ran tonight's code: what differs since then is not the code. */
static int64_t night_before(const struct causes_input *in, const struct delta *d)
{
    const struct night_cell *cell = in->nights ? nights_find_cell(in->nights, d->variant, d->context) : NULL;
    const struct run_variant *v = run_data_variant(in->now.run, d->variant);
    const struct level l = cell ? nights_level(cell) : (struct level){0};
    uint64_t code = v ? run_identity(v->code_sha256) : 0;
    double half = isfinite(d->ratio) && d->ratio > 0 ? log(d->ratio) / 2 : 0;
    int64_t newest = 0;
    for (size_t i = 0; i < l.nights; i++) {
        size_t at = l.members[i];
        double away = d->common == 1 ? cell->y[at] - l.y : cell->u[at] - l.u;
        if (half != 0 && away / half >= 1)
            continue;
        if (code && cell->points[at]->code == code)
            return cell->points[at]->run_key;
        newest = newest ? newest : cell->points[at]->run_key;
    }
    return newest || !cell || !cell->count ? newest : cell->points[cell->count - 1]->run_key;
}

static int64_t night_before_shift(const struct causes_input *in, const struct comparison *c)
{
    const struct level l = in->nights ? nights_factor_level(in->nights) : (struct level){0};
    double half = log(c->shift.ratio) / 2;
    for (size_t i = 0; i < l.nights; i++)
        if ((in->nights->nights[l.members[i]].factor - l.y) / half < 1)
            return in->nights->nights[l.members[i]].run_key;
    return 0;
}

int64_t causes_before(const struct causes_input *in, const struct comparison *c, const struct delta *d)
{
    if (d)
        return in->base_key && d->against != REFERENCE_LEVEL ? in->base_key : night_before(in, d);
    if (in->base_key && c->shift.since_base)
        return in->base_key;
    int64_t night = night_before_shift(in, c);
    return night ? night : in->base_key;
}

static const struct cause_run *find_before(const struct causes_input *in, int64_t key)
{
    for (size_t i = 0; i < in->n_befores; i++)
        if (in->befores[i].run->info.key == key)
            return &in->befores[i];
    return NULL;
}

static struct cause *add(struct finding *f, enum cause_kind kind, bool established, struct err *err)
{
    struct cause *c = causes_add(f->out, kind, established ? CAUSE_ESTABLISHED : CAUSE_COINCIDES);
    if (!c)
        err_set(err, ERR_INTERNAL, "no memory for the causes");
    return c;
}

static int add_changes(struct finding *f, enum cause_kind kind, bool established,
                       const struct cause_changes *changes, struct err *err)
{
    struct cause *c = add(f, kind, established, err);
    if (!c)
        return -1;
    c->changes = *changes;
    return 0;
}

static void append_changes(struct cause_changes *to, const struct cause_changes *from)
{
    for (size_t i = 0; i < from->count; i++) {
        const struct cause_change *c = i < CAUSE_CHANGES_MAX ? &from->items[i] : NULL;
        cause_add_change(to, c ? c->key : "", c ? c->before : "", c ? c->now : "");
    }
}

/* Repetitions and warm-ups as they were run, which options may have changed. One repetition has nothing to
 * hide a slow start behind. */
static void compare_counts(struct finding *f)
{
    const struct cell *a = run_data_cell(f->before->run, f->d->variant, f->d->context),
                      *b = run_data_cell(f->in->now.run, f->d->variant, f->d->context);
    struct cause_changes *out = &f->differs.method[SCOPE_ALL];
    if (!a || !b)
        return;
    char was[24], is[24];
    snprintf(was, sizeof was, "%d", a->counted);
    snprintf(is, sizeof is, "%d", b->counted);
    if (a->counted != b->counted && (a->counted == 1 || b->counted == 1))
        cause_add_change(out, "repetitions", was, is);
    snprintf(was, sizeof was, "%zu", a->count - (size_t)a->counted);
    snprintf(is, sizeof is, "%zu", b->count - (size_t)b->counted);
    if (strcmp(was, is) != 0)
        cause_add_change(out, "warmup", was, is);
}

/* The part of a common factor that the clock explains: what was taken out of the cell needs no explaining. */
static double clock_of_common(const struct finding *f, const struct clock_part *others)
{
    double common = slower_by(f->c->primary, f->d->common);
    if (!others || !isfinite(common) || common == 0 || others->explained / common <= 0)
        return 0;
    return fabs(others->explained) < fabs(common) ? others->explained : common;
}

static int look_at_clock(struct finding *f, struct err *err)
{
    const struct clock_part *own = &f->beside->clock[f->d - f->c->deltas];
    struct err memory = {0};
    const struct clock_part *others = beside_clock(f->beside, f->c, f->d, &memory);
    if (memory.kind != ERR_NONE) {
        *err = memory;
        return -1;
    }
    if (!own->known || !isfinite(f->change))
        return 0;
    f->clock =
        (struct cause){.kind = CAUSE_CLOCK, .share = NAN, .sensitivity = NAN, .sensitivity_error = NAN};
    f->clock_stands =
        clock_explains(own, f->change, f->d->noise_floor, clock_of_common(f, others), &f->clock);
    f->clock.alone = f->code == CAUSE_CODE_DIFFERS && others && fabs(others->change) < fabs(own->change) / 2;
    if (f->clock.alone)
        f->clock.certainty = CAUSE_COINCIDES;
    return 0;
}

static void look_at_node(struct finding *f)
{
    const struct controls *k = &f->controls;
    double share = k->median / f->change;
    f->node_share =
        k->count >= 2 && k->moved == k->count && share >= node_least ? fmin(share, 1) : (double)NAN;
}

/* Cells with the same neighbours and the same code that did not move say that these do not matter. */
static bool neighbours_spare_controls(const struct finding *f)
{
    size_t spared = 0;
    for (size_t i = 0; i < f->c->count; i++) {
        const struct delta *e = &f->c->deltas[i];
        double was, is;
        if (e == f->d || e->metric != f->c->primary || f->beside->code[i] != CAUSE_CODE_SAME ||
            e->verdict != VERDICT_UNCHANGED)
            continue;
        spared += cell_neighbours(f->before->run, f->in->now.run, e, f->change, &was, &is) != NEIGHBOURS_NONE;
    }
    return spared >= CONTROLS_LEAST;
}

static void look_at_neighbours(struct finding *f)
{
    f->neighbours = cell_neighbours(f->before->run, f->in->now.run, f->d, f->change, &f->neighbours_before,
                                    &f->neighbours_now);
    if (f->neighbours == NEIGHBOURS_COINCIDE && neighbours_spare_controls(f))
        f->neighbours = NEIGHBOURS_HARMLESS;
}

static int look(struct finding *f, struct err *err)
{
    const struct delta *d = f->d;
    if (cause_differences(f->before, &f->in->now, d->variant, &f->differs, err) != 0)
        return -1;
    compare_counts(f);
    f->code = f->beside->code[d - f->c->deltas];
    f->out->code = f->code;
    f->out->code_of_device = f->beside->of_device[d - f->c->deltas];
    bool measured = d->verdict != VERDICT_BROKEN && d->verdict != VERDICT_FIXED;
    f->change = measured ? slower_by(d->metric, d->ratio) : (double)NAN;
    bool own = f->differs.environment[SCOPE_VARIANT].count || f->differs.method[SCOPE_VARIANT].count;
    if (beside_controls(f->beside, f->c, d, f->change, own, &f->controls, err) != 0 ||
        look_at_clock(f, err) != 0)
        return -1;
    look_at_node(f);
    look_at_neighbours(f);
    return 0;
}

static bool neighbours_stand(const struct finding *f)
{
    return f->neighbours == NEIGHBOURS_COINCIDE || f->neighbours == NEIGHBOURS_ESTABLISHED;
}

static double clock_share(const struct finding *f)
{
    if (!f->clock_stands)
        return 0;
    return f->clock.bounded ? f->clock.share_high : f->clock.share;
}

static bool clock_is_all(const struct finding *f)
{
    return f->clock_stands && !f->clock.bounded && !f->clock.alone && f->clock.share >= clock_all;
}

/* Code that differs as well is not needed where cells without new code, or the clock, moved as much. */
static bool code_stands(const struct finding *f)
{
    if (f->node_share >= node_all || clock_is_all(f))
        return false;
    return f->code == CAUSE_CODE_DIFFERS || (f->code == CAUSE_CODE_UNKNOWN && f->differs.other_sources);
}

static bool device_stands(const struct finding *f)
{
    bool held = f->controls.unmoved >= CONTROLS_LEAST;
    return f->differs.device.count && (!held || !(fabs(f->change) > between_gpus));
}

/* How many differences concern this cell or its variant alone. */
static size_t own_differences(const struct finding *f)
{
    return (size_t)code_stands(f) + (f->differs.environment[SCOPE_VARIANT].count > 0) +
           (f->differs.method[SCOPE_VARIANT].count > 0) + neighbours_stand(f);
}

/* The only difference to cells of the same code that did not move. */
static bool is_only_difference(const struct finding *f)
{
    return f->controls.unmoved >= CONTROLS_LEAST && isnan(f->node_share) && !f->clock_stands &&
           !device_stands(f) && own_differences(f) == 1;
}

static int add_code(struct finding *f, bool established, struct err *err)
{
    struct cause *c = add(f, CAUSE_CODE, established, err);
    if (!c)
        return -1;
    c->by = f->code == CAUSE_CODE_DIFFERS ? (f->out->code_of_device ? CAUSE_BY_DEVICE : CAUSE_BY_FILES)
                                          : CAUSE_BY_SOURCES;
    if (c->by == CAUSE_BY_DEVICE)
        cause_list_kernels(f->before, &f->in->now, f->d->variant, c);
    return 0;
}

/* What made other code of the same sources; of other sources it only coincides. */
static int add_toolchain(struct finding *f, bool code_established, struct err *err)
{
    struct cause_changes *changes = &f->differs.toolchain;
    if (f->code == CAUSE_CODE_DIFFERS && !changes->count && f->differs.same_sources)
        *changes = f->differs.variables;
    if (f->code == CAUSE_CODE_SAME || !changes->count || f->node_share >= node_all || clock_is_all(f))
        return 0;
    bool established = f->code == CAUSE_CODE_DIFFERS && f->differs.same_sources && code_established;
    return add_changes(f, CAUSE_TOOLCHAIN, established, changes, err);
}

static int add_numbers(struct finding *f, struct err *err)
{
    if (f->clock_stands) {
        struct cause *c = add(f, CAUSE_CLOCK, false, err);
        if (!c)
            return -1;
        *c = f->clock;
    }
    if (isfinite(f->node_share)) {
        struct cause *c = add(f, CAUSE_NODE, f->controls.count >= CONTROLS_LEAST, err);
        if (!c)
            return -1;
        c->share = f->node_share;
        c->controls = f->controls.count;
        c->now =
            exp(metric_info(f->c->primary)->better == METRIC_MORE ? -f->controls.median : f->controls.median);
    }
    return 0;
}

static int add_neighbours(struct finding *f, struct err *err)
{
    if (!neighbours_stand(f))
        return 0;
    struct cause *c = add(f, CAUSE_NEIGHBOURS, f->neighbours == NEIGHBOURS_ESTABLISHED, err);
    if (!c)
        return -1;
    c->before = f->neighbours_before;
    c->now = f->neighbours_now;
    return 0;
}

/* What all cells share: not while cells of the same code stay where they are, unless nothing else differs and
 * the whole variant moved. */
static bool shared_may_explain(const struct finding *f)
{
    bool nothing_else = own_differences(f) == 0 && isnan(f->node_share) && clock_share(f) < clock_large &&
                        !f->differs.toolchain.count && !device_stands(f);
    if (clock_is_all(f))
        return false;
    if (f->controls.unmoved < CONTROLS_LEAST)
        return true;
    return nothing_else && beside_whole_variant(f->c, f->d, f->change);
}

static int add_environment(struct finding *f, bool only, bool shared, struct err *err)
{
    struct cause_changes changes = f->differs.environment[SCOPE_VARIANT];
    bool own = changes.count > 0;
    if (shared)
        append_changes(&changes, &f->differs.environment[SCOPE_ALL]);
    else if (f->clock_stands) /* a limit of the clock belongs to the clock */
        append_changes(&changes, &f->differs.limits);
    return changes.count ? add_changes(f, CAUSE_ENVIRONMENT, only && own, &changes, err) : 0;
}

static int add_method(struct finding *f, bool only, bool shared, struct err *err)
{
    struct cause_changes changes = f->differs.method[SCOPE_VARIANT];
    bool own = changes.count > 0;
    if (shared)
        append_changes(&changes, &f->differs.method[SCOPE_ALL]);
    if (device_stands(f))
        append_changes(&changes, &f->differs.device);
    return changes.count ? add_changes(f, CAUSE_METHOD, only && own, &changes, err) : 0;
}

/* Nothing was found, or what was found explains less than half. */
static int add_rest(struct finding *f, struct err *err)
{
    double sum = 0;
    bool bounded = false;
    for (size_t i = 0; i < f->out->count; i++) {
        const struct cause *c = &f->out->items[i];
        sum += c->bounded ? c->share_high : c->share; /* NaN: unknown, so perhaps all of it */
        bounded |= c->bounded;
    }
    if (!(sum < clock_large))
        return 0;
    struct cause *c = add(f, CAUSE_UNEXPLAINED, false, err);
    if (!c)
        return -1;
    c->share = bounded ? (double)NAN : 1 - sum;
    return 0;
}

/* Measured in turns with the build before. */
static int explain_confirmed(struct finding *f, struct err *err)
{
    if (f->d->confirmation == CONFIRM_STANDS)
        return add_code(f, true, err);
    struct cause *c = add(f, CAUSE_NODE, true, err);
    if (!c)
        return -1;
    c->controls = f->controls.count;
    bool shared = f->differs.environment[SCOPE_ALL].count > 0;
    return shared ? add_changes(f, CAUSE_ENVIRONMENT, false, &f->differs.environment[SCOPE_ALL], err) : 0;
}

static int explain_cell(struct finding *f, struct err *err)
{
    bool other_code =
        f->code == CAUSE_CODE_DIFFERS || (f->code == CAUSE_CODE_UNKNOWN && f->differs.other_sources);
    if (f->d->confirmation == CONFIRM_NODE || (f->d->confirmation == CONFIRM_STANDS && other_code))
        return explain_confirmed(f, err);
    bool only = is_only_difference(f), shared = shared_may_explain(f);
    bool code = code_stands(f), code_established = only && code && f->code == CAUSE_CODE_DIFFERS;
    if ((code && add_code(f, code_established, err) != 0) || add_toolchain(f, code_established, err) != 0 ||
        add_numbers(f, err) != 0 || add_neighbours(f, err) != 0 ||
        add_environment(f, only, shared, err) != 0 || add_method(f, only, shared, err) != 0)
        return -1;
    return add_rest(f, err);
}

static size_t cells_with_code(const struct finding *f, enum cause_code code)
{
    size_t n = 0;
    for (size_t i = 0; i < f->c->count; i++)
        n += f->c->deltas[i].metric == f->c->primary && f->beside->code[i] == code;
    return n;
}

/* Of the cells whose tests had company that they did not have before. */
static int add_shared_neighbours(struct finding *f, struct err *err)
{
    size_t cells = 0, with = 0;
    double was = 0, is = 0, before = NAN, now = NAN;
    for (size_t i = 0; i < f->c->count; i++) {
        const struct delta *e = &f->c->deltas[i];
        if (e->metric != f->c->primary || !e->in_now)
            continue;
        cells++;
        if (cell_neighbours(f->before->run, f->in->now.run, e, f->change, &was, &is) == NEIGHBOURS_NONE)
            continue;
        with++;
        before = was;
        now = is;
    }
    if (2 * with <= cells)
        return 0;
    f->neighbours = NEIGHBOURS_COINCIDE;
    f->neighbours_before = before;
    f->neighbours_now = now;
    return add_neighbours(f, err);
}

/* Code explains what all cells have in common only where most of them changed it, and no control tells. */
static int add_shared_code(struct finding *f, struct err *err)
{
    const struct common_shift *s = &f->c->shift;
    size_t all = cells_with_code(f, CAUSE_CODE_DIFFERS) + cells_with_code(f, CAUSE_CODE_SAME) +
                 cells_with_code(f, CAUSE_CODE_UNKNOWN);
    size_t other = cells_with_code(f, CAUSE_CODE_DIFFERS);
    bool by_sources = f->differs.other_sources && 2 * cells_with_code(f, CAUSE_CODE_UNKNOWN) >= all;
    bool node = s->from_controls || s->confirmed == SHIFT_NODE;
    bool most = 2 * other >= all || by_sources;
    if (node || (!most && s->confirmed != SHIFT_CODE))
        return 0;
    struct cause *c = add(f, CAUSE_CODE, s->confirmed == SHIFT_CODE, err);
    if (!c)
        return -1;
    c->by = 2 * other >= all ? CAUSE_BY_DEVICE : CAUSE_BY_SOURCES;
    c->n_cells = other;
    if (s->confirmed == SHIFT_CODE || !f->differs.toolchain.count)
        return 0;
    return add_changes(f, CAUSE_TOOLCHAIN, false, &f->differs.toolchain, err);
}

static int add_shared_node(struct finding *f, struct err *err)
{
    const struct common_shift *s = &f->c->shift;
    if (!s->from_controls && s->confirmed != SHIFT_NODE)
        return 0;
    struct cause *c = add(f, CAUSE_NODE, true, err);
    if (!c)
        return -1;
    c->controls = s->controls;
    c->now = s->ratio;
    return 0;
}

static double error_of_shift(const struct common_shift *s, double change)
{
    bool usable = s->p > 1e-12 && s->p < 1; /* smaller ones have no quantile in double precision */
    return usable ? fabs(change) / stats_normal_quantile(1 - s->p / 2) : 0;
}

static int add_shared_clock(struct finding *f, struct err *err)
{
    const struct clock_part *middle = beside_clock(f->beside, f->c, NULL, err);
    struct cause found = {.kind = CAUSE_CLOCK, .share = NAN, .sensitivity = NAN, .sensitivity_error = NAN};
    double error = error_of_shift(&f->c->shift, f->change);
    if (!middle || !clock_explains(middle, f->change, error, 0, &found))
        return 0;
    struct cause *c = add(f, CAUSE_CLOCK, false, err);
    if (!c)
        return -1;
    *c = found;
    return 0;
}

static int explain_shift(struct finding *f, struct err *err)
{
    f->change = slower_by(f->c->primary, f->c->shift.ratio);
    if (cause_differences(f->before, &f->in->now, "", &f->differs, err) != 0 || add_shared_code(f, err) != 0)
        return -1;
    if (f->c->shift.confirmed == SHIFT_CODE)
        return 0;
    struct cause_changes method = f->differs.method[SCOPE_ALL];
    append_changes(&method, &f->differs.device);
    if (add_shared_node(f, err) != 0 || add_shared_clock(f, err) != 0 || add_shared_neighbours(f, err) != 0 ||
        (f->differs.environment[SCOPE_ALL].count &&
         add_changes(f, CAUSE_ENVIRONMENT, false, &f->differs.environment[SCOPE_ALL], err) != 0) ||
        (method.count && add_changes(f, CAUSE_METHOD, false, &method, err) != 0))
        return -1;
    return f->out->count ? 0 : add_rest(f, err);
}

static struct cell_causes *add_cell(struct causes *out, const struct delta *d, struct err *err)
{
    if (!ALLOC_GROW(out->cells, out->count + 1, out->cap)) {
        err_set(err, ERR_INTERNAL, "no memory for the causes");
        return NULL;
    }
    struct cell_causes *cell = &out->cells[out->count++];
    *cell = (struct cell_causes){.context = d ? d->context : 0};
    snprintf(cell->variant, sizeof cell->variant, "%s", d ? d->variant : "");
    return cell;
}

/* d: NULL for the common factor. */
static int find_for(const struct causes_input *in, const struct comparison *c, const struct delta *d,
                    struct beside *beside, struct causes *out, struct err *err)
{
    struct finding f = {.in = in, .c = c, .d = d, .beside = beside, .node_share = NAN};
    f.before = find_before(in, causes_before(in, c, d));
    if (!f.before)
        return 0;
    f.out = add_cell(out, d, err);
    if (!f.out || beside_fill(beside, in, c, f.before, err) != 0)
        return -1;
    snprintf(f.out->before, sizeof f.out->before, "%s", f.before->run->info.run_id);
    int rc = d ? (look(&f, err) != 0 ? -1 : explain_cell(&f, err)) : explain_shift(&f, err);
    causes_sort(f.out);
    return rc;
}

int causes_find(const struct causes_input *in, const struct comparison *c, struct causes *out,
                struct err *err)
{
    struct beside beside = {0};
    *out = (struct causes){0};
    int rc = c->shift.found ? find_for(in, c, NULL, &beside, out, err) : 0;
    for (size_t i = 0; rc == 0 && i < c->count; i++)
        if (causes_wanted(c, &c->deltas[i]))
            rc = find_for(in, c, &c->deltas[i], &beside, out, err);
    beside_release(&beside);
    if (rc != 0)
        causes_release(out);
    return rc;
}
