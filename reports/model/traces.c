/* Traces: memory over time of each variant's largest context, for the plot. */
#include "common/base/alloc.h"
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

static void add_trace(struct report_model *m, const struct run_test *test, const struct samples *samples)
{
    const double *t = samples_column(samples, "t"), *vram = samples_column(samples, "vram_used"),
                 *rss = samples_column(samples, "rss");
    struct memory_trace *trace = &m->memory.traces[m->memory.n_traces];
    if (samples->count < 2 || !t || (!vram && !rss))
        return;
    *trace = (struct memory_trace){
        .variant = test->variant, .context = test->context, .vram = vram != NULL, .count = samples->count};
    trace->t = xmemdup(t, samples->count * sizeof *t);
    trace->bytes = xmemdup(vram ? vram : rss, samples->count * sizeof *t);
    m->memory.n_traces++;
}

int model_traces(struct report_model *m, struct err *err)
{
    m->memory.traces = xcalloc(m->now.n_variants, sizeof *m->memory.traces);
    for (size_t v = 0; v < m->now.n_variants; v++) {
        const struct run_test *test = largest_test(&m->now, v);
        AUTO(samples_release) struct samples samples = {0};
        if (!test)
            continue;
        if (samples_load(m->subject->store, test->key, &samples, err) != 0)
            return -1;
        add_trace(m, test, &samples);
    }
    return 0;
}
