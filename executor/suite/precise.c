#include "executor/suite/precise.h"

#include "common/base/alloc.h"
#include "common/base/rank_interval.h"

#include <math.h>
#include <string.h>

static const double confidence = 0.95;

void precise_take(struct suite *s, size_t test, double kernel_ms)
{
    struct test_state *t = &s->test[test];
    if (own_metrics_primary(&s->job.metrics))
        t->judged = t->own;
    else if (!isnan(t->prefill_s))
        t->judged = t->prefill_s;
    else
        t->judged = isnan(kernel_ms) ? t->wall_s : kernel_ms;
}

static bool same_cell(const struct job_test *a, const struct job_test *b)
{
    return a->variant == b->variant && a->context == b->context;
}

/* Returns the first GPU of a lane, or NULL. */
static const char *gpu_of(const struct lane *lane)
{
    return json_string_value(json_array_get(lane->ids, 0));
}

/* A cell may move to another GPU during a run, and `every` repeats it on several: values of two GPUs are no
 * sample of one median. */
static bool ran_on(const struct test_state *t, const struct lane *lane)
{
    const char *a = t->lane ? gpu_of(t->lane) : t->ran_on, *b = gpu_of(lane);
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Gathers what the cell's measured repetitions on that lane's GPUs were judged by. */
static size_t gather(const struct suite *s, const struct lane *lane, const struct job_test *cell, double *out)
{
    size_t n = 0;
    for (size_t i = 0; i < s->job.test_count; i++) {
        const struct test_state *t = &s->test[i];
        if (same_cell(&s->job.test[i], cell) && ran_on(t, lane) && !s->job.test[i].warmup && t->final &&
            t->status == STATUS_OK && isfinite(t->judged))
            out[n++] = t->judged;
    }
    return n;
}

static bool is_precise(const struct suite *s, const struct lane *lane, const struct job_test *t)
{
    struct rank_interval found;
    AUTO_FREE double *value = xcalloc(s->job.test_count, sizeof *value);
    size_t n = gather(s, lane, t, value);
    return n >= (size_t)t->least && rank_interval_of(value, n, confidence, &found) && found.median != 0 &&
           (found.high - found.low) / 2 <= fabs(found.median) * t->until / 100;
}

bool precise_leaves_out(struct suite *s, const struct lane *lane, size_t test)
{
    const struct job_test *t = &s->job.test[test];
    if (t->until <= 0 || t->warmup || s->test[test].attempts > 0 || !is_precise(s, lane, t))
        return false;
    s->test[test].needless = true;
    s->needless++;
    eta_dropped(&s->eta, test);
    return true;
}
