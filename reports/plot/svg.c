#include "reports/plot/svg.h"

#include "common/base/escape.h"

#include <string.h>

/* gnuplot calls its foreground black and its grid gray, and writes a script's black as three zeros; all other
 * colours are legible on both backgrounds. */
#define INK_STROKE "[stroke=\"black\"],[stroke=\"rgb(  0,   0,   0)\"]"

static const char style[] =
    "<style>svg{background:#fff}[color=\"black\"]{color:#1f2328}" INK_STROKE "{stroke:#1f2328}"
    "[fill=\"black\"]{fill:#1f2328}[stroke=\"gray\"]{stroke:#8c959f}"
    "@media (prefers-color-scheme:dark){svg{background:#0d1117}[color=\"black\"]{color:#e6edf3}" INK_STROKE
    "{stroke:#e6edf3}[fill=\"black\"]{fill:#e6edf3}}</style>\n";

/* The start of needle at or after s and before end. */
static const char *find(const char *s, const char *end, const char *needle)
{
    return s ? memmem(s, (size_t)(end - s), needle, strlen(needle)) : NULL;
}

/* Drops the titles that gnuplot gives to parts of a plot: they would appear as tooltips. */
static void copy_without_titles(struct buf *out, const char *s, const char *end)
{
    const char *title;
    while ((title = find(s, end, "<title>"))) {
        const char *after = find(title, end, "</title>");
        if (!after)
            break;
        buf_add(out, s, (size_t)(title - s));
        s = after + strlen("</title>");
    }
    buf_add(out, s, (size_t)(end - s));
}

bool plot_svg_finish(struct buf *out, const char *s, size_t len, const char *alt)
{
    const char *end = s + len;
    const char *box = find(s, end, "viewBox=\"");
    const char *box_end = box ? memchr(box + 9, '"', (size_t)(end - box - 9)) : NULL;
    const char *canvas = find(s, end, "<g id=\"gnuplot_canvas\">");
    if (!box_end || !canvas)
        return false;
    buf_puts(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" ");
    buf_add(out, box, (size_t)(box_end + 1 - box));
    buf_puts(out, " role=\"img\" aria-label=\"");
    escape_xml(out, alt);
    buf_puts(out, "\">\n<title>");
    escape_xml(out, alt);
    buf_puts(out, "</title>\n");
    buf_puts(out, style);
    copy_without_titles(out, canvas, end);
    return true;
}

bool plot_svg_next(const char **s, const char *end, const char **start, size_t *len)
{
    *start = find(*s, end, "<?xml");
    const char *close = find(*start, end, "</svg>");
    if (!close)
        return false;
    *s = close + strlen("</svg>");
    *len = (size_t)(*s - *start);
    return true;
}
