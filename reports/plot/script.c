#include "reports/plot/script.h"

#include <string.h>

enum { LABEL_MAX = 80 };

/* Distinguished by colour (safe for colour-blind readers, readable on white and on black), dashes and points.
 */
struct line_style {
    const char *colour;
    int dash;
    int point;
};

static const struct line_style styles[SCRIPT_LINES_MAX] = {
    {"#0072B2", 1, 7},  {"#D55E00", 2, 5},  {"#009E73", 4, 9}, {"#CC79A7", 5, 11},
    {"#8F7200", 1, 13}, {"#7F7F7F", 2, 6},  {"#A65628", 4, 4}, {"#5E81C4", 5, 8},
    {"#C23B6B", 1, 10}, {"#4B8B3B", 2, 12}, {"#8A63C9", 4, 6}, {"#B07C2A", 5, 1},
    {"#3E9C9C", 1, 14}, {"#B34700", 2, 8},  {"#6B6B2E", 4, 2}, {"#4A5FA8", 5, 3},
};

size_t script_style(const struct report_model *m, size_t variant)
{
    size_t n = 0;
    if (report_model_same(m, variant, m->reference))
        return 0;
    for (size_t v = 0; !report_model_same(m, v, variant); v++)
        n += report_model_first(m, v) && !report_model_same(m, v, m->reference);
    return n + 1;
}

const char *script_colour(size_t style)
{
    return styles[style % SCRIPT_LINES_MAX].colour;
}

static void quoted(struct buf *out, char quote, const char *s)
{
    static const char plain[] = " ()+,-./0123456789:=>ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";
    buf_putc(out, quote);
    for (size_t i = 0; s[i] && i < LABEL_MAX; i++)
        buf_add(out, strchr(plain, s[i]) ? &s[i] : "?", 1);
    buf_putc(out, quote);
}

void script_label(struct buf *out, const char *s)
{
    quoted(out, '\'', s);
}

void script_data_label(struct buf *out, const char *s)
{
    quoted(out, '"', s);
}

void script_axis(struct buf *out, const char *which, enum report_lang lang, enum msg id)
{
    buf_printf(out, "set %s '%s'\n", which, message(lang, id));
}

/* The name and the unit of a metric of a plan's own may have quotation marks; backslashes must not end one.
 */
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

void script_begin(struct buf *out)
{
    buf_puts(out, "reset\n"
                  "set terminal svg size 640,400 dynamic noenhanced rounded font 'sans-serif,14'\n"
                  "set encoding utf8\nset border 3\nset tics nomirror\nset grid lc rgb 'gray'\n"
                  "set key outside center top horizontal samplen 2.5 width -1 maxcols 4\n");
}

void script_line(struct buf *out, size_t style, bool points)
{
    const struct line_style *s = &styles[style % SCRIPT_LINES_MAX];
    buf_printf(out, " with %s lw 2 dt %d lc rgb '%s'", points ? "linespoints" : "lines", s->dash, s->colour);
    if (points)
        buf_printf(out, " pt %d ps 0.8", s->point);
}
