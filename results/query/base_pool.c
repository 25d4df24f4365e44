#include "results/query/base_pool.h"

#include "results/store/run_load.h"

#include <stdlib.h>
#include <string.h>

static int no_memory(struct err *err)
{
    return err_set(err, ERR_INTERNAL, "no memory for the baseline's runs");
}

static void copy(void *to, const void *from, size_t bytes)
{
    if (bytes > 0)
        memcpy(to, from, bytes);
}

/* What the comparison reads; what else a run has is the base's own. */
static int begin(const struct run_data *base, struct run_data *out, struct err *err)
{
    *out = (struct run_data){.info = base->info, .primary = base->primary};
    out->variants = calloc(base->n_variants + 1, sizeof *out->variants);
    out->tests = calloc(base->n_tests + 1, sizeof *out->tests);
    out->facts = calloc(base->n_facts + 1, sizeof *out->facts);
    if (!out->variants || !out->tests || !out->facts)
        return no_memory(err);
    copy(out->variants, base->variants, base->n_variants * sizeof *out->variants);
    copy(out->tests, base->tests, base->n_tests * sizeof *out->tests);
    copy(out->facts, base->facts, base->n_facts * sizeof *out->facts);
    out->n_variants = base->n_variants;
    out->n_tests = base->n_tests;
    out->n_facts = base->n_facts;
    return 0;
}

static bool is_measurement(const struct run_test *t)
{
    return !t->warmup && t->status == STATUS_OK;
}

/* Only what the other run measured: that it failed there is no matter of the base. */
static int add_run(const struct run_data *base, const struct run_data *other, struct run_data *out,
                   struct err *err)
{
    struct run_test *grown = realloc(out->tests, (out->n_tests + other->n_tests + 1) * sizeof *grown);
    if (!grown)
        return no_memory(err);
    out->tests = grown;
    for (size_t i = 0; i < other->n_tests; i++) {
        const struct run_test *t = &other->tests[i];
        const char *name = other->variants[t->variant].name;
        if (!is_measurement(t) || !run_data_cell(base, name, t->context))
            continue;
        grown[out->n_tests] = *t;
        grown[out->n_tests++].variant = (size_t)(run_data_variant(base, name) - base->variants);
    }
    return 0;
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

static int add_runs(struct store *s, const struct run_data *base, const int64_t *runs, size_t n_runs,
                    int64_t now, struct run_data *out, struct err *err)
{
    for (size_t i = 0; i < n_runs; i++) {
        struct run_data other;
        if (runs[i] == base->info.key || runs[i] == now)
            continue;
        if (run_data_load(s, runs[i], &other, err) != 0)
            return -1;
        int rc = add_run(base, &other, out, err);
        run_data_release(&other);
        if (rc != 0)
            return -1;
    }
    return 0;
}

int base_pool(struct store *s, const struct run_data *base, const int64_t *runs, size_t n_runs, int64_t now,
              struct run_data *out, struct err *err)
{
    int rc = begin(base, out, err);
    if (rc == 0)
        rc = add_runs(s, base, runs, n_runs, now, out, err);
    if (rc == 0 && out->n_tests > 0)
        qsort(out->tests, out->n_tests, sizeof *out->tests, by_cell);
    if (rc == 0)
        rc = run_data_make_cells(out, err);
    if (rc != 0)
        run_data_release(out);
    return rc;
}
