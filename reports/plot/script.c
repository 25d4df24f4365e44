#include "reports/plot/script.h"

#include <math.h>
#include <string.h>

enum { LABEL_MAX = 80 };

/* Styles differ in colour (readable on white and black, safe for colour-blind readers), dashes and points. */
struct line_style {
    const char *colour;
    int dash;
    int point;
};

static const struct line_style styles[SCRIPT_SERIES_MAX] = {
    {"#0072B2", 1, 7},  {"#D55E00", 2, 5}, {"#009E73", 4, 9}, {"#CC79A7", 5, 11},
    {"#8F7200", 1, 13}, {"#7F7F7F", 2, 6}, {"#A65628", 4, 4}, {"#5E81C4", 5, 8},
};

enum { PANEL_COLUMNS = 3, PANEL_HEIGHT = 190 };

/* The widths are in characters of the legend, the heights in pixels. */
enum { KEY_WIDTH = 76, KEY_SAMPLE = 8, KEY_COLUMNS = 3, KEY_ROW = 21, PLOT_HEIGHT = 355 };

bool script_points_alone(const struct report_model *m)
{
    for (size_t v = 0; v < m->now.n_variants; v++)
        if (!*m->now.variants[v].axes || !report_model_same(m, v, 0))
            return false;
    return m->now.n_variants > 1;
}

bool script_same(const struct report_model *m, size_t a, size_t b)
{
    return a == b || (report_model_same(m, a, b) && !script_points_alone(m));
}

const char *script_name(const struct report_model *m, size_t variant)
{
    return script_points_alone(m) ? m->now.variants[variant].name : report_model_variant(m, variant);
}

/* Whether no variant before it is of the same series. */
static bool is_first(const struct report_model *m, size_t variant)
{
    return script_points_alone(m) || report_model_first(m, variant);
}

size_t script_style(const struct report_model *m, size_t variant)
{
    size_t n = 0;
    if (script_same(m, variant, m->reference))
        return 0;
    for (size_t v = 0; !script_same(m, v, variant); v++)
        n += is_first(m, v) && !script_same(m, v, m->reference);
    return n + 1;
}

const char *script_colour(size_t style)
{
    return styles[style % SCRIPT_SERIES_MAX].colour;
}

void script_label(struct buf *out, const char *s)
{
    static const char plain[] = " ()+,-./0123456789:=>ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";
    buf_putc(out, '\'');
    for (size_t i = 0; s[i] && i < LABEL_MAX; i++)
        buf_add(out, strchr(plain, s[i]) ? &s[i] : "?", 1);
    buf_putc(out, '\'');
}

void script_title(struct buf *out, const char *s)
{
    buf_puts(out, "set title ");
    script_label(out, s);
    buf_putc(out, '\n');
}

void script_axis(struct buf *out, const char *which, enum report_lang lang, enum msg id)
{
    buf_printf(out, "set %s '%s'\n", which, message(lang, id));
}

void script_context_axis(struct buf *out, const struct report_model *m, enum report_lang lang)
{
    script_axis(out, "xlabel", lang,
                m->primary.prompt || m->kernel.alone ? MSG_PLOT_CONTEXT_TOKENS : MSG_PLOT_CONTEXT);
}

/* The name and the unit of a plan's own metric may have quotation marks, which are doubled here. */
void script_value_axis(struct buf *out, const struct quantity *q, enum report_lang lang)
{
    buf_puts(out, "set ylabel '");
    for (const char *s = quantity_axis(q, lang); *s; s++)
        buf_puts(out, *s == '\'' ? "''" : (const char[]){*s, '\0'});
    buf_puts(out, "'\n");
}

double script_value(const struct report_model *m, double stored)
{
    return stored * m->primary.scale;
}

static void page(struct buf *out, int height, int font)
{
    buf_printf(out,
               "reset\nset terminal svg size 640,%d dynamic noenhanced rounded font 'sans-serif,%d'\n"
               "set encoding utf8\nset border 3\nset tics nomirror\nset grid lc rgb 'gray'\n"
               "set pointintervalbox 0\n",
               height, font);
}

void script_begin(struct buf *out, size_t entries, size_t characters)
{
    size_t fit = KEY_WIDTH / ((characters < LABEL_MAX ? characters : LABEL_MAX) + KEY_SAMPLE);
    size_t columns = fit < 1             ? 1
                     : fit > KEY_COLUMNS ? KEY_COLUMNS
                                         : fit,
           rows = (entries + columns - 1) / columns;
    page(out, (int)(PLOT_HEIGHT + rows * KEY_ROW), 14);
    buf_printf(out, "set key outside center top horizontal samplen 2.5 width -1 maxcols %zu\n", columns);
}

size_t script_names(const struct report_model *m, size_t *longest)
{
    size_t n = 0;
    *longest = 0;
    for (size_t v = 0; v < m->now.n_variants; v++) {
        size_t len = strlen(script_name(m, v));
        if (!is_first(m, v) || script_style(m, v) >= SCRIPT_SERIES_MAX)
            continue;
        n++;
        *longest = len > *longest ? len : *longest;
    }
    return n;
}

void script_panels(struct buf *out, size_t panels)
{
    size_t columns = panels < PANEL_COLUMNS ? panels : PANEL_COLUMNS;
    size_t rows = (panels + columns - 1) / columns;
    page(out, (int)(rows * PANEL_HEIGHT), 12);
    buf_printf(out, "unset key\nset multiplot layout %zu,%zu\n", rows, columns);
}

void script_panels_end(struct buf *out)
{
    buf_puts(out, "unset multiplot\n");
}

void script_log_tics(struct buf *out, const char *which, double low, double high, int most, bool logarithms)
{
    static const double steps[] = {1, 2, 5};
    int from = (int)floor(log10(low)), to = (int)ceil(log10(high)), every = (to - from) / most + 1;
    size_t fine = (to - from) * 3 <= most ? 3 : 1;
    const char *separator = "";
    buf_printf(out, "set %s (", which);
    for (int e = from; e <= to; e++)
        for (size_t k = 0; k < fine && e % every == 0; k++) {
            double value = steps[k] * pow(10, e);
            if (value < low * 0.999 || value > high * 1.001)
                continue;
            buf_printf(out, "%s'%g' %.9g", separator, value, logarithms ? log10(value) : value);
            separator = ", ";
        }
    buf_puts(out, ")\n");
}

void script_line(struct buf *out, size_t style, bool points)
{
    const struct line_style *s = &styles[style % SCRIPT_SERIES_MAX];
    buf_printf(out, " with %s lw 2 dt %d lc rgb '%s'", points ? "linespoints" : "lines", s->dash, s->colour);
    if (points)
        buf_printf(out, " pt %d ps 0.8", s->point);
}

void script_errors(struct buf *out, const char *block, size_t index, const char *colour)
{
    buf_printf(
        out, "$%s%zu using 1:3:(0):($4-$3) with vectors heads size screen 0.005,90 lw 1 lc rgb '%s' notitle",
        block, index, colour);
}

void script_error_columns(struct buf *out, double low, double high)
{
    if (isfinite(low) && isfinite(high) && high > low)
        buf_printf(out, " %.9g %.9g\n", low, high);
    else
        buf_puts(out, " NaN NaN\n");
}
