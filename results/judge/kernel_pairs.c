#include "results/judge/kernel_pairs.h"

#include "common/base/alloc.h"

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
    struct kernel_pair *pair = &p->items[p->count++];
    *pair = (struct kernel_pair){before, now, before && now && strcmp(before->sha256, now->sha256) == 0};
    p->changed += !pair->same;
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
}

void kernel_pairs_release(struct kernel_pairs *p)
{
    free(p->items);
    *p = (struct kernel_pairs){.items = NULL};
}

const char *kernel_pair_name(const struct kernel_pair *p)
{
    return p->before ? p->before->name : p->now->name;
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
