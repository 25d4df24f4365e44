/* The causes of one cell. */
#include "results/judge/causes/cause_finding.h"

#include "common/base/alloc.h"
#include "results/judge/confirm.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* From the first share of the change on, controls speak for the node; from the second on, it explains all. */
static const double node_least = 0.5, node_all = 0.8;
/* From the first share on, a clock makes shared causes unlikely; from the second on, it needs no other
 * cause. */
static const double clock_large = 0.5, clock_all = 0.8;
/* Single cells differ by up to half of this between GPUs of one model (docs/statistics.md). */
static const double between_gpus = 0.06;

/* Compares counts as they ran, since options override the plan. Repetitions matter only where one side has a
 * single one, whose slow start no median hides. */
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

static const char *card_of(const struct run_data *r, const struct cell *c)
{
    for (size_t i = 0; c && i < c->count; i++)
        if (*r->tests[c->first + i].gpu)
            return r->tests[c->first + i].gpu;
    return NULL;
}

static bool ran_on(const struct run_data *r, const struct cell *c, const char *gpu)
{
    for (size_t i = 0; i < c->count; i++)
        if (strcmp(r->tests[c->first + i].gpu, gpu) == 0)
            return true;
    return false;
}

bool finding_moved(const struct finding *f, const struct delta *d, const char **was, const char **is)
{
    const struct run_data *then = f->before->run, *now = f->in->now.run;
    const struct cell *a = run_data_cell(then, d->variant, d->context),
                      *b = run_data_cell(now, d->variant, d->context);
    *was = card_of(then, a);
    *is = card_of(now, b);
    for (size_t i = 0; *was && *is && i < b->count; i++)
        if (ran_on(then, a, now->tests[b->first + i].gpu))
            return false;
    return *was && *is;
}

/* Any other cell that changed GPUs is inconclusive, so this is asked only if a cell broke or works again. */
static void compare_cards(struct finding *f)
{
    const char *was, *is;
    if (finding_moved(f, f->d, &was, &is))
        cause_add_change(&f->differs.device, "gpu", was, is);
}

/* The part of a common factor that the clock explains; it is no longer in the change of the cell. */
static double clock_of_common(const struct finding *f, const struct clock_part *others)
{
    double common = slower_by(f->c->primary, f->d->reference.common);
    if (!others || !isfinite(common) || common == 0 || others->explained / common <= 0)
        return 0;
    return fabs(others->explained) < fabs(common) ? others->explained : common;
}

static void look_at_clock(struct finding *f)
{
    const struct clock_part *own = &f->beside->clock[f->d - f->c->deltas];
    const struct clock_part *others = beside_clock(f->beside, f->c, f->d);
    if (!own->known || !isfinite(f->change))
        return;
    f->clock =
        (struct cause){.kind = CAUSE_CLOCK, .share = NAN, .sensitivity = NAN, .sensitivity_error = NAN};
    f->clock_stands =
        clock_explains(own, f->change, f->d->estimate.noise_floor, clock_of_common(f, others), &f->clock);
    f->clock.alone = f->code == CAUSE_CODE_DIFFERS && others && fabs(others->change) < fabs(own->change) / 2;
    if (f->clock.alone)
        f->clock.certainty = CAUSE_COINCIDES;
}

static void look_at_node(struct finding *f)
{
    const struct controls *k = &f->controls;
    double share = k->median / f->change;
    f->node_share =
        k->count >= 2 && k->moved == k->count && share >= node_least ? fmin(share, 1) : (double)NAN;
}

/* Neighbours do not matter if cells with the same neighbours and the same code did not move. */
static bool neighbours_spare_controls(const struct finding *f)
{
    AUTO_FREE double *moves = xcalloc(f->c->count + 1, sizeof *moves);
    size_t n = 0;
    for (size_t i = 0; i < f->c->count; i++) {
        const struct delta *e = &f->c->deltas[i];
        double was, is, move = slower_by(e->metric, e->estimate.ratio);
        if (e == f->d || e->metric != f->c->primary || f->beside->code[i] != CAUSE_CODE_SAME ||
            !isfinite(move))
            continue;
        if (cell_neighbours(f->before->run, f->in->now.run, e, f->change, &was, &is) != NEIGHBOURS_NONE)
            moves[n++] = move;
    }
    return controls_stayed(moves, n, f->change);
}

/* Other tests of the run are a cause only from this slowdown and this share of the change on. */
static const double own_run_least = 0.01, own_run_share = 0.25;

