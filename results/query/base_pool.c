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

static bool was_carried(const struct run_data *base, const char *variant, int context)
{
    for (size_t i = 0; i < base->n_carried; i++)
        if (!base->carried[i].budget && base->carried[i].context == context &&
            strcmp(base->carried[i].variant, variant) == 0)
            return true;
    return false;
}

/* Whether the values of other runs are added to a cell: to any, or with gaps_only where the base has none. */
static bool is_wanted(const struct base_pool_request *r, const char *variant, int context)
{
    if (r->carried_only)
        return was_carried(r->base, variant, context);
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

static bool is_between(const struct run_data *out, size_t first, size_t end, const struct run_test *t)
{
    for (size_t i = first; i < end; i++)
        if (out->tests[i].variant == t->variant && out->tests[i].context == t->context)
            return true;
    return false;
}

/* Adds only what the other run measured: its failures do not concern the base. */
static void add_run(const struct base_pool_request *r, const struct run_data *other, struct run_data *out)
{
    size_t earlier = out->n_tests;
    out->tests = xrealloc(out->tests, (out->n_tests + other->n_tests + 1) * sizeof *out->tests);
    for (size_t i = 0; i < other->n_tests; i++) {
        const struct run_test *t = &other->tests[i];
        const struct run_variant *v = &other->variants[t->variant];
        if (!is_measurement(t) || !is_wanted(r, v->name, t->context))
            continue;
        struct run_test *added = &out->tests[out->n_tests];
        *added = *t;
        added->variant = find_variant(out, v);
        if (!r->carried_only || !is_between(out, r->base->n_tests, earlier, added))
            out->n_tests++;
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

/* Nor does a failure of the newest run concern the base if another run has a value. */
static void drop_failures(const struct run_data *base, struct run_data *out)
{
    size_t kept = 0;
    for (size_t i = 0; i < out->n_tests; i++) {
        const struct run_test *t = &out->tests[i];
        if (i >= base->n_tests || is_ok(base, out->variants[t->variant].name, t->context) ||
            !is_between(out, base->n_tests, out->n_tests, t))
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

int base_pool_carried(struct store *s, const struct run_data *base, int64_t **runs, size_t *n_runs,
                      struct err *err)
{
    SQL_STMT stmt = sql_prepare_int(
        s,
        "SELECT r.id FROM run r WHERE r.id IN (SELECT (SELECT m.run_id FROM fingerprint m"
        " JOIN run o ON o.id = m.run_id WHERE o.node = b.node AND o.ticket = b.ticket AND o.mode = b.mode"
        " AND o.purpose = 'sweep' AND o.rejected_at IS NULL AND m.variant = f.variant"
        " AND m.context_len = f.context_len AND m.sha256 = f.sha256 AND m.left_out IS NULL"
        " AND (o.ordered_at, o.id) < (b.ordered_at, b.id) ORDER BY o.ordered_at DESC, o.id DESC LIMIT 1)"
        " FROM fingerprint f JOIN run b ON b.id = f.run_id"
        " WHERE f.run_id = :run AND f.left_out = 'unchanged') ORDER BY r.ordered_at DESC, r.id DESC",
        ":run", base->info.key, err);
    size_t cap = 0;
    int rc;
    *n_runs = 0;
    *runs = NULL;
    while ((rc = sql_step(stmt, err)) > 0) {
        ALLOC_GROW(*runs, *n_runs + 1, cap);
        (*runs)[(*n_runs)++] = sql_col_int(stmt, "id", 0);
    }
    return rc;
}
