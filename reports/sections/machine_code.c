/* Machine code: registers, scratch and the hot loop of the kernels by which the variants' builds differ,
 * beside the speed of each variant. */
#include "common/base/alloc.h"
#include "common/base/symbol.h"
#include "common/base/values.h"
#include "reports/sections/phrase.h"
#include "reports/sections/section.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KERNELS_OF_MAX = 4 };

static int by_hash(const void *x, const void *y)
{
    const struct run_kernel_code *const *a = x, *const *b = y;
    int order = strcmp((*a)->sha256, (*b)->sha256);
    return order ? order : (int)(*a)->variant - (int)(*b)->variant;
}

/* What an iteration spends its time on, matrix products first. */
static int64_t weight(const struct run_kernel_code *k)
{
    const int64_t *n = k->facts.hot_loop;
    return n[INSTRUCTION_MATRIX] * (1 << 20) + n[INSTRUCTION_VECTOR] + n[INSTRUCTION_TRANSCENDENTAL];
}

static int by_variant(const void *x, const void *y)
{
    const struct run_kernel_code *const *a = x, *const *b = y;
    int64_t wa = weight(*a), wb = weight(*b);
    if ((*a)->variant != (*b)->variant)
        return (*a)->variant < (*b)->variant ? -1 : 1;
    return wa == wb ? strcmp((*a)->name, (*b)->name) : wa > wb ? -1 : 1;
}

/* Whether an earlier shape of the same kernel has this variant's build. */
static bool shown_before(const struct report_model *m, size_t variant)
{
    for (size_t v = 0; v < variant; v++)
        if (report_model_same(m, v, variant) &&
            strcmp(m->now.variants[v].code_sha256, m->now.variants[variant].code_sha256) == 0)
            return true;
    return false;
}

/* How many variants have kernels; *alike: they are one build. */
static size_t with_kernels(const struct report_model *m, bool *alike)
{
    const struct run_kernel_code *k = m->details.kernels;
    size_t n = m->details.n_kernels > 0;
    *alike = true;
    for (size_t i = 1; i < m->details.n_kernels; i++) {
        n += k[i].variant != k[i - 1].variant;
        *alike &=
            strcmp(m->now.variants[k[i].variant].code_sha256, m->now.variants[k[0].variant].code_sha256) == 0;
    }
    return n;
}

/* The kernels to list. */
struct choice {
    const struct run_kernel_code **list; /* by variant, those with the most work in their loop first */
    size_t n, common;                    /* common: left out, as every variant has them */
};

/* kernels: of the same code. */
static void choose_some(const struct report_model *m, const struct run_kernel_code *const *kernels, size_t n,
                        struct choice *out)
{
    for (size_t i = 0; i < n; i++)
        if (kernel_facts_known(&kernels[i]->facts) && !shown_before(m, kernels[i]->variant))
            out->list[out->n++] = kernels[i];
}

static void choose(const struct report_model *m, struct choice *out)
{
    const struct run_details *d = &m->details;
    bool alike;
    size_t variants = with_kernels(m, &alike);
    AUTO_FREE const struct run_kernel_code **all = xcalloc(d->n_kernels, sizeof *all);
    out->list = xcalloc(d->n_kernels, sizeof *out->list);
    for (size_t i = 0; i < d->n_kernels; i++)
        all[i] = &d->kernels[i];
    items_sort(all, d->n_kernels, sizeof *all, by_hash);
    for (size_t i = 0, end; i < d->n_kernels; i = end) {
        size_t holders = 1;
        for (end = i + 1; end < d->n_kernels && strcmp(all[end]->sha256, all[i]->sha256) == 0; end++)
            holders += all[end]->variant != all[end - 1]->variant;
        if (alike || holders < variants)
            choose_some(m, all + i, end - i, out);
        else
            out->common += end - i;
    }
    items_sort(out->list, out->n, sizeof *out->list, by_variant);
}

static double count_of(int64_t n)
{
    return n == KERNEL_FACT_UNKNOWN ? (double)NAN : (double)n;
}

static void add_variant(const struct report_model *m, size_t variant, struct table *t)
{
    struct standing_range s = insight_standing(m, variant, m->reference);
    AUTO(buf_release) struct buf speed = {.max = PHRASE_MAX};
    if (variant == m->reference)
        phrase_factors(&speed, 1, 1);
    else if (s.contexts)
        phrase_factors(&speed, s.low, s.high);
    table_code(t, report_model_variant(m, variant));
    table_text(t, speed.len ? buf_str(&speed) : NUM_NONE);
}

static void add_numbers(struct table *t, double registers, double scratch, const int64_t *loop)
{
    double all = loop ? 0 : (double)NAN;
    for (size_t i = 0; loop && i < INSTRUCTION_CLASSES; i++)
        all += count_of(loop[i]);
    table_text(t, num_fixed(registers, 0).s);
    table_marked(t, num_fixed(scratch, 0).s, scratch > 0 ? MARK_BAD : MARK_NONE);
    table_text(t, num_fixed(all, 0).s);
    table_text(t, num_percent(loop ? count_of(loop[INSTRUCTION_MATRIX]) / all : all).s);
    table_text(t, num_fixed(loop ? count_of(loop[INSTRUCTION_LDS]) : all, 0).s);
    table_text(t, num_fixed(loop ? count_of(loop[INSTRUCTION_BARRIER]) : all, 0).s);
    table_text(t, num_fixed(loop ? count_of(loop[INSTRUCTION_WAIT]) : all, 0).s);
}

