#include "results/judge/cause.h"

#include "common/base/alloc.h"
#include "common/base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *cause_kind_name(enum cause_kind k)
{
    static const char *const names[CAUSE_KINDS] = {
        [CAUSE_CODE] = "code",
        [CAUSE_TOOLCHAIN] = "toolchain",
        [CAUSE_ENVIRONMENT] = "environment",
        [CAUSE_CLOCK] = "clock",
        [CAUSE_NODE] = "node",
        [CAUSE_NEIGHBOURS] = "neighbours",
        [CAUSE_METHOD] = "method",
        [CAUSE_UNEXPLAINED] = "unexplained",
    };
    return names[k];
}

const char *cause_certainty_name(enum cause_certainty c)
{
    return c == CAUSE_ESTABLISHED ? "established" : "coincides";
}

const char *cause_by_name(enum cause_by b)
{
    static const char *const names[CAUSE_BYS] = {
        [CAUSE_BY_DEVICE] = "device", [CAUSE_BY_FILES] = "files", [CAUSE_BY_SOURCES] = "sources"};
    return names[b];
}

const char *cause_code_name(enum cause_code c)
{
    static const char *const names[] = {
        [CAUSE_CODE_UNKNOWN] = "unknown", [CAUSE_CODE_SAME] = "same", [CAUSE_CODE_DIFFERS] = "differs"};
    return names[c];
}

void causes_release(struct causes *c)
{
    for (size_t i = 0; i < c->count; i++)
        free(c->cells[i].items);
    free(c->cells);
    *c = (struct causes){0};
}

const struct cell_causes *causes_of(const struct causes *c, const char *variant, int context)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->cells[i].context == context && strcmp(c->cells[i].variant, variant) == 0)
            return &c->cells[i];
    return NULL;
}

const struct cause *causes_kind(const struct cell_causes *c, enum cause_kind kind)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->items[i].kind == kind)
            return &c->items[i];
    return NULL;
}

struct cause *causes_add(struct cell_causes *c, enum cause_kind kind, enum cause_certainty certainty)
{
    ALLOC_GROW(c->items, c->count + 1, c->cap);
    struct cause *cause = &c->items[c->count++];
    *cause = (struct cause){.kind = kind, .certainty = certainty};
    cause->share = cause->share_low = cause->share_high = NAN;
    cause->before = cause->now = cause->sensitivity = cause->sensitivity_error = cause->throttled_s = NAN;
    return cause;
}

void cause_add_change(struct cause_changes *c, const char *key, const char *before, const char *now)
{
    size_t at = c->count++;
    if (at >= CAUSE_CHANGES_MAX)
        return;
    struct cause_change *change = &c->items[at];
    char was[CAUSE_TEXT_MAX], is[CAUSE_TEXT_MAX];
    text_differing(before, now, CAUSE_TEXT_MAX, was, is);
    text_printable_fixed(change->key, sizeof change->key, key, strlen(key));
    text_printable_fixed(change->before, sizeof change->before, was, strlen(was));
    text_printable_fixed(change->now, sizeof change->now, is, strlen(is));
}

/* What is left unexplained comes after what is explained. */
static int rank(const struct cause *c)
{
    return c->kind == CAUSE_UNEXPLAINED ? 2 : c->certainty == CAUSE_ESTABLISHED ? 0 : 1;
}

static int by_strength(const void *a, const void *b)
{
    const struct cause *x = a, *y = b;
    double share_x = isfinite(x->share) ? x->share : 0, share_y = isfinite(y->share) ? y->share : 0;
    if (rank(x) != rank(y))
        return rank(x) - rank(y);
    if (share_x < share_y || share_x > share_y)
        return share_x > share_y ? -1 : 1;
    return (x->kind > y->kind) - (x->kind < y->kind);
}

void causes_sort(struct cell_causes *c)
{
    if (c->count)
        qsort(c->items, c->count, sizeof *c->items, by_strength);
}
