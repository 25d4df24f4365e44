/* Memory of each cell's tests: in use before, peak, in use after, and whether it was still growing at the
 * end. */
#include "common/base/alloc.h"
#include "reports/model/insight.h"
#include "reports/model/parts.h"
#include "results/store/samples.h"

#include <math.h>
#include <stdlib.h>

/* Where the test began to release its memory: after the last sample near the maximum of the second half. */
static size_t release_start(const double *bytes, size_t count)
{
    double most = 0;
    for (size_t i = count / 2; i < count; i++)
        most = fmax(most, bytes[i]);
    while (count && !(bytes[count - 1] >= 0.99 * most))
        count--;
    return count;
}

/* Least squares from the middle of the test, as the first half holds the loading, to where its memory is
 * released, in bytes per second. NaN for fewer than 8 samples. */
static double slope(const double *t, const double *bytes, size_t first, size_t end)
{
    size_t n = 0;
    double st = 0, sb = 0, stt = 0, stb = 0;
    for (size_t i = first; i < end; i++) {
        if (!isfinite(t[i]) || !isfinite(bytes[i]))
            continue;
        n++;
        st += t[i];
        sb += bytes[i];
    }
    if (n < 8)
        return (double)NAN;
    for (size_t i = first; i < end; i++) {
        if (!isfinite(t[i]) || !isfinite(bytes[i]))
            continue;
        stt += (t[i] - st / (double)n) * (t[i] - st / (double)n);
        stb += (t[i] - st / (double)n) * (bytes[i] - sb / (double)n);
    }
    return stt > 0 ? stb / stt : (double)NAN;
}

/* Any process grows by less than this while it starts. */
static const double growth_min = 64 << 20;

static void take_samples(struct memory_row *row, const struct samples *samples)
{
    const double *t = samples_column(samples, "t"), *vram = samples_column(samples, "vram_used"),
                 *rss = samples_column(samples, "rss");
    const double *bytes = vram ? vram : rss;
    if (!t || !bytes || samples->count == 0)
        return;
    size_t first = samples->count / 2, end = release_start(bytes, samples->count);
    double own = slope(t, bytes, first, end);
    double length = end > first ? t[end - 1] - t[first] : 0;
    row->slope = fmax(row->slope, own); /* fmax() ignores a NaN */
    double peak = vram ? row->vram_peak : row->rss_peak;
    row->growing |= own * length > 0.05 * peak && own * length > growth_min;
}

static int add_row(struct report_model *m, const struct cell *c, struct err *err)
{
    struct memory_row *row = &m->memory.cells[m->memory.count++];
    *row = (struct memory_row){.cell = c,
                               .vram_before = (double)NAN,
                               .vram_peak = c->median[METRIC_VRAM_PEAK],
                               .vram_after = (double)NAN,
                               .rss_peak = c->median[METRIC_RSS_PEAK],
                               .slope = (double)NAN};
    for (size_t i = c->first; i < c->first + c->count; i++) {
        const struct run_test *test = &m->now.tests[i];
        AUTO(samples_release) struct samples samples = {0};
        row->vram_before = fmin(row->vram_before, test->used.vram_before);
        row->vram_after = fmax(row->vram_after, test->used.vram_after);
        row->kept |=
            insight_memory_kept(test->used.vram_before, test->value[METRIC_VRAM_PEAK], test->used.vram_after);
        if (test->samples == 0)
            continue;
        if (samples_load(m->subject->store, test->key, &samples, err) != 0)
            return -1;
        take_samples(row, &samples);
    }
    return 0;
}

int model_memory(struct report_model *m, struct err *err)
{
    AUTO_FREE size_t *order = cells_by_context(&m->now);
    m->memory.cells = xcalloc(m->now.n_cells, sizeof *m->memory.cells);
    for (size_t k = 0; k < m->now.n_cells; k++)
        if (add_row(m, &m->now.cells[order[k]], err) != 0)
            return -1;
    return 0;
}
