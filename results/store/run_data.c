#include "results/store/run_data.h"

#include "common/base/alloc.h"
#include "results/stats/stats.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t run_data_values(const struct run_data *r, const struct cell *c, enum metric m, double *out)
{
    size_t n = 0;
    for (size_t i = c->first; i < c->first + c->count; i++) {
        const struct run_test *t = &r->tests[i];
        if (!t->warmup && t->status == STATUS_OK && !isnan(t->value[m]))
            out[n++] = t->value[m];
    }
    return n;
}

/* A cell of which only warm-ups ran was not measured, even if they were OK. */
static void summarise_warmups(const struct run_data *r, struct cell *c)
{
    c->status = STATUS_SKIPPED;
    c->reason = "only its warm-ups ran";
    for (size_t i = c->first; i < c->first + c->count; i++)
        if (r->tests[i].status != STATUS_OK) {
            c->status = r->tests[i].status;
            c->reason = r->tests[i].reason;
            return;
        }
}

static void summarise(const struct run_data *r, struct cell *c, double *scratch)
{
    c->reason = c->attn_impl = "";
    c->status = STATUS_OK;
    for (size_t i = c->first; i < c->first + c->count; i++) {
        const struct run_test *t = &r->tests[i];
        c->timeout_s = t->timeout_s;
        if (t->warmup)
            continue;
        c->counted++;
        c->ok += t->status == STATUS_OK;
        if (!*c->attn_impl)
            c->attn_impl = t->attn_impl;
        if (t->status != STATUS_OK && c->status == STATUS_OK) {
            c->status = t->status;
            c->reason = t->reason;
        }
    }
    if (c->counted == 0)
        summarise_warmups(r, c);
    for (int m = 0; m < METRIC_COUNT; m++) {
        size_t n = run_data_values(r, c, (enum metric)m, scratch);
        static_assert(LIMIT_TESTS <= UINT16_MAX, "a cell may have all tests of a run");
        c->n[m] = (uint16_t)n;
        c->median[m] = stats_median(scratch, n);
    }
}

static bool same_cell(const struct run_test *a, const struct run_test *b)
{
    return a->variant == b->variant && a->context == b->context;
}

void run_data_make_cells(struct run_data *r)
{
    r->cells = xcalloc(r->n_tests, sizeof *r->cells);
    AUTO_FREE double *scratch = xmalloc(r->n_tests * sizeof *scratch);
    for (size_t i = 0, j; i < r->n_tests; i = j) {
        for (j = i + 1; j < r->n_tests && same_cell(&r->tests[i], &r->tests[j]);)
            j++;
        struct cell *c = &r->cells[r->n_cells++];
        *c = (struct cell){
            .variant = r->tests[i].variant, .context = r->tests[i].context, .first = i, .count = j - i};
        summarise(r, c, scratch);
    }
}

int run_check_comparable(const struct run_info *r, struct err *err)
{
    if (!*r->rejected)
        return 0;
    return err_set(err, ERR_INPUT,
                   "run %s is rejected (%.200s) and never compared: `kernsweep runs unreject %s` accepts it "
                   "again",
                   r->run_id, r->rejected, r->run_id);
}

bool run_test_has_tokens(const struct run_test *t)
{
    return strcmp(t->activity.window, "timed") == 0 &&
           (t->value[METRIC_TOKENIZE_S] > 0 || t->value[METRIC_DECODE_S] > 0);
}

void run_activity_init(struct run_activity *a)
{
    *a = (struct run_activity){
        .sclk_p5_mhz = NAN,
        .mclk_mhz = NAN,
        .mclk_p5_mhz = NAN,
        .power_w = NAN,
        .temp_c = NAN,
        .throttled_s = NAN,
        .throttle = "",
        .neighbours = RUN_UNKNOWN,
    };
}

void run_data_release(struct run_data *r)
{
    free(r->variants);
    free(r->by_name);
    free(r->tests);
    free(r->cells);
    free(r->unmeasured);
    free(r->carried);
    free(r->facts);
    *r = (struct run_data){0};
}

static int by_name(const void *a, const void *b, void *variants)
{
    const struct run_variant *v = variants;
    return strcmp(v[*(const size_t *)a].name, v[*(const size_t *)b].name);
}

