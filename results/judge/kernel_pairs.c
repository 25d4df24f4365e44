#include "results/judge/kernel_pairs.h"

#include "common/base/alloc.h"
#include "common/base/symbol.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The kernels of the variant; they are stored by variant and name. */
static const struct run_kernel_code *kernels_of(const struct kernel_side *s, size_t *count)
{
    const struct run_variant *v = run_data_variant(s->run, s->variant);
    const struct run_kernel_code *first = NULL;
    *count = 0;
    for (size_t i = 0; v && i < s->details->n_kernels; i++) {
        const struct run_kernel_code *k = &s->details->kernels[i];
        if (k->variant != (size_t)(v - s->run->variants))
            continue;
        first = first ? first : k;
        ++*count;
    }
    return first;
}

static void add(struct kernel_pairs *p, const struct run_kernel_code *before,
                const struct run_kernel_code *now)
{
    ALLOC_GROW(p->items, p->count + 1, p->cap);
    p->items[p->count++] = (struct kernel_pair){before, now,
                                                !before                                    ? KERNEL_NEW
                                                : !now                                     ? KERNEL_GONE
                                                : strcmp(before->sha256, now->sha256) == 0 ? KERNEL_IDENTICAL
                                                                                           : KERNEL_CHANGED};
}

/* Returns the name without namespaces and classes. */
static struct symbol_title last_name(const char *symbol)
{
    struct symbol_title title = symbol_title(symbol), last = {""};
    size_t end = strcspn(title.s, "<("), begin = end;
    while (begin > 0 && title.s[begin - 1] != ':')
        begin--;
    snprintf(last.s, sizeof last.s, "%s", title.s + begin);
    return last;
}

/* Returns what a new kernel was called, preferably one that only moved; NULL: it is not one that is gone. */
static struct kernel_pair *find_former(struct kernel_pairs *p, const struct run_kernel_code *now,
                                       enum kernel_state *state)
{
    struct kernel_pair *found = NULL;
    const struct symbol_title name = last_name(now->name);
    for (size_t i = 0; i < p->count; i++) {
        struct kernel_pair *gone = &p->items[i];
        if (gone->state != KERNEL_GONE || !*now->facts.body ||
            strcmp(gone->before->facts.body, now->facts.body) != 0)
            continue;
        bool moved = strcmp(last_name(gone->before->name).s, name.s) == 0;
        if (!found || moved)
            *state = moved ? KERNEL_MOVED : KERNEL_RENAMED;
        found = found && !moved ? found : gone;
        if (moved)
            break;
    }
    return found;
}

/* Joins what is gone and what is new where it is the same code. */
static void join_renamed(struct kernel_pairs *p)
{
    size_t kept = 0;
    for (size_t i = 0; i < p->count; i++) {
        struct kernel_pair *now = &p->items[i];
        struct kernel_pair *former = now->state == KERNEL_NEW ? find_former(p, now->now, &now->state) : NULL;
        if (!former)
            continue;
        now->before = former->before;
        former->before = NULL; /* neither before nor now: it is left out */
        former->state = KERNEL_STATES;
    }
    for (size_t i = 0; i < p->count; i++) {
        if (p->items[i].state == KERNEL_STATES)
            continue;
        p->items[kept] = p->items[i];
        p->changed += kernel_pair_differs(&p->items[kept++]);
    }
    p->count = kept;
}

void kernel_pairs_make(const struct kernel_side *before, const struct kernel_side *now,
                       struct kernel_pairs *out)
{
    size_t a_count, b_count, i = 0, j = 0;
    const struct run_kernel_code *a = kernels_of(before, &a_count), *b = kernels_of(now, &b_count);
    *out = (struct kernel_pairs){.items = NULL};
    while (i < a_count || j < b_count) {
        int order = i == a_count ? 1 : j == b_count ? -1 : strcmp(a[i].name, b[j].name);
        add(out, order <= 0 ? &a[i] : NULL, order >= 0 ? &b[j] : NULL);
        i += order <= 0;
        j += order >= 0;
    }
    join_renamed(out);
}

void kernel_pairs_release(struct kernel_pairs *p)
{
    free(p->items);
    *p = (struct kernel_pairs){.items = NULL};
}

const char *kernel_pair_name(const struct kernel_pair *p)
{
    return p->now ? p->now->name : p->before->name;
}

const char *kernel_pair_former(const struct kernel_pair *p)
{
    return p->before && (p->state == KERNEL_RENAMED || p->state == KERNEL_MOVED) ? p->before->name : NULL;
}

bool kernel_pair_differs(const struct kernel_pair *p)
{
    return p->state == KERNEL_CHANGED || p->state == KERNEL_NEW || p->state == KERNEL_GONE;
}

const char *kernel_state_name(enum kernel_state s)
{
    static const char *const names[] = {"identical", "renamed", "moved", "changed", "new", "gone"};
    return names[s];
}

static int64_t number_of(const struct run_kernel_code *k, size_t i)
{
    if (!k)
        return KERNEL_FACT_UNKNOWN;
    if (i < KERNEL_RESOURCES)
        return k->facts.resource[i];
    i -= KERNEL_RESOURCES;
    return i < INSTRUCTION_CLASSES ? k->facts.instructions[i] : k->facts.hot_loop[i - INSTRUCTION_CLASSES];
}

struct kernel_fact kernel_pair_fact(const struct kernel_pair *p, size_t i)
{
    struct kernel_fact out = {.before = number_of(p->before, i), .now = number_of(p->now, i)};
    if (i < KERNEL_RESOURCES) {
        out.group = "resources";
        out.name = kernel_resource_name((enum kernel_resource)i);
        return out;
    }
    i -= KERNEL_RESOURCES;
    out.group = i < INSTRUCTION_CLASSES ? "instructions" : "hot_loop";
    out.name = instruction_class_name((enum instruction_class)(i % INSTRUCTION_CLASSES));
    return out;
}
