/* html: the Markdown of a report as one page that needs nothing else.
 *
 * cmark-gfm renders it in its safe mode; headings get anchors, tables a scrolling frame, pictures are
 * embedded as data. The page's content security policy allows its own style and script only, so that text
 * from outside could not execute even if it passed as markup. Knows nothing of runs.
 */
#ifndef KERNSWEEP_REPORTS_RENDER_HTML_H
#define KERNSWEEP_REPORTS_RENDER_HTML_H

#include "common/base/buf.h"
#include "common/base/err.h"
#include "reports/render/figure.h"
#include "reports/words/message.h"

/* A paragraph that is an image of `figures` becomes that figure. title: plain text, escaped here. */
int html_render(const struct buf *markdown, const struct figure_set *figures, enum report_lang lang,
                const char *title, struct buf *out, struct err *err);

#endif
