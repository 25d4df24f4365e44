#include "executor/run/settle.h"

#include "common/base/clock.h"

#include <math.h>

static const int64_t recheck_ns = 20 * 1000000;

static bool is_back(struct settle *out)
{
    struct sample now;
    telemetry_read_fresh(out->telemetry, &now);
    if (!out->looked)
        out->end = now;
    out->looked = true;
    out->after = now.value[SAMPLE_VRAM_USED];
    out->back = isnan(out->before) || isnan(out->after) || out->after <= out->before + out->tolerance;
    return out->back;
}

bool settle_begin(struct settle *out, struct loop_watch *timer, double limit_s)
{
    int64_t now = clock_mono_ns();
    out->until_ns = now + (int64_t)(limit_s * 1e9);
    if (is_back(out) || limit_s <= 0)
        return true;
    loop_arm(timer, now + recheck_ns, recheck_ns);
    return false;
}

bool settle_turn(struct settle *out, int64_t now_ns)
{
    return is_back(out) || now_ns >= out->until_ns;
}
