#include "executor/telemetry/hang.h"

static const double busy_cpu_percent = 80;
static const double idle_gpu_percent = 5;
static const double growth_bytes = 1 << 20;

void hang_init(struct hang *h, double after_s)
{
    *h = (struct hang){.after_s = after_s, .since_s = -1};
}

static bool grew(double *level, const struct sample *s, enum sample_field field)
{
    if (!sample_has(s, field) || s->value[field] <= *level + growth_bytes)
        return false;
    *level = s->value[field];
    return true;
}

bool hang_feed(struct hang *h, const struct sample *s, uint64_t output_bytes)
{
    if (h->after_s <= 0 || !sample_has(s, SAMPLE_GPU_BUSY))
        return false;
    bool moved = output_bytes != h->output_bytes || s->value[SAMPLE_GPU_BUSY] > idle_gpu_percent ||
                 (sample_has(s, SAMPLE_CPU) && s->value[SAMPLE_CPU] < busy_cpu_percent && !s->runnable);
    h->output_bytes = output_bytes;
    moved |= grew(&h->rss, s, SAMPLE_RSS);
    moved |= grew(&h->vram, s, SAMPLE_VRAM_USED);
    if (moved)
        h->since_s = -1;
    else if (h->since_s < 0)
        h->since_s = s->t_s;
    return h->since_s >= 0 && s->t_s - h->since_s >= h->after_s;
}