static void add_kernel(const struct report_model *m, const struct run_kernel_code *k, struct table *t)
{
    const int64_t *r = k->facts.resource;
    add_variant(m, k->variant, t);
    table_code(t, symbol_title(k->name).s);
    add_numbers(t, count_of(r[KERNEL_VGPRS]), count_of(r[KERNEL_SCRATCH_BYTES]), k->facts.hot_loop);
}

/* Whether another table has the resources of this kernel, of whatever shape. */
static bool has_resources(const struct report_model *m, size_t variant)
{
    for (size_t v = 0; v < m->now.n_variants; v++)
        if (m->resources[v].count && report_model_same(m, v, variant))
            return true;
    return false;
}

/* An import, or a folder of the B3.89 layout, has numbers of a build whose kernels nobody named. */
static void add_builds(const struct report_model *m, struct table *t)
{
    for (size_t v = 0; v < m->now.n_variants; v++) {
        const double *value = m->now.variants[v].value;
        if (has_resources(m, v) || (isnan(value[METRIC_VGPRS]) && isnan(value[METRIC_SCRATCH_BYTES])))
            continue;
        add_variant(m, v, t);
        table_text(t, NUM_NONE);
        add_numbers(t, value[METRIC_VGPRS], value[METRIC_SCRATCH_BYTES], NULL);
    }
}

static void add_titles(const struct report_model *m, struct table *t, enum report_lang lang)
{
    AUTO(buf_release) struct buf vs = {.max = PHRASE_MAX};
    message_plain(&vs, lang, MSG_COL_VS, run_data_reference_name(&m->now, m->reference));
    table_texts(t, lang, MSG_COL_VARIANT);
    table_column(t, buf_str(&vs), true);
    table_texts(t, lang, MSG_COL_KERNEL_SYMBOL);
    table_numbers(t, lang, MSG_COL_REGISTERS, MSG_COL_SCRATCH, MSG_COL_LOOP, MSG_COL_LOOP_MATRIX,
                  MSG_COL_LOOP_LDS, MSG_COL_LOOP_BARRIERS, MSG_COL_LOOP_WAITS);
}

/* What stands below the table. */
struct told {
    bool loops;         /* a row has a loop */
    size_t alike, less; /* kernels without a row: of the numbers of another's, and beyond KERNELS_OF_MAX */
};

static void write_notes(const struct choice *c, const struct told *told, struct md *w)
{
    if (c->n == 0)
        md_say(w, MSG_MACHINE_CODE_BUILDS);
    if (told->loops)
        md_say(w, MSG_MACHINE_CODE_LOOP);
    if (told->loops && c->common)
        md_say(w, MSG_MACHINE_CODE_COMMON);
    if (told->alike || told->less)
        md_say(w, MSG_MACHINE_CODE_LEFT, num_int((int64_t)told->alike).s, num_int((int64_t)told->less).s,
               num_int(KERNELS_OF_MAX).s);
    md_end(w);
}

static bool same_numbers(const struct run_kernel_code *a, const struct run_kernel_code *b)
{
    return a->facts.resource[KERNEL_VGPRS] == b->facts.resource[KERNEL_VGPRS] &&
           a->facts.resource[KERNEL_SCRATCH_BYTES] == b->facts.resource[KERNEL_SCRATCH_BYTES] &&
           memcmp(a->facts.hot_loop, b->facts.hot_loop, sizeof a->facts.hot_loop) == 0;
}

static void fill(const struct report_model *m, const struct choice *c, struct told *told, struct table *t)
{
    const struct run_kernel_code *shown[KERNELS_OF_MAX];
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++) {
        const struct run_kernel_code *k = c->list[i];
        bool alike = false;
        if (n && shown[0]->variant != k->variant)
            n = 0;
        for (size_t j = 0; j < n; j++)
            alike |= same_numbers(shown[j], k);
        told->alike += alike;
        told->less += !alike && n == KERNELS_OF_MAX;
        if (alike || n == KERNELS_OF_MAX)
            continue;
        shown[n++] = k;
        add_kernel(m, k, t);
        told->loops |= k->facts.hot_loop[INSTRUCTION_MATRIX] != KERNEL_FACT_UNKNOWN;
    }
    if (c->n == 0)
        add_builds(m, t);
}

void section_machine_code(const struct report_model *m, struct md *w)
{
    struct choice c = {0};
    struct told told = {0};
    AUTO(table_release) struct table t = {0};
    choose(m, &c);
    add_titles(m, &t, w->lang);
    fill(m, &c, &told, &t);
    table_drop_empty(&t, 1);
    if (table_rows(&t)) {
        md_heading(w, 2, MSG_H_MACHINE_CODE);
        md_table(w, &t);
        write_notes(&c, &told, w);
    }
    free(c.list);
}
