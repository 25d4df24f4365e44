#include "results/judge/causes/causes_find.h"

#include "common/base/alloc.h"
#include "results/judge/causes/cause_finding.h"
#include "results/judge/confirm.h"
#include "results/store/identity.h"

#include <math.h>
#include <stdio.h>

bool causes_wanted(const struct comparison *c, const struct delta *d)
{
    bool of_all = d->reason == REASON_SHARED || d->reason == REASON_UNEVEN; /* told of all */
    if (d->metric != c->primary || of_all || d->reason == REASON_BACK)
        return false;
    return verdict_is_slower(d->verdict) || d->verdict == VERDICT_IMPROVED || d->verdict == VERDICT_BROKEN ||
           d->verdict == VERDICT_FIXED || confirm_outcome(d) == CONFIRM_NODE;
}

/* The newest night at the old level (less than half of tonight's change away from it), preferring those that
 * ran tonight's code: what differs since then is not the code. */
static int64_t night_before(const struct causes_input *in, const struct delta *d)
{
    const struct night_cell *cell = in->nights ? nights_find_cell(in->nights, d->variant, d->context) : NULL;
    const struct run_variant *v = run_data_variant(in->now.run, d->variant);
    const struct level l = cell ? nights_level(cell) : (struct level){0};
    uint64_t code = v ? run_identity(v->code_sha256) : 0;
    double half = isfinite(d->estimate.ratio) && d->estimate.ratio > 0 ? log(d->estimate.ratio) / 2 : 0;
    int64_t newest = 0;
    for (size_t i = 0; i < l.nights; i++) {
        size_t at = l.members[i];
        double away = d->reference.common == 1 ? cell->y[at] - l.y : cell->u[at] - l.u;
        if (half != 0 && away / half >= 1)
            continue;
        if (code && cell->points[at]->code == code)
            return cell->points[at]->run_key;
        newest = newest ? newest : cell->points[at]->run_key;
    }
    return newest || !cell || !cell->count ? newest : cell->points[cell->count - 1]->run_key;
}

/* The newest night on which what all cells share was as before, on the same GPU: it may be newer than the
 * level that says what is usual, if they are back at it for a few nights only. */
static int64_t night_before_shift(const struct causes_input *in, const struct comparison *c)
{
    const struct nights *n = in->nights;
    const struct level l = n ? nights_factor_level(n) : (struct level){0};
    double half = log(c->shift.ratio) / 2;
    uint64_t usual = l.nights ? n->nights[l.members[0]].device : 0;
    for (size_t t = l.nights ? n->count : 0; t > 0; t--) {
        const struct night *night = &n->nights[t - 1];
        bool moved = usual && night->device && night->device != usual;
        if (!moved && !n->factor_levels.odd[t - 1] && (night->factor - l.y) / half < 1)
            return night->run_key;
    }
    return 0;
}

int64_t causes_before(const struct causes_input *in, const struct comparison *c, const struct delta *d)
{
    if (d)
        return in->base_key && d->reference.kind != REFERENCE_LEVEL ? in->base_key : night_before(in, d);
    if (in->base_key && c->shift.since_base)
        return in->base_key;
    int64_t night = night_before_shift(in, c);
    return night ? night : in->base_key;
}

/* A night that shows the first share of tonight's change has it; one that shows less than the second has
 * not. */
static const double onset_share = 0.75, no_onset_share = 1.0 / 3;

/* The share of tonight's change that a night shows: the smaller one of with and without common factors. */
static double shown(const struct night_cell *cell, const struct level *l, size_t night, double change)
{
    return fmin((cell->y[night] - l->y) / change, (cell->u[night] - l->u) / change);
}

static double change_of(const struct delta *d)
{
    return isfinite(d->estimate.ratio) && d->estimate.ratio > 0 ? log(d->estimate.ratio) : 0;
}

/* If the last night may have shown the change, nothing that came after it is certain. */
static bool onset_is_doubtful(const struct causes_input *in, const struct delta *d)
{
    const struct night_cell *cell = in->nights ? nights_find_cell(in->nights, d->variant, d->context) : NULL;
    const struct level l = cell ? nights_level(cell) : (struct level){0};
    double change = change_of(d);
    return d->reference.kind == REFERENCE_LEVEL && l.known && change != 0 && cell->count &&
           shown(cell, &l, cell->count - 1, change) >= no_onset_share;
}

