#include "executor/run/settle.h"

#include "common/base/clock.h"

#include <math.h>

static const int64_t recheck_ns = 20 * 1000000;

static bool is_back(struct settle *out, struct suite *s)
{
    struct sample now;
    telemetry_read_fresh(&s->telemetry, &now);
    if (!out->looked)
        out->end = now;
    out->looked = true;
    out->after = now.value[SAMPLE_VRAM_USED];
    out->back = isnan(out->before) || isnan(out->after) ||
                out->after <= out->before + (double)s->job.settings.vram_tolerance_bytes;
    return out->back;
}

void settle_wait(struct settle *out, struct suite *s, const struct sample *before)
{
    struct loop_events events;
    int64_t now = clock_mono_ns(), deadline = now + (int64_t)(s->job.settings.vram_settle_s * 1e9);
    out->before = before->value[SAMPLE_VRAM_USED];
    if (is_back(out, s))
        return;
    loop_arm(&s->loop, LOOP_GRACE, now + recheck_ns, recheck_ns);
    while (clock_mono_ns() < deadline && loop_wait(&s->loop, &events, NULL) == 0) {
        if (events.ready[LOOP_GRACE] && is_back(out, s))
            break;
    }
    loop_arm(&s->loop, LOOP_GRACE, 0, 0);
}
