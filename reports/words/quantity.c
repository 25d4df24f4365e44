#include "reports/words/quantity.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Shorter times are shown in milliseconds where the number includes its unit. */
#define SECONDS_FROM 0.01

static bool is_bytes(enum metric m)
{
    return strcmp(metric_info(m)->unit, "bytes") == 0;
}

struct quantity quantity_of(enum metric m, bool kernels)
{
    struct quantity q = {.metric = m,
                         .scale = 1,
                         .unit = is_bytes(m) ? "" : metric_info(m)->unit,
                         .title = MSG_COUNT,
                         .axis = MSG_COUNT};
    if (m == METRIC_KERNEL_MS || (m == METRIC_PREFILL_S && kernels)) {
        q.scale = m == METRIC_KERNEL_MS ? 1 : 1e3;
        q.unit = metric_info(METRIC_KERNEL_MS)->unit;
        q.title = MSG_COL_TIME_MS;
        q.axis = MSG_PLOT_KERNEL;
    } else if (m == METRIC_PREFILL_S) {
        q.prompt = true;
        q.title = MSG_COL_PREFILL;
        q.axis = MSG_PLOT_PREFILL;
    } else if (m == METRIC_WALL_S) {
        q.title = MSG_COL_WALL;
        q.axis = MSG_PLOT_WALL;
    }
    return q;
}

const char *quantity_title(const struct quantity *q, enum report_lang lang)
{
    return q->title == MSG_COUNT ? metric_info(q->metric)->title : message(lang, q->title);
}

const char *quantity_axis(const struct quantity *q, enum report_lang lang)
{
    return q->axis == MSG_COUNT ? metric_info(q->metric)->title : message(lang, q->axis);
}

static struct num number_in(enum metric m, const char *unit, double v)
{
    if (strcmp(unit, "ms") == 0)
        return num_milliseconds(v);
    if (strcmp(unit, "s") == 0)
        return num_seconds(v);
    bool plain = metric_info(m)->kind == METRIC_OF_EXTRA || metric_info(m)->kind == METRIC_OF_TOKEN;
    return plain ? num_plain(v) : num_rate(v);
}

struct num quantity_text(const struct quantity *q, double stored)
{
    return is_bytes(q->metric) ? num_bytes(stored) : number_in(q->metric, q->unit, stored * q->scale);
}

struct num metric_text(enum metric m, double stored)
{
    const struct quantity q = quantity_of(m, false);
    return quantity_text(&q, stored);
}

struct num metric_least(enum metric m)
{
    const struct metric_info *info = metric_info(m);
    bool seconds = strcmp(info->unit, "s") == 0;
    struct num out;
    if (is_bytes(m))
        return num_bytes(info->least);
    snprintf(out.s, sizeof out.s, "%g %.16s", seconds ? info->least * 1e3 : info->least,
             seconds ? "ms" : info->unit);
    return out;
}

struct num metric_beside(enum metric m, double stored, double other)
{
    const char *unit = metric_info(m)->unit;
    double largest = fmax(fabs(stored), fabs(other));
    struct num out;
    if (is_bytes(m))
        return num_bytes(stored);
    if (strcmp(unit, "s") == 0 && largest > 0 && largest < SECONDS_FROM) {
        unit = "ms";
        stored *= 1e3;
    }
    bool bare = !*unit || !isfinite(stored);
    snprintf(out.s, sizeof out.s, "%.22s%s%.16s", number_in(m, unit, stored).s, bare ? "" : " ",
             bare ? "" : unit);
    return out;
}

struct num metric_with_unit(enum metric m, double stored)
{
    return metric_beside(m, stored, stored);
}

struct time_unit time_unit_of(double largest_s)
{
    static const struct time_unit units[] = {{"ms", 1e3}, {"us", 1e6}, {"ns", 1e9}};
    size_t i = 0;
    if (!(largest_s > 0 && largest_s < SECONDS_FROM))
        return (struct time_unit){"s", 1};
    while (i + 1 < sizeof units / sizeof *units && largest_s * units[i].per_second < 1)
        i++;
    return units[i];
}

struct num metric_difference(enum metric m, double difference)
{
    struct num out, size = metric_with_unit(m, fabs(difference));
    snprintf(out.s, sizeof out.s, "%s%.38s", difference < 0 ? "-" : "+", size.s);
    return out;
}