/* The most tests of its own run that were in flight beside one of the cell; RUN_UNKNOWN if nobody counted. */
static int most_beside(const struct run_data *r, const struct delta *d)
{
    const struct cell *c = run_data_cell(r, d->variant, d->context);
    int most = RUN_UNKNOWN;
    for (size_t i = 0; c && i < c->count; i++)
        if (!r->tests[c->first + i].warmup && r->tests[c->first + i].beside > most)
            most = r->tests[c->first + i].beside;
    return most;
}

/* Tests on the other GPUs are a cause only where `noise --gpus` has measured what they cost this cell. */
static void look_at_own_run(struct finding *f)
{
    const struct together_cell *t =
        together_find(f->in->together, f->d->variant, f->d->context, f->d->metric);
    int was = most_beside(f->before->run, f->d), is = most_beside(f->in->now.run, f->d);
    if (!together_suffers(t, own_run_least) || was < 0 || is < 0 || !isfinite(f->change))
        return;
    double effect = slower_by(t->metric, t->ratio) * ((is > was) - (is < was)) / f->change;
    if (!(effect >= own_run_share))
        return;
    f->own_run = true;
    f->neighbours = effect >= 2 * own_run_share ? NEIGHBOURS_ESTABLISHED : NEIGHBOURS_COINCIDE;
    f->neighbours_before = was;
    f->neighbours_now = is;
}

static void look_at_neighbours(struct finding *f)
{
    f->neighbours = cell_neighbours(f->before->run, f->in->now.run, f->d, f->change, &f->neighbours_before,
                                    &f->neighbours_now);
    if (f->neighbours == NEIGHBOURS_NONE)
        look_at_own_run(f);
    if (f->neighbours == NEIGHBOURS_COINCIDE && !f->own_run && neighbours_spare_controls(f))
        f->neighbours = NEIGHBOURS_HARMLESS;
}

