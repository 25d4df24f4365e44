#include "executor/run/gpu_idle.h"

#include "common/base/clock.h"

#include <math.h>

/* The driver tells the load of a run that has just ended up to lag_s later. */
static const double window_s = 2, lag_s = 1, look_s = 0.1, busy_percent = 10;

static void open_telemetry(struct telemetry *t, struct suite *s)
{
    const struct telemetry_target target = {.layout = s->layout, .nvml = &s->nvml};
    const char *ids[TELEMETRY_GPUS_MAX + 1];
    size_t count = 0;
    for (size_t g = 0; g < s->gpus.count; g++)
        for (size_t i = 0; i < s->gpus.group[g].count && count <= TELEMETRY_GPUS_MAX; i++)
            ids[count++] = s->gpus.group[g].name[i];
    telemetry_open(t, &target, ids, count);
}

/* Gives the greatest load that was seen; NaN: none is known. Returns whether the GPUs were idle at last. */
static int watch(struct suite *s, struct telemetry *t, double *load, struct err *err)
{
    const double wait_s = s->job.settings.lock_wait_s;
    int64_t began = clock_mono_ns(), until = began + (int64_t)((window_s + lag_s + wait_s) * 1e9);
    bool told = wait_s <= 0;
    for (int64_t now = began, since = began; !s->loop.stop; now = clock_mono_ns()) {
        struct sample at;
        telemetry_read(t, (double)(now - began) * 1e-9, &at);
        double busy = at.value[SAMPLE_GPU_BUSY];
        *load = busy > *load || isnan(*load) ? busy : *load;
        if (isnan(*load) || (double)(now - since) * 1e-9 >= window_s)
            return 1;
        if (now >= until)
            return 0;
        if (busy >= busy_percent)
            since = now;
        if (!told && (double)(now - began) * 1e-9 > window_s) {
            told = true;
            if (suite_note(s, err, "waiting up to %g s for idle GPUs: another program uses them", wait_s) !=
                0)
                return -1;
        }
        if (loop_wait_for(&s->loop, NULL, now + (int64_t)(look_s * 1e9), err) != 0)
            return -1;
    }
    return 0;
}

int gpu_idle_await(struct suite *s, char *reason, struct err *err)
{
    bool must = s->job.purpose == PURPOSE_AB;
    struct telemetry t;
    double load = NAN;
    if (s->gpus.count == 0 || s->job.test_count == 0 ||
        (!must && (s->job.purpose != PURPOSE_SWEEP || s->job.settings.lock_wait_s <= 0)))
        return 1;
    open_telemetry(&t, s);
    int idle = watch(s, &t, &load, err);
    telemetry_close(&t);
    if (idle != 0 || s->loop.stop)
        return idle;
    reason_set(reason,
               "the GPUs were never idle for %g s: another program uses them, with a load of up to %.0f %%",
               window_s, load);
    return must ? 0 : suite_note(s, err, "%s", reason) != 0 ? -1 : 1;
}
