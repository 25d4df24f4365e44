#include "results/judge/causes/cause_kernels.h"

#include "common/base/text.h"

#include <stdlib.h>
#include <string.h>

enum cause_code cause_code_state(const struct run_data *before, const struct run_data *now,
                                 const char *variant, bool *of_device)
{
    const struct run_variant *a = run_data_variant(before, variant), *b = run_data_variant(now, variant);
    *of_device = false;
    if (!a || !b || !*a->code_sha256 || !*b->code_sha256 || a->code_of_device != b->code_of_device)
        return CAUSE_CODE_UNKNOWN;
    *of_device = a->code_of_device;
    return strcmp(a->code_sha256, b->code_sha256) == 0 ? CAUSE_CODE_SAME : CAUSE_CODE_DIFFERS;
}

/* The kernels of a variant: they are sorted by variant and name. */
struct kernels {
    const struct run_kernel_code *items;
    size_t count;
};

static struct kernels kernels_of(const struct cause_run *r, const char *variant)
{
    const struct run_variant *v = run_data_variant(r->run, variant);
    struct kernels k = {0};
    for (size_t i = 0; v && r->details && i < r->details->n_kernels; i++) {
        if (r->details->kernels[i].variant != (size_t)(v - r->run->variants))
            continue;
        if (!k.items)
            k.items = &r->details->kernels[i];
        k.count++;
    }
    return k;
}

static double step(int64_t a, int64_t b)
{
    int64_t most = a > b ? a : b;
    return a < 0 || b < 0 || most == 0 ? 0 : (double)llabs(a - b) / (double)most;
}

/* How much two kernels differ: the sum of relative differences, with spills and scratch weighing most. */
static double distance(const struct cause_kernel *k)
{
    double sum = 0;
    if (k->in_before != k->in_now)
        return 0;
    for (int i = 0; i < KERNEL_RESOURCES; i++) {
        bool memory = i == KERNEL_SCRATCH_BYTES || i == KERNEL_VGPR_SPILLS || i == KERNEL_SGPR_SPILLS;
        sum += (memory ? 4 : 1) * step(k->before.resource[i], k->now.resource[i]);
    }
    for (int i = 0; i < INSTRUCTION_CLASSES; i++)
        sum += step(k->before.instructions[i], k->now.instructions[i]);
    return sum;
}

/* Keeps the kernels that differ most, in descending order. */
static void keep(struct cause *out, const struct cause_kernel *k)
{
    size_t kept = out->n_kernels < CAUSE_KERNELS_MAX ? out->n_kernels : CAUSE_KERNELS_MAX, at = kept;
    out->n_kernels++;
    while (at > 0 && distance(k) > distance(&out->kernels[at - 1]))
        at--;
    for (size_t i = kept < CAUSE_KERNELS_MAX ? kept : CAUSE_KERNELS_MAX - 1; i > at; i--)
        out->kernels[i] = out->kernels[i - 1];
    if (at < CAUSE_KERNELS_MAX)
        out->kernels[at] = *k;
}

static void add(struct cause *out, const struct run_kernel_code *before, const struct run_kernel_code *now)
{
    struct cause_kernel k = {.in_before = before, .in_now = now};
    if (before && now && strcmp(before->sha256, now->sha256) == 0)
        return;
    const char *name = before ? before->name : now->name;
    text_printable_fixed(k.name, sizeof k.name, name, strlen(name));
    kernel_facts_init(&k.before);
    kernel_facts_init(&k.now);
    if (before)
        k.before = before->facts;
    if (now)
        k.now = now->facts;
    keep(out, &k);
}

void cause_list_kernels(const struct cause_run *before, const struct cause_run *now, const char *variant,
                        struct cause *out)
{
    struct kernels a = kernels_of(before, variant), b = kernels_of(now, variant);
    if (!a.count || !b.count) /* one of them recorded none */
        return;
    for (size_t i = 0, j = 0; i < a.count || j < b.count;) {
        int order = i == a.count ? 1 : j == b.count ? -1 : strcmp(a.items[i].name, b.items[j].name);
        add(out, order <= 0 ? &a.items[i] : NULL, order >= 0 ? &b.items[j] : NULL);
        i += order <= 0;
        j += order >= 0;
    }
}
