#include "executor/suite/settle.h"

#include <math.h>

static const int64_t recheck_ns = 20 * 1000000;

static void ask(struct settle *out, int64_t now_ns)
{
    out->asked = true;
    telemetry_ask(out->telemetry, now_ns);
    loop_arm(out->timer, out->telemetry->patience_ns, 0);
}

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

bool settle_begin(struct settle *out, double limit_s, int64_t now_ns)
{
    out->until_ns = now_ns + (int64_t)(limit_s * 1e9);
    ask(out, now_ns);
    return settle_turn(out, now_ns);
}

bool settle_turn(struct settle *out, int64_t now_ns)
{
    if (!out->asked && out->timer->ready)
        ask(out, now_ns);
    if (!out->asked || !telemetry_answered(out->telemetry, now_ns))
        return false;
    if (is_back(out) || now_ns >= out->until_ns)
        return true;
    out->asked = false;
    loop_arm(out->timer, now_ns + recheck_ns, 0);
    return false;
}
