/* Memory over time: the largest context of each variant. */
#include "reports/plot/picture.h"
#include "reports/plot/script.h"

#include <math.h>

enum { POINTS_MAX = 400 };

/* Above this many bytes the axis is in GiB. */
#define GIB_FROM 8e9

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

static double highest(const struct report_model *m)
{
    double most = 0;
    for (size_t i = 0; i < m->n_traces; i++)
        for (size_t k = 0; k < m->traces[i].count; k++)
            most = fmax(most, m->traces[i].bytes[k]);
    return most;
}

bool picture_memory(struct buf *out, const struct report_model *m, enum report_lang lang)
{
    bool gib = highest(m) > GIB_FROM;
    const char *separator = "plot ";
    if (m->n_traces == 0)
        return false;
    script_begin(out);
    script_axis(out, "xlabel", lang, MSG_PLOT_TIME);
    script_axis(out, "ylabel", lang, m->traces[0].vram ? MSG_PLOT_VRAM : MSG_PLOT_RSS);
    buf_printf(out, "set yrange [0:*]\nset format y '%%g %s'\n", gib ? "GiB" : "MiB");
    for (size_t i = 0; i < m->n_traces; i++) {
        const struct memory_trace *trace = &m->traces[i];
        if (script_style(m, trace->variant) >= SCRIPT_LINES_MAX)
            continue;
        buf_printf(out, "$d%zu << END\n", i);
        trace_rows(out, trace->t, trace->bytes, trace->count, gib ? 1 << 30 : 1 << 20);
        buf_puts(out, "END\n");
    }
    for (size_t i = 0; i < m->n_traces; i++) {
        size_t style = script_style(m, m->traces[i].variant);
        struct buf label;
        if (style >= SCRIPT_LINES_MAX)
            continue;
        buf_init(&label, 256);
        buf_printf(&label, "%s, %d", m->now.variants[m->traces[i].variant].name, m->traces[i].context);
        buf_printf(out, "%s$d%zu using 1:2 title ", separator, i);
        script_label(out, buf_str(&label));
        script_line(out, style, false);
        separator = ", ";
        buf_release(&label);
    }
    buf_putc(out, '\n');
    return true;
}
