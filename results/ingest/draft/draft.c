#include "results/ingest/draft/draft.h"

#include "common/base/alloc.h"
#include "common/base/word.h"
#include "common/contract/own_metric.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void draft_init(struct draft *d)
{
    *d = (struct draft){.info = {.wall_s = NAN, .status = RUN_COMPLETE}};
}

void draft_release(struct draft *d)
{
    for (size_t i = 0; i < d->n_tests; i++) {
        free(d->tests[i].extras);
        free(d->tests[i].packed);
    }
    free(d->tests);
    free(d->variants);
    json_decref(d->places);
    free(d->facts);
    free(d->unmeasured);
    free(d->fingerprints);
    free(d->plan);
    details_release(&d->details);
    commit_list_release(&d->commits);
    counter_list_release(&d->counters);
    draft_init(d);
}

struct run_variant *draft_add_variant(struct draft *d, const char *name, struct err *err)
{
    if (d->n_variants == DRAFT_VARIANTS_MAX) {
        err_set(err, ERR_INPUT, "more than %d variants: import parts of the file as runs of their own",
                DRAFT_VARIANTS_MAX);
        return NULL;
    }
    ALLOC_GROW(d->variants, d->n_variants + 1, d->cap_variants);
    if (!d->places)
        d->places = json_object();
    json_object_set_new(d->places, name, json_integer((json_int_t)d->n_variants));
    struct run_variant *v = &d->variants[d->n_variants++];
    *v = (struct run_variant){.status = STATUS_OK, .build_wall_s = NAN};
    for (int m = 0; m < METRIC_COUNT; m++)
        v->value[m] = NAN;
    snprintf(v->name, sizeof v->name, "%s", name);
    return v;
}

size_t draft_variant(const struct draft *d, const char *name)
{
    const json_t *place = json_object_get(d->places, name);
    return place ? (size_t)json_integer_value(place) : d->n_variants;
}

static void clear_test(struct run_test *t)
{
    *t = (struct run_test){
        .status = STATUS_OK,
        .reason = "",
        .gpu = "",
        .host = "",
        .index = RUN_UNKNOWN,
        .exit_code = RUN_UNKNOWN,
        .signal = RUN_UNKNOWN,
        .prompt_tokens = RUN_UNKNOWN,
        .samples = RUN_UNKNOWN,
        .beside = RUN_UNKNOWN,
        .compiled = RUN_UNKNOWN,
        .timeout_s = NAN,
        .used = {NAN, NAN, NAN, NAN, NAN},
    };
    run_activity_init(&t->activity);
    for (int m = 0; m < METRIC_COUNT; m++)
        t->value[m] = NAN;
}

struct draft_test *draft_add_test(struct draft *d, struct err *err)
{
    if (d->n_tests == LIMIT_TESTS) {
        err_set(err, ERR_INPUT, "more than %d tests: import parts of the file as runs of their own",
                LIMIT_TESTS);
        return NULL;
    }
    ALLOC_GROW(d->tests, d->n_tests + 1, d->cap_tests);
    struct draft_test *t = &d->tests[d->n_tests++];
    *t = (struct draft_test){0};
    clear_test(&t->t);
    return t;
}

void draft_drop_test(struct draft *d)
{
    struct draft_test *t = &d->tests[--d->n_tests];
    free(t->extras);
    free(t->packed);
}

int draft_add_extra(struct draft_test *t, const char *name, double value, struct err *err)
{
    if (!isfinite(value))
        return 0;
    if (!t->extras)
        t->extras = xcalloc(DRAFT_EXTRAS_MAX, sizeof *t->extras);
    if (t->n_extras == DRAFT_EXTRAS_MAX)
        return err_set(err, ERR_INPUT, "more than %d additional numbers in a test", DRAFT_EXTRAS_MAX);
    struct draft_extra *e = &t->extras[t->n_extras++];
    snprintf(e->name, sizeof e->name, "%s", name);
    e->value = value;
    return 0;
}

int draft_read_metrics(struct draft *d, const struct json_at *at, enum document in, struct err *err)
{
    struct own_metrics own;
    if (own_metrics_read(&own, at, in, err) != 0)
        return -1;
    for (size_t i = 0; i < own.count; i++) {
        const struct own_metric *from = &own.item[i];
        struct metric_definition *m = &d->metrics[d->n_metrics++];
        *m = (struct metric_definition){.better =
                                            strcmp(from->better, "more") == 0 ? METRIC_MORE : METRIC_LESS,
                                        .least = from->least,
                                        .primary = from->primary};
        snprintf(m->name, sizeof m->name, "%s", from->name);
        snprintf(m->unit, sizeof m->unit, "%s", from->unit);
    }
    return 0;
}

void draft_set_samples(struct draft_test *t, const struct samples *samples)
{
    struct buf packed = {.max = SIZE_MAX / 2};
    samples_pack(samples, &packed);
    t->packed_samples = (int)samples->count;
    t->packed_len = packed.len;
    t->packed = buf_steal(&packed);
    if (t->t.samples == RUN_UNKNOWN)
        t->t.samples = (int)samples->count;
}

void draft_add_unmeasured(struct draft *d, const char *variant, int context)
{
    ALLOC_GROW(d->unmeasured, d->n_unmeasured + 1, d->cap_unmeasured);
    struct run_unmeasured *u = &d->unmeasured[d->n_unmeasured++];
    snprintf(u->variant, sizeof u->variant, "%s", variant);
    u->context = context;
}

struct draft_fingerprint *draft_add_fingerprint(struct draft *d)
{
    ALLOC_GROW(d->fingerprints, d->n_fingerprints + 1, d->cap_fingerprints);
    struct draft_fingerprint *f = &d->fingerprints[d->n_fingerprints++];
    *f = (struct draft_fingerprint){.variant = ""};
    return f;
}

