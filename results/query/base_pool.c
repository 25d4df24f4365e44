#include "results/query/base_pool.h"

#include "common/base/alloc.h"
#include "results/store/run_load.h"

#include <stdlib.h>
#include <string.h>

/* Copies what a comparison reads; the rest stays with the base. */
static struct run_data copy_of(const struct run_data *base)
{
    return (struct run_data){
        .info = base->info,
        .primary = base->primary,
        .variants = xmemdup(base->variants, base->n_variants * sizeof *base->variants),
        .n_variants = base->n_variants,
        .tests = xmemdup(base->tests, base->n_tests * sizeof *base->tests),
        .n_tests = base->n_tests,
        .facts = xmemdup(base->facts, base->n_facts * sizeof *base->facts),
        .n_facts = base->n_facts,
    };
}

static bool is_measurement(const struct run_test *t)
{
    return !t->warmup && t->status == STATUS_OK;
}

static bool is_ok(const struct run_data *base, const char *variant, int context)
{
    const struct cell *c = run_data_cell(base, variant, context);
    return c && c->status == STATUS_OK;
}

/* A cell that the run neither measured nor was to measure is not missing. */
static bool is_due(const struct run_data *now, const char *variant, int context)
{
    if (run_data_cell(now, variant, context))
        return true;
    for (size_t i = 0; i < now->n_unmeasured; i++)
        if (now->unmeasured[i].context == context && strcmp(now->unmeasured[i].variant, variant) == 0)
            return true;
    return false;
}

/* Whether the values of other runs are added to a cell: to any, or with gaps_only where the base has none. */
static bool is_wanted(const struct base_pool_request *r, const char *variant, int context)
{
    if (is_ok(r->base, variant, context))
        return !r->gaps_only;
    return run_data_cell(r->base, variant, context) || is_due(r->now, variant, context);
}

/* The index of the variant, which is added if it is new. */
static size_t find_variant(struct run_data *out, const struct run_variant *v)
{
    const struct run_variant *known = run_data_variant(out, v->name);
    if (known)
        return (size_t)(known - out->variants);
    out->variants = xrealloc(out->variants, (out->n_variants + 1) * sizeof *out->variants);
    out->variants[out->n_variants] = *v;
    return out->n_variants++;
}

/* Adds only what the other run measured: its failures do not concern the base. */
static void add_run(const struct base_pool_request *r, const struct run_data *other, struct run_data *out)
{
    out->tests = xrealloc(out->tests, (out->n_tests + other->n_tests + 1) * sizeof *out->tests);
    for (size_t i = 0; i < other->n_tests; i++) {
        const struct run_test *t = &other->tests[i];
        const struct run_variant *v = &other->variants[t->variant];
        if (!is_measurement(t) || !is_wanted(r, v->name, t->context))
            continue;
        out->tests[out->n_tests] = *t;
        out->tests[out->n_tests++].variant = find_variant(out, v);
    }
}

static int by_cell(const void *a, const void *b)
{
    const struct run_test *x = a, *y = b;
    if (x->variant != y->variant)
        return x->variant < y->variant ? -1 : 1;
    if (x->context != y->context)
        return x->context < y->context ? -1 : 1;
    return (x->key > y->key) - (x->key < y->key);
}

static int add_runs(struct store *s, const struct base_pool_request *r, struct run_data *out, struct err *err)
{
    for (size_t i = 0; i < r->n_runs; i++) {
        struct run_data other;
        if (r->runs[i] == r->base->info.key || r->runs[i] == r->now->info.key)
            continue;
        if (run_data_load(s, r->runs[i], &other, err) != 0)
            return -1;
        add_run(r, &other, out);
        run_data_release(&other);
    }
    return 0;
}

static bool is_added(const struct run_data *out, size_t first_added, const struct run_test *t)
{
    for (size_t i = first_added; i < out->n_tests; i++)
        if (out->tests[i].variant == t->variant && out->tests[i].context == t->context)
            return true;
    return false;
}

/* Nor does a failure of the newest run concern the base if another run has a value. */
static void drop_failures(const struct run_data *base, struct run_data *out)
{
    size_t kept = 0;
    for (size_t i = 0; i < out->n_tests; i++) {
        const struct run_test *t = &out->tests[i];
        if (i >= base->n_tests || is_ok(base, out->variants[t->variant].name, t->context) ||
            !is_added(out, base->n_tests, t))
            out->tests[kept++] = *t;
    }
    out->n_tests = kept;
}

int base_pool(struct store *s, const struct base_pool_request *r, struct run_data *out, struct err *err)
{
    *out = copy_of(r->base);
    if (add_runs(s, r, out, err) != 0) {
        run_data_release(out);
        return -1;
    }
    drop_failures(r->base, out);
    if (out->n_tests > 0)
        qsort(out->tests, out->n_tests, sizeof *out->tests, by_cell);
    run_data_make_cells(out);
    return 0;
}
