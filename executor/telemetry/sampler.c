#include "executor/telemetry/sampler.h"

#include "executor/workdir/held.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* Reading the clock of a thread is a system call, so only one sample in TIMED_EVERY is timed. The number is
 * prime, so that samples that have more to read, such as every tenth, are timed as often as others. */
enum { TIMED_EVERY = 7 };
enum { FLUSH_BYTES = 64 << 10, TEXT_MAX = 128 << 10, ROWS_A_STRIDE = 50000 };

static double thread_cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int sampler_open(struct sampler *s, struct telemetry *telemetry, const char *dir, struct err *err)
{
    *s = (struct sampler){.telemetry = telemetry, .fd = -1, .stride = 1};
    buf_init(&s->text, TEXT_MAX);
    for (int i = 0; i < SAMPLE_FIELDS; i++)
        s->peak[i] = NAN;
    if (fs_join(s->path, err, dir, "vram_samples.jsonl") != 0 ||
        fs_join(s->part, err, dir, ".vram_samples.jsonl.part") != 0)
        return -1;
    s->fd = held_create(s->part);
    if (s->fd < 0)
        return err_set_errno(err, ERR_STORAGE, errno, "%s: cannot create", s->part);
    sample_clear(&s->before, 0);
    sample_clear(&s->newest, 0);
    activity_init(&s->activity);
    s->other_cpu_s = telemetry_cpu_s(telemetry);
    return 0;
}

static void raise_peak(struct sampler *s, enum sample_field field, double value)
{
    if (!(s->peak[field] >= value))
        s->peak[field] = isnan(value) ? s->peak[field] : value;
}

/* What is measured before and after a test counts in its means, so it counts in its peaks, too. */
static void take_edge(struct sampler *s, double t_s, const struct sample *edge)
{
    static const enum sample_field fields[] = {SAMPLE_POWER, SAMPLE_TEMP_JUNCTION, SAMPLE_TEMP_MEM,
                                               SAMPLE_SCLK,  SAMPLE_SCLK_LOW,      SAMPLE_MCLK};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        raise_peak(s, fields[i], edge->value[fields[i]]);
    s->lost |= edge->lost;
    activity_edge(&s->activity, t_s, edge);
}

void sampler_before(struct sampler *s, const struct sample *before)
{
    s->before = *before;
    take_edge(s, 0, before);
}

static void flush_rows(struct sampler *s)
{
    if (s->fd >= 0 && fs_write_all(s->fd, buf_str(&s->text), s->text.len) != 0) {
        close(s->fd);
        s->fd = -1;
    }
    buf_clear(&s->text);
}

static void add_row(struct sampler *s, const struct sample *sample)
{
    sample_row_add(&s->text, sample);
    if (s->text.len >= FLUSH_BYTES)
        flush_rows(s);
    if (++s->rows % ROWS_A_STRIDE == 0)
        s->stride *= 2;
}

static void note_gap(struct sampler *s, double t_s)
{
    if (t_s - s->last_t_s > s->max_gap_s)
        s->max_gap_s = t_s - s->last_t_s;
    s->last_t_s = t_s;
}

void sampler_take(struct sampler *s, double t_s, uint64_t missed)
{
    bool timed = s->samples % TIMED_EVERY == 0;
    double before = timed ? thread_cpu_s() : 0;
    telemetry_read(s->telemetry, t_s, &s->last);
    for (int i = 0; i < SAMPLE_FIELDS; i++) {
        if (!sample_has(&s->last, (enum sample_field)i))
            continue;
        s->newest.value[i] = s->last.value[i];
        raise_peak(s, (enum sample_field)i, s->last.value[i]);
    }
    s->lost |= s->last.lost;
    s->missed += missed;
    s->paused_s += s->last.resumed_s;
    if (sample_has(&s->last, SAMPLE_CPU))
        s->tree_cpu_s += s->last.value[SAMPLE_CPU] / 100 * (t_s - s->last_t_s);
    note_gap(s, t_s);
    activity_add(&s->activity, &s->last);
    s->history[s->samples % SAMPLER_HISTORY] = s->last;
    if (s->samples++ % s->stride == 0)
        add_row(s, &s->last);
    if (timed)
        s->timed_cpu_s += thread_cpu_s() - before;
}

void sampler_after(struct sampler *s, double end_s, const struct sample *after)
{
    take_edge(s, end_s, after);
}

void sampler_trace(struct sampler *s, double start_s, double end_s, const struct power_trace *trace)
{
    for (size_t i = 0; i < trace->count; i++) {
        double t_s = trace->reading[i].at_s - start_s;
        if (t_s >= 0 && t_s <= end_s)
            raise_peak(s, SAMPLE_POWER, trace->reading[i].watts);
    }
    activity_trace(&s->activity, start_s, trace);
}

/* A supervisor that was held up until the end has heard of no tick. A gap of less than two intervals is only
 * a tick that came late. */
static void note_unheard_ticks(struct sampler *s, double end_s, double interval_s)
{
    double gap_s = end_s - s->last_t_s;
    if (gap_s >= 2 * interval_s)
        s->missed += (uint64_t)(gap_s / interval_s);
}

int sampler_finish(struct sampler *s, double end_s, double interval_s, struct err *err)
{
    note_unheard_ticks(s, end_s, interval_s);
    note_gap(s, end_s);
    uint64_t timed = (s->samples + TIMED_EVERY - 1) / TIMED_EVERY;
    s->cpu_s = timed > 0 ? s->timed_cpu_s / (double)timed * (double)s->samples : 0;
    s->cpu_s += telemetry_cpu_s(s->telemetry) - s->other_cpu_s;
    flush_rows(s);
    if (s->fd < 0)
        return err_set(err, ERR_STORAGE, "%s: cannot write the samples", s->path);
    if (held_publish(s->fd, s->part, s->path, err) != 0)
        return -1;
    s->part[0] = '\0';
    return 0;
}

void sampler_release(struct sampler *s)
{
    if (s->part[0])
        unlink(s->part);
    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
    buf_release(&s->text);
    activity_release(&s->activity);
}