static int64_t onset_of_cell(const struct causes_input *in, const struct delta *d)
{
    const struct night_cell *cell = in->nights ? nights_find_cell(in->nights, d->variant, d->context) : NULL;
    const struct level l = cell ? nights_level(cell) : (struct level){0};
    double change = change_of(d);
    int64_t onset = 0;
    if (!l.known || change == 0)
        return 0;
    for (size_t i = cell->count; i-- > 0 && shown(cell, &l, i, change) >= onset_share;)
        onset = cell->points[i]->run_key;
    return onset;
}

static int64_t onset_of_shift(const struct causes_input *in, const struct comparison *c)
{
    const struct level l = in->nights ? nights_factor_level(in->nights) : (struct level){0};
    double least = onset_share * log(c->shift.ratio);
    int64_t onset = 0;
    if (!l.known || !isfinite(least) || least == 0)
        return 0;
    for (size_t i = in->nights->count; i-- > 0 && (in->nights->nights[i].factor - l.y) / least >= 1;)
        onset = in->nights->nights[i].run_key;
    return onset;
}

int64_t causes_onset(const struct causes_input *in, const struct comparison *c, const struct delta *d)
{
    if (d)
        return d->reference.kind == REFERENCE_LEVEL ? onset_of_cell(in, d) : 0;
    return in->base_key && c->shift.since_base ? 0 : onset_of_shift(in, c);
}

static const struct cause_run *find_before(const struct causes_input *in, int64_t key)
{
    for (size_t i = 0; i < in->n_befores; i++)
        if (in->befores[i].run->info.key == key)
            return &in->befores[i];
    return NULL;
}

static struct cell_causes *add_cell(struct causes *out, const struct delta *d)
{
    ALLOC_GROW(out->cells, out->count + 1, out->cap);
    struct cell_causes *cell = &out->cells[out->count++];
    *cell = (struct cell_causes){.context = d ? d->context : 0};
    snprintf(cell->variant, sizeof cell->variant, "%s", d ? d->variant : "");
    return cell;
}

/* A change that is to be explained, at the place of its causes. */
struct wanted {
    const struct delta *d; /* NULL: the common factor */
    const struct cause_run *before, *onset;
};

static void add_wanted(const struct causes_input *in, const struct comparison *c, const struct delta *d,
                       struct wanted *all, struct causes *out)
{
    const struct cause_run *before = find_before(in, causes_before(in, c, d));
    if (!before)
        return;
    all[out->count] = (struct wanted){d, before, find_before(in, causes_onset(in, c, d))};
    struct cell_causes *cell = add_cell(out, d);
    snprintf(cell->before, sizeof cell->before, "%s", before->run->info.run_id);
}

static void find_for(const struct causes_input *in, const struct comparison *c, const struct wanted *w,
                     struct beside *beside, struct cell_causes *out)
{
    struct finding f = {.in = in,
                        .c = c,
                        .d = w->d,
                        .before = w->before,
                        .onset = w->onset,
                        .beside = beside,
                        .node_share = NAN,
                        .out = out};
    f.doubtful = w->d && !f.onset && onset_is_doubtful(in, w->d);
    beside_fill(beside, in, c, w->before);
    if (w->d) {
        finding_look_at_cell(&f);
        finding_explain_cell(&f);
    } else
        finding_explain_shift(&f);
    causes_sort(out);
}

/* The causes of those cells that have this before and this onset. */
static void find_between(const struct causes_input *in, const struct comparison *c, const struct wanted *all,
                         const struct cause_run *before, const struct cause_run *onset, struct beside *beside,
                         struct causes *out)
{
    bool opened = !in->open;
    for (size_t i = 0; i < out->count; i++) {
        if (all[i].before != before || all[i].onset != onset)
            continue;
        if (!opened && !in->open(in->arg, before, onset))
            return;
        opened = true;
        find_for(in, c, &all[i], beside, &out->cells[i]);
    }
}

void causes_find(const struct causes_input *in, const struct comparison *c, struct causes *out)
{
    AUTO(beside_release) struct beside beside = {0};
    AUTO_FREE struct wanted *all = xcalloc(c->count + 1, sizeof *all);
    *out = (struct causes){0};
    if (c->shift.found)
        add_wanted(in, c, NULL, all, out);
    for (size_t i = 0; i < c->count; i++)
        if (causes_wanted(c, &c->deltas[i]))
            add_wanted(in, c, &c->deltas[i], all, out);
    for (size_t k = 0; k < in->n_befores; k++) /* what lies beside the cells is read once for each of them */
        for (size_t o = 0; o <= in->n_befores; o++)
            find_between(in, c, all, &in->befores[k], o < in->n_befores ? &in->befores[o] : NULL, &beside,
                         out);
}
