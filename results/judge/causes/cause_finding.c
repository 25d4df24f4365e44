#include "results/judge/causes/cause_finding.h"

#include <math.h>

/* Causes that explain less than this leave a rest. */
static const double rest_least = 0.5;

struct cause *finding_add(struct finding *f, enum cause_kind kind, bool established)
{
    return causes_add(f->out, kind, established ? CAUSE_ESTABLISHED : CAUSE_COINCIDES);
}

void finding_add_changes(struct finding *f, enum cause_kind kind, bool established,
                         const struct cause_changes *changes)
{
    if (changes->count)
        finding_add(f, kind, established)->changes = *changes;
}

/* A difference that was not there yet at the onset did not cause the change, so it is dropped. */
void finding_compare(struct finding *f)
{
    const char *variant = f->d ? f->d->variant : "";
    int context = f->d ? f->d->context : 0;
    struct cause_differences early;
    cause_differences(f->before, &f->in->now, variant, context, &f->differs);
    if (!f->onset)
        return;
    cause_differences(f->before, f->onset, variant, context, &early);
    cause_differences_keep(&f->differs, &early);
}

void finding_append_changes(struct cause_changes *to, const struct cause_changes *from)
{
    for (size_t i = 0; i < from->count; i++) {
        const struct cause_change *c = i < CAUSE_CHANGES_MAX ? &from->items[i] : NULL;
        cause_add_change(to, c ? c->key : "", c ? c->before : "", c ? c->now : "");
    }
}

void finding_add_neighbours(struct finding *f)
{
    struct cause *c = finding_add(f, CAUSE_NEIGHBOURS, f->neighbours == NEIGHBOURS_ESTABLISHED);
    c->own_run = f->own_run;
    c->before = f->neighbours_before;
    c->now = f->neighbours_now;
}

void finding_add_rest(struct finding *f)
{
    double sum = 0;
    bool bounded = false;
    for (size_t i = 0; i < f->out->count; i++) {
        const struct cause *c = &f->out->items[i];
        sum += c->bounded ? c->share_high : c->share; /* NaN: unknown, so perhaps all of it */
        bounded |= c->bounded;
    }
    if (sum < rest_least)
        finding_add(f, CAUSE_UNEXPLAINED, false)->share = bounded ? (double)NAN : 1 - sum;
}
