#include "executor/run/precise.h"

#include "common/base/rank_interval.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double confidence = 0.95;

void precise_take(struct suite *s, size_t test, const struct precise_times *times)
{
    double *judged = &s->test[test].judged;
    *judged = times->wall_s;
    if (!isnan(times->kernel_ms))
        *judged = times->kernel_ms;
    if (!isnan(times->prefill_s))
        *judged = times->prefill_s;
    if (own_metrics_primary(&s->job.metrics))
        *judged = times->own;
}

static bool same_cell(const struct job_test *a, const struct job_test *b)
{
    return a->variant == b->variant && a->context == b->context;
}

/* On each GPU of its own, where the tests are repeated on several. */
static bool same_gpu(const struct job_test *a, const struct job_test *b)
{
    return a->gpu == b->gpu || (a->gpu && b->gpu && strcmp(a->gpu, b->gpu) == 0);
}

/* What the cell's measured repetitions were judged by. */
static size_t gather(const struct suite *s, const struct job_test *cell, double *out)
{
    size_t n = 0;
    for (size_t i = 0; i < s->job.test_count; i++) {
        const struct test_state *t = &s->test[i];
        if (same_cell(&s->job.test[i], cell) && same_gpu(&s->job.test[i], cell) && !s->job.test[i].warmup &&
            t->final && t->status == STATUS_OK && isfinite(t->judged))
            out[n++] = t->judged;
    }
    return n;
}

static bool is_precise(const struct suite *s, const struct job_test *t)
{
    struct rank_interval found;
    double *value = calloc(s->job.test_count, sizeof *value);
    size_t n = value ? gather(s, t, value) : 0;
    bool enough = n >= (size_t)t->least && rank_interval_of(value, n, confidence, &found) &&
                  found.median != 0 && (found.high - found.low) / 2 <= fabs(found.median) * t->until / 100;
    free(value);
    return enough;
}

bool precise_leaves_out(struct suite *s, size_t test)
{
    const struct job_test *t = &s->job.test[test];
    if (t->until <= 0 || t->warmup || s->test[test].attempts > 0 || !is_precise(s, t))
        return false;
    s->test[test].needless = true;
    s->needless++;
    eta_dropped(&s->eta, test);
    return true;
}
