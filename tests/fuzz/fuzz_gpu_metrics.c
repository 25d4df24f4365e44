/* amdgpu's gpu_metrics, of which 1.9 is a list that says itself how long its entries are. What is read is
 * a number or unknown.
 *
 * Two tables follow each other, as two readings do; the first is as long as its first two bytes say.
 */
#include "executor/telemetry/gpu_metrics.h"
#include "executor/telemetry/sample.h"
#include "tests/fuzz/fuzz.h"

#include <math.h>

static bool is_number_or_unknown(double v)
{
    return isnan(v) || (v >= 0 && isfinite(v));
}

static void check_table(const struct gpu_metrics *m)
{
    const double values[] = {m->power_w,     m->hotspot_c, m->memory_c, m->busy,
                             m->memory_busy, m->energy_j,  m->mclk_mhz};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        fuzz_check(is_number_or_unknown(values[i]));
    fuzz_check(m->dies == 0 || (m->sclk_low_mhz > 0 && m->sclk_low_mhz <= m->sclk_mhz + 1e-6));
    fuzz_check(m->partitions >= -1 && m->partitions <= GPU_METRICS_DIES);
    for (size_t i = 0; i < GPU_METRICS_DIES; i++)
        fuzz_check(isnan(m->partition_busy[i]) || sample_is_plausible(SAMPLE_GPU_BUSY, m->partition_busy[i]));
    for (size_t i = 0; i < GPU_METRICS_RESIDENCIES; i++)
        fuzz_check(m->residency[i].value <= m->residency[i].most || m->residency[i].most == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gpu_metrics before, now;
    unsigned reasons;
    size_t first = size >= 2 ? (size_t)data[0] + 256u * data[1] : size;
    first = first < size ? first : size;
    bool known = gpu_metrics_read(data, first, &before);
    bool both = gpu_metrics_read(data + first, size - first, &now) && known;
    if (known)
        check_table(&before);
    if (both) {
        check_table(&now);
        gpu_metrics_throttle(&before, &now, &reasons);
    }
    return 0;
}