void finding_look_at_cell(struct finding *f)
{
    const struct delta *d = f->d;
    bool of_device;
    finding_compare(f);
    compare_counts(f);
    f->code = f->beside->code[d - f->c->deltas];
    f->code_later = f->onset && cause_code_state(f->before->run, f->onset->run, d->variant, &of_device) ==
                                    CAUSE_CODE_SAME;
    f->out->code = f->code;
    f->out->code_of_device = f->beside->of_device[d - f->c->deltas];
    bool measured = d->verdict != VERDICT_BROKEN && d->verdict != VERDICT_FIXED;
    f->change = measured ? slower_by(d->metric, d->estimate.ratio) : (double)NAN;
    if (!measured) {
        compare_cards(f);
        finding_compare_limits(f);
    }
    bool own = f->differs.environment[SCOPE_VARIANT].count || f->differs.method[SCOPE_VARIANT].count;
    f->controls = beside_controls(f->beside, f->c, d, f->change, own);
    look_at_clock(f);
    look_at_node(f);
    look_at_neighbours(f);
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

/* Different code is no cause if the node or the clock explains the whole change, or if it came after the
 * onset. */
static bool code_stands(const struct finding *f)
{
    if (f->node_share >= node_all || clock_is_all(f) || f->code_later)
        return false;
    return f->code == CAUSE_CODE_DIFFERS || (f->code == CAUSE_CODE_UNKNOWN && f->differs.other_sources);
}

/* The device may explain a change that, within its noise, is no larger than GPUs of one model differ. */
static bool device_stands(const struct finding *f)
{
    double least =
        fabs(f->change) - 2 * (isfinite(f->d->estimate.noise_floor) ? f->d->estimate.noise_floor : 0);
    return f->differs.device.count && (!f->controls.held || !(least > between_gpus));
}

/* How many differences concern this cell or its variant alone. */
static size_t own_differences(const struct finding *f)
{
    return (size_t)code_stands(f) + (f->differs.environment[SCOPE_VARIANT].count > 0) +
           (f->differs.method[SCOPE_VARIANT].count > 0) + neighbours_stand(f);
}

/* Whether the cell differs in one thing only from cells of the same code that did not move. */
static bool is_only_difference(const struct finding *f)
{
    return !f->doubtful && f->controls.held && isnan(f->node_share) && !f->clock_stands &&
           !device_stands(f) && own_differences(f) == 1;
}

static void add_code(struct finding *f, bool established)
{
    struct cause *c = finding_add(f, CAUSE_CODE, established);
    c->by = f->code == CAUSE_CODE_DIFFERS ? (f->out->code_of_device ? CAUSE_BY_DEVICE : CAUSE_BY_FILES)
                                          : CAUSE_BY_SOURCES;
    if (c->by == CAUSE_BY_DEVICE)
        cause_list_kernels(f->before, &f->in->now, f->d->variant, c);
}

/* A toolchain that made other code of the same sources is a cause; if the sources differ too, it
 * coincides. */
static void add_toolchain(struct finding *f, bool code_established)
{
    struct cause_changes *changes = &f->differs.toolchain;
    if (f->code == CAUSE_CODE_DIFFERS && !changes->count && f->differs.same_sources)
        *changes = f->differs.variables;
    if (f->code == CAUSE_CODE_SAME || f->code_later || f->node_share >= node_all || clock_is_all(f))
        return;
    bool established = f->code == CAUSE_CODE_DIFFERS && f->differs.same_sources && code_established;
    finding_add_changes(f, CAUSE_TOOLCHAIN, established, changes);
}

static void add_numbers(struct finding *f)
{
    if (f->clock_stands)
        *finding_add(f, CAUSE_CLOCK, false) = f->clock;
    if (!isfinite(f->node_share))
        return;
    struct cause *c = finding_add(f, CAUSE_NODE, f->controls.count >= CONTROLS_LEAST);
    c->share = f->node_share;
    c->controls = f->controls.count;
    c->now =
        exp(metric_info(f->c->primary)->better == METRIC_MORE ? -f->controls.median : f->controls.median);
}

/* What all cells share explains nothing while cells of the same code stay where they are, unless nothing else
 * differs and the whole variant moved. */
static bool shared_may_explain(const struct finding *f)
{
    bool nothing_else = own_differences(f) == 0 && isnan(f->node_share) && clock_share(f) < clock_large &&
                        !f->differs.toolchain.count && !device_stands(f);
    if (clock_is_all(f))
        return false;
    if (!f->controls.held)
        return true;
    return nothing_else && beside_whole_variant(f->c, f->d, f->change);
}

static void add_environment(struct finding *f, bool only, bool shared)
{
    struct cause_changes changes = f->differs.environment[SCOPE_VARIANT];
    bool own = changes.count > 0;
    if (shared)
        finding_append_changes(&changes, &f->differs.environment[SCOPE_ALL]);
    else if (f->clock_stands) /* a limit of the clock belongs to the clock */
        finding_append_changes(&changes, &f->differs.limits);
    finding_add_changes(f, CAUSE_ENVIRONMENT, only && own, &changes);
}

static void add_method(struct finding *f, bool only, bool shared)
{
    struct cause_changes changes = f->differs.method[SCOPE_VARIANT];
    bool own = changes.count > 0;
    if (shared)
        finding_append_changes(&changes, &f->differs.method[SCOPE_ALL]);
    if (device_stands(f))
        finding_append_changes(&changes, &f->differs.device);
    finding_add_changes(f, CAUSE_METHOD, only && own, &changes);
}

/* Measuring the cell alternating with the build before has decided between the code and the node. */
static void explain_confirmed(struct finding *f)
{
    if (f->d->confirmation == CONFIRM_STANDS) {
        add_code(f, true);
        return;
    }
    finding_add(f, CAUSE_NODE, true)->controls = f->controls.count;
    finding_add_changes(f, CAUSE_ENVIRONMENT, false, &f->differs.environment[SCOPE_ALL]);
}

void finding_explain_cell(struct finding *f)
{
    bool other_code =
        f->code == CAUSE_CODE_DIFFERS || (f->code == CAUSE_CODE_UNKNOWN && f->differs.other_sources);
    enum confirmation outcome = confirm_outcome(f->d);
    if (outcome == CONFIRM_NODE || (outcome == CONFIRM_STANDS && other_code)) {
        explain_confirmed(f);
        return;
    }
    bool only = is_only_difference(f), shared = shared_may_explain(f);
    bool code = code_stands(f), code_established = only && code && f->code == CAUSE_CODE_DIFFERS;
    if (code)
        add_code(f, code_established);
    add_toolchain(f, code_established);
    add_numbers(f);
    if (neighbours_stand(f))
        finding_add_neighbours(f);
    add_environment(f, only, shared);
    add_method(f, only, shared);
    finding_add_rest(f);
}