int draft_add_fact(struct draft *d, const char *key, const char *value, struct err *err)
{
    if (!*value)
        return 0;
    if (d->n_facts == DRAFT_FACTS_MAX)
        return err_set(err, ERR_INPUT, "more than %d facts about the node", DRAFT_FACTS_MAX);
    ALLOC_GROW(d->facts, d->n_facts + 1, d->cap_facts);
    struct run_fact *f = &d->facts[d->n_facts++];
    snprintf(f->key, sizeof f->key, "%s", key);
    snprintf(f->value, sizeof f->value, "%s", value);
    return 0;
}

void draft_warn(struct draft *d, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    if (d->warnings++ == 0)
        vsnprintf(d->warning, sizeof d->warning, fmt, ap);
    va_end(ap);
}

int draft_leave_out(struct draft *d, struct err *err)
{
    if (err->kind != ERR_INPUT)
        return -1;
    draft_warn(d, "%.400s: left out", err->msg);
    *err = (struct err){0};
    return 0;
}

static int by_place(const void *a, const void *b)
{
    const struct run_test *x = &((const struct draft_test *)a)->t, *y = &((const struct draft_test *)b)->t;
    if (x->variant != y->variant)
        return x->variant < y->variant ? -1 : 1;
    if (x->context != y->context)
        return x->context < y->context ? -1 : 1;
    return (x->repetition > y->repetition) - (x->repetition < y->repetition);
}

static int by_key(const void *a, const void *b)
{
    return strcmp(((const struct run_fact *)a)->key, ((const struct run_fact *)b)->key);
}

static bool defines(const struct draft *d, const char *name)
{
    for (size_t i = 0; i < d->n_metrics; i++)
        if (strcmp(d->metrics[i].name, name) == 0)
            return true;
    return false;
}

/* Whether the test has a value of a judged metric or of one that the run defines, or, if imported, of any. */
static bool has_measured(const struct draft *d, const struct draft_test *t)
{
    bool imported = strcmp(d->info.origin, "import") == 0;
    for (int m = 0; m < METRIC_BUILT_IN; m++)
        if (imported ? !isnan(t->t.value[m]) : metric_is_judged((enum metric)m) && t->t.value[m] > 0)
            return true;
    for (size_t i = 0; i < t->n_extras; i++)
        if (defines(d, t->extras[i].name))
            return true;
    return false;
}

/* If no test of a bundle printed what runs are judged by, the wall time is its metric. The executor has
 * checked whether the plan allows that. */
static bool is_by_wall(const struct draft *d)
{
    if (strcmp(d->info.origin, "bundle") != 0)
        return false;
    for (size_t i = 0; i < d->n_tests; i++)
        if (d->tests[i].t.status == STATUS_OK && has_measured(d, &d->tests[i]))
            return false;
    return true;
}

static void warn_test(struct draft *d, const struct run_test *t, const char *what)
{
    draft_warn(d, "%s, context %d, repetition %d: %s", d->variants[t->variant].name, t->context,
               t->repetition, what);
}

/* Only results of other tools need this: the executor does it to its own tests. */
static void leave_out_impossible(struct draft *d, struct run_test *t)
{
    for (int m = 0; m < METRIC_BUILT_IN; m++) {
        const struct metric_info *info = metric_info((enum metric)m);
        char what[128];
        if (info->kind != METRIC_OF_TEST ||
            metric_is_possible((enum metric)m, t->value[m], t->value[METRIC_WALL_S]))
            continue;
        snprintf(what, sizeof what, "%s of %g %s is longer than the wall time of %g s; left out", info->name,
                 t->value[m], info->unit, t->value[METRIC_WALL_S]);
        warn_test(d, t, what);
        t->value[m] = NAN;
    }
}

/* Other tools, and the executor of B3.89, do not report such tests as INVALID; their zeros must not win
 * comparisons. */
static void disbelieve_empty(struct draft *d, struct draft_test *test, bool by_wall)
{
    struct run_test *t = &test->t;
    if (strcmp(d->info.origin, "bundle") != 0)
        leave_out_impossible(d, t);
    bool measured = has_measured(d, test) || (by_wall && t->value[METRIC_WALL_S] > 0);
    for (int m = 0; m < METRIC_BUILT_IN; m++)
        if (metric_info((enum metric)m)->positive && !(t->value[m] > 0))
            t->value[m] = NAN;
    if (t->status != STATUS_OK || measured)
        return;
    t->status = STATUS_INVALID;
    t->reason =
        word("status OK without timings (no prefill_s, kernel_ms or metric of the plan's own above 0)");
    warn_test(d, t, t->reason);
}

int draft_finish(struct draft *d, struct err *err)
{
    if (d->n_tests)
        qsort(d->tests, d->n_tests, sizeof *d->tests, by_place);
    if (d->n_facts)
        qsort(d->facts, d->n_facts, sizeof *d->facts, by_key);
    bool by_wall = is_by_wall(d);
    for (size_t i = 0; i < d->n_tests; i++) {
        struct run_test *t = &d->tests[i].t;
        struct run_variant *v = &d->variants[t->variant];
        if (i && by_place(&d->tests[i - 1], &d->tests[i]) == 0)
            return err_set(err, ERR_INPUT, "duplicate result for %s, context %d, repetition %d", v->name,
                           t->context, t->repetition);
        disbelieve_empty(d, &d->tests[i], by_wall);
        if (!*v->attn_impl)
            snprintf(v->attn_impl, sizeof v->attn_impl, "%s", t->attn_impl);
    }
    return 0;
}
