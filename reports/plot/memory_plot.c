/* Memory over time: the largest context of each variant, and of a kernel's shapes the one that used most. */
#include "common/base/alloc.h"
#include "reports/plot/picture.h"
#include "reports/plot/script.h"

#include <math.h>
#include <string.h>

enum { POINTS_MAX = 400, LOG_TICS = 9, CONTEXT_LENGTH = 12 };

/* Above this many bytes the axis is in GiB. */
#define GIB_FROM 8e9

/* Tests whose lengths span more than this need a logarithmic axis, which starts at TIME_FROM seconds. */
#define LINEAR_SPAN 12.0
#define TIME_FROM 0.1

/* At most POINTS_MAX points, each the largest of its span, so that no peak is lost. */
static void trace_rows(struct buf *out, const double *t, const double *bytes, size_t count, double unit)
{
    size_t span = count / POINTS_MAX + 1;
    for (size_t i = 0; i < count; i += span) {
        double max = (double)NAN;
        for (size_t k = i; k < i + span && k < count; k++)
            max = fmax(max, bytes[k]);
        if (isfinite(t[i]) && isfinite(max))
            buf_printf(out, "%.3f %.3f\n", t[i], max / unit);
    }
}

static double peak(const struct memory_trace *trace)
{
    double most = 0;
    for (size_t k = 0; k < trace->count; k++)
        most = fmax(most, trace->bytes[k]);
    return most;
}

/* The trace of the shape that used most, of all shapes of a kernel; NULL if none of that style was traced. */
static const struct memory_trace *trace_of(const struct report_model *m, size_t style)
{
    const struct memory_trace *found = NULL;
    double most = -1;
    for (size_t i = 0; i < m->memory.n_traces; i++) {
        const struct memory_trace *trace = &m->memory.traces[i];
        size_t of = script_points_alone(m) ? 0 : script_style(m, trace->variant);
        if (of != style || peak(trace) <= most)
            continue;
        most = peak(trace);
        found = trace;
    }
    return found;
}

static double unit_of(const struct report_model *m, bool *gib)
{
    double most = 0;
    for (size_t i = 0; i < m->memory.n_traces; i++)
        most = fmax(most, peak(&m->memory.traces[i]));
    *gib = most > GIB_FROM;
    return *gib ? 1 << 30 : 1 << 20;
}

static double length_of(const struct memory_trace *trace)
{
    return trace->t[trace->count - 1];
}

static void memory_axis(struct buf *out, const struct report_model *m)
{
    bool gib;
    double unit = unit_of(m, &gib), most = 0;
    for (size_t i = 0; i < m->memory.n_traces; i++)
        most = fmax(most, peak(&m->memory.traces[i]) / unit);
    buf_printf(out, "set yrange [0:%.4g]\nset format y '%%g %s'\n", most * 1.08, gib ? "GiB" : "MiB");
}

/* Tests of very different length share a logarithmic axis, lest the short ones be a stroke at its start. */
static void time_axis(struct buf *out, const struct report_model *m)
{
    double longest = 0, shortest = INFINITY;
    for (size_t style = 0; style < SCRIPT_SERIES_MAX; style++) {
        const struct memory_trace *trace = trace_of(m, style);
        longest = trace ? fmax(longest, length_of(trace)) : longest;
        shortest = trace ? fmin(shortest, length_of(trace)) : shortest;
    }
    if (!(longest > 0))
        return;
    if (longest <= LINEAR_SPAN * shortest) {
        buf_printf(out, "set xrange [0:%.4g]\n", longest);
        return;
    }
    buf_printf(out, "set logscale x\nset xrange [%.4g:%.4g]\n", TIME_FROM, longest * 1.1);
    script_log_tics(out, "xtics", TIME_FROM, longest * 1.1, LOG_TICS, false);
}

/* Chooses a round step that gives about four tics. */
static void panel_time(struct buf *out, const struct memory_trace *trace)
{
    double longest = length_of(trace), step = pow(10, floor(log10(fmax(longest, TIME_FROM))));
    if (longest / step < 2)
        step /= 2;
    else if (longest / step > 4)
        step *= longest / step > 8 ? 4 : 2;
    buf_printf(out, "set xrange [0:%.4g]\nset xtics 0,%.6g\n", fmax(longest, TIME_FROM), step);
}

static void trace_block(struct buf *out, const struct report_model *m, const struct memory_trace *trace,
                        size_t style)
{
    bool gib;
    buf_printf(out, "$d%zu << END\n", style);
    trace_rows(out, trace->t, trace->bytes, trace->count, unit_of(m, &gib));
    buf_puts(out, "END\n");
}

/* The name has the form "v5 b8h16, 4096". */
static void trace_name(const struct report_model *m, const struct memory_trace *trace, struct buf *out)
{
    const char *shape = m->now.variants[trace->variant].shape;
    buf_printf(out, "%s%s%s", report_model_variant(m, trace->variant), *shape ? " " : "", shape);
    if (trace->context)
        buf_printf(out, ", %d", trace->context);
}

bool picture_memory(struct buf *out, const struct report_model *m, enum report_lang lang)
{
    const struct memory_trace *trace;
    const char *separator = "plot ";
    if (m->memory.n_traces == 0)
        return false;
    size_t longest, names = script_names(m, &longest);
    script_begin(out, script_points_alone(m) ? 1 : names, longest + CONTEXT_LENGTH);
    script_axis(out, "xlabel", lang, MSG_PLOT_TIME);
    script_axis(out, "ylabel", lang, m->memory.traces[0].vram ? MSG_PLOT_VRAM : MSG_PLOT_RSS);
    memory_axis(out, m);
    time_axis(out, m);
    for (size_t style = 0; style < SCRIPT_SERIES_MAX; style++)
        if ((trace = trace_of(m, style)))
            trace_block(out, m, trace, style);
    for (size_t style = 0; style < SCRIPT_SERIES_MAX; style++) {
        if (!(trace = trace_of(m, style)))
            continue;
        AUTO(buf_release) struct buf name = {.max = 512};
        trace_name(m, trace, &name);
        buf_printf(out, "%s$d%zu using 1:2 title ", separator, style);
        script_label(out, buf_str(&name));
        script_line(out, style, false);
        separator = ", ";
    }
    if (strcmp(separator, ", ") != 0) /* only variants beyond the first picture were traced */
        buf_puts(out, "plot NaN notitle");
    buf_putc(out, '\n');
    return true;
}

bool picture_memory_panels(struct buf *out, const struct report_model *m, enum report_lang lang)
{
    size_t panels = 0;
    for (size_t style = SCRIPT_SERIES_MAX; style < SCRIPT_ALL_MAX; style++)
        panels += trace_of(m, style) != NULL;
    if (panels == 0)
        return false;
    script_panels(out, panels);
    memory_axis(out, m);
    buf_puts(out, "set ytics autofreq\nset xlabel ");
    script_label(out, message(lang, MSG_PLOT_TIME));
    buf_putc(out, '\n');
    for (size_t style = SCRIPT_SERIES_MAX; style < SCRIPT_ALL_MAX; style++) {
        const struct memory_trace *trace = trace_of(m, style);
        if (!trace)
            continue;
        AUTO(buf_release) struct buf name = {.max = 512};
        trace_name(m, trace, &name);
        trace_block(out, m, trace, style);
        panel_time(out, trace);
        script_title(out, buf_str(&name));
        buf_printf(out, "plot $d%zu using 1:2", style);
        script_line(out, 1, false);
        buf_putc(out, '\n');
    }
    script_panels_end(out);
    return true;
}
