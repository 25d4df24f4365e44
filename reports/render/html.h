/* html: the Markdown of a report as one page that needs nothing else.
 *
 * cmark-gfm renders it in its safe mode; headings get anchors, tables a frame that scrolls, pictures come in
 * as data. The page's policy lets its own style and script run and nothing more, so that foreign text could
 * not execute even if it got through as markup. Knows nothing of runs.
 */
#ifndef KERNSWEEP_REPORTS_RENDER_HTML_H
#define KERNSWEEP_REPORTS_RENDER_HTML_H

#include "common/base/buf.h"
#include "common/base/err.h"
#include "reports/render/figure.h"
#include "reports/words/message.h"

/* A paragraph that is an image of `figures` becomes that figure. title: foreign text, escaped here. */
int html_render(const struct buf *markdown, const struct figure_set *figures, enum report_lang lang,
                const char *title, struct buf *out, struct err *err);

#endif