void run_data_index(struct run_data *r)
{
    free(r->by_name);
    r->by_name = xcalloc(r->n_variants, sizeof *r->by_name);
    for (size_t i = 0; i < r->n_variants; i++)
        r->by_name[i] = i;
    if (r->n_variants > 0)
        qsort_r(r->by_name, r->n_variants, sizeof *r->by_name, by_name, r->variants);
    r->n_by_name = r->n_variants;
}

static const struct run_variant *search_names(const struct run_data *r, const char *name)
{
    for (size_t low = 0, high = r->n_variants; low < high;) {
        size_t mid = low + (high - low) / 2;
        const struct run_variant *v = &r->variants[r->by_name[mid]];
        int order = strcmp(name, v->name);
        if (order == 0)
            return v;
        if (order < 0)
            high = mid;
        else
            low = mid + 1;
    }
    return NULL;
}

const struct run_variant *run_data_variant(const struct run_data *r, const char *name)
{
    if (r->by_name && r->n_by_name == r->n_variants)
        return search_names(r, name);
    for (size_t i = 0; i < r->n_variants; i++)
        if (strcmp(r->variants[i].name, name) == 0)
            return &r->variants[i];
    return NULL;
}

const struct cell *run_data_cell(const struct run_data *r, const char *variant, int context)
{
    const struct run_variant *of = run_data_variant(r, variant);
    size_t v = of ? (size_t)(of - r->variants) : r->n_variants, low = 0, high = r->n_cells;
    while (low < high) { /* the first cell that is not before the one asked for */
        size_t mid = low + (high - low) / 2;
        const struct cell *c = &r->cells[mid];
        if (c->variant < v || (c->variant == v && c->context < context))
            low = mid + 1;
        else
            high = mid;
    }
    const struct cell *found = low < r->n_cells ? &r->cells[low] : NULL;
    return found && found->variant == v && found->context == context ? found : NULL;
}

const char *run_data_fact(const struct run_data *r, const char *key)
{
    for (size_t i = 0; i < r->n_facts; i++)
        if (strcmp(r->facts[i].key, key) == 0)
            return r->facts[i].value;
    return NULL;
}

void run_data_measured(const struct run_data *r, struct metric_set *set)
{
    for (size_t i = 0; i < r->n_cells; i++)
        for (int m = 0; m < METRIC_COUNT; m++)
            set->has[m] |= r->cells[i].n[m] > 0;
}

enum metric run_data_metric(const struct run_data *r)
{
    struct metric_set measured = {0};
    run_data_measured(r, &measured);
    return metric_primary(r->primary, &measured);
}

int run_data_reference(const struct run_data *r, const char *wanted, size_t *out, struct err *err)
{
    const char *name = wanted ? wanted : "baseline";
    const struct run_variant *v = run_data_variant(r, name);
    for (size_t i = 0; !v && i < r->n_variants; i++)
        v = strcmp(r->variants[i].kernel, name) == 0 ? &r->variants[i] : NULL;
    if (!v && wanted)
        return err_set(err, ERR_INPUT, "run %s has no variant \"%s\"", r->info.run_id, wanted);
    if (!v && r->n_variants == 0)
        return err_set(err, ERR_INPUT, "run %s has no variants", r->info.run_id);
    *out = v ? (size_t)(v - r->variants) : 0;
    return 0;
}

/* Whether the run has one kernel, at points of the plan's axes. */
static bool has_points_alone(const struct run_data *r)
{
    for (size_t i = 0; i < r->n_variants; i++)
        if (!*r->variants[i].axes || strcmp(r->variants[i].kernel, r->variants[0].kernel) != 0)
            return false;
    return r->n_variants > 0;
}

const char *run_data_reference_name(const struct run_data *r, size_t reference)
{
    const struct run_variant *v = &r->variants[reference];
    return *v->kernel && !has_points_alone(r) ? v->kernel : v->name;
}

size_t run_data_counterpart(const struct run_data *r, size_t variant, size_t reference)
{
    const struct run_variant *v = &r->variants[variant], *base = &r->variants[reference];
    size_t i = 0;
    if (strcmp(v->shape, base->shape) == 0 || has_points_alone(r))
        return reference;
    while (i < r->n_variants &&
           (strcmp(r->variants[i].kernel, base->kernel) != 0 || strcmp(r->variants[i].shape, v->shape) != 0))
        i++;
    return i;
}
