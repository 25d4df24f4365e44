#include "harness/nightly/spark.h"

#include "common/base/escape.h"

#include <math.h>

/* Units of the picture; a quiet series must not look wild, so that its height spans at least 6 %. */
enum { WIDTH = 180, HEIGHT = 36, MARGIN = 4, POINTS_MAX = 400 };
static const double least_span = 0.06;

struct scale {
    double low, span;
    size_t nights;
};

static double value_at(const json_t *cell, size_t i)
{
    return json_number_value(json_array_get(json_object_get(cell, "values"), i));
}

static double night_at(const json_t *list, size_t i)
{
    return (double)json_integer_value(json_array_get(list, i));
}

static struct scale scale_of(const json_t *cell, size_t count, size_t nights)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        low = fmin(low, value_at(cell, i));
        high = fmax(high, value_at(cell, i));
    }
    double least = least_span * fabs(high), span = high - low;
    if (span < least) {
        low -= (least - span) / 2;
        span = least;
    }
    return (struct scale){.low = low, .span = span > 0 ? span : 1, .nights = nights};
}

static double x_of(const struct scale *s, double night)
{
    return s->nights > 1 ? MARGIN + night * (WIDTH - 2 * MARGIN) / (double)(s->nights - 1) : WIDTH / 2.0;
}

static double y_of(const struct scale *s, double value)
{
    return HEIGHT - MARGIN - (value - s->low) / s->span * (HEIGHT - 2 * MARGIN);
}

static void write_changes(const json_t *cell, const struct scale *s, struct buf *out)
{
    size_t i;
    const json_t *change;
    json_array_foreach(json_object_get(cell, "changes"), i, change)
    {
        double x = x_of(s, (double)json_integer_value(json_object_get(change, "at")) - 0.5);
        buf_printf(out, "<line class=\"%s\" x1=\"%.1f\" x2=\"%.1f\" y1=\"0\" y2=\"%d\"/>",
                   json_is_true(json_object_get(change, "device")) ? "device" : "change", x, x, HEIGHT);
    }
}

static void write_odd(const json_t *cell, size_t count, const struct scale *s, struct buf *out)
{
    size_t i;
    const json_t *odd, *at = json_object_get(cell, "at");
    json_array_foreach(json_object_get(cell, "odd"), i, odd) for (size_t k = 0; k < count; k++)
    {
        if (json_integer_value(odd) == json_integer_value(json_array_get(at, k)))
            buf_printf(out, "<circle class=\"odd\" cx=\"%.1f\" cy=\"%.1f\" r=\"2\"/>",
                       x_of(s, night_at(at, k)), y_of(s, value_at(cell, k)));
    }
}

void spark_write(const json_t *cell, size_t nights, const char *label, struct buf *out)
{
    const json_t *at = json_object_get(cell, "at");
    size_t count = json_array_size(json_object_get(cell, "values"));
    if (count == 0 || count > POINTS_MAX || json_array_size(at) != count)
        return;
    const struct scale s = scale_of(cell, count, nights);
    buf_printf(out, "<svg class=\"spark\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"", WIDTH, HEIGHT);
    escape_xml(out, label);
    buf_puts(out, "\">");
    write_changes(cell, &s, out);
    buf_puts(out, "<polyline points=\"");
    for (size_t i = 0; i < count; i++)
        buf_printf(out, "%s%.1f,%.1f", i ? " " : "", x_of(&s, night_at(at, i)), y_of(&s, value_at(cell, i)));
    buf_puts(out, "\"/>");
    write_odd(cell, count, &s, out);
    buf_printf(out, "<circle class=\"now\" cx=\"%.1f\" cy=\"%.1f\" r=\"2.6\"/></svg>",
               x_of(&s, night_at(at, count - 1)), y_of(&s, value_at(cell, count - 1)));
}
