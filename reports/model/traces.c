/* Traces: memory over time of each variant's largest context, for the plot. */
#include "reports/model/parts.h"
#include "results/store/samples.h"

#include <stdlib.h>
#include <string.h>

/* The first counted OK test of the variant's largest context that has one; NULL without one. */
static const struct run_test *largest_test(const struct run_data *run, size_t variant)
{
    const struct run_test *found = NULL;
    for (size_t i = 0; i < run->n_tests; i++) {
        const struct run_test *t = &run->tests[i];
        if (t->variant == variant && t->status == STATUS_OK && !t->warmup &&
            (!found || t->context > found->context))
            found = t;
    }
    return found;
}

static double *copy_values(const double *values, size_t count)
{
    double *own = calloc(count, sizeof *own);
    return own ? memcpy(own, values, count * sizeof *own) : NULL;
}

static int add_trace(struct report_model *m, const struct run_test *test, const struct samples *samples,
                     struct err *err)
{
    const double *t = samples_column(samples, "t"), *vram = samples_column(samples, "vram_used"),
                 *rss = samples_column(samples, "rss");
    struct memory_trace *trace = &m->traces[m->n_traces];
    if (samples->count < 2 || !t || (!vram && !rss))
        return 0;
    *trace = (struct memory_trace){
        .variant = test->variant, .context = test->context, .vram = vram != NULL, .count = samples->count};
    trace->t = copy_values(t, samples->count);
    trace->bytes = copy_values(vram ? vram : rss, samples->count);
    m->n_traces++;
    return trace->t && trace->bytes ? 0 : err_set(err, ERR_INTERNAL, "report: memory is short");
}

int model_traces(struct report_model *m, struct err *err)
{
    int rc = 0;
    m->traces = calloc(m->now.n_variants, sizeof *m->traces);
    if (!m->traces)
        return err_set(err, ERR_INTERNAL, "report: memory is short");
    for (size_t v = 0; rc == 0 && v < m->now.n_variants; v++) {
        const struct run_test *test = largest_test(&m->now, v);
        struct samples samples;
        if (!test)
            continue;
        samples_init(&samples);
        rc = samples_load(m->subject->store, test->key, &samples, err);
        if (rc == 0)
            rc = add_trace(m, test, &samples, err);
        samples_release(&samples);
    }
    return rc;
}
