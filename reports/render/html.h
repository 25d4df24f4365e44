/* html: renders the Markdown of a report as one self-contained page.
 *
 * cmark-gfm renders it in its safe mode; headings get anchors, tables get a scrolling frame, and plots are
 * embedded as data. The page's content security policy allows its own style and script only, so that external
 * text could not execute even if it passed as markup. Knows nothing of runs.
 */
#pragma once

#include "common/base/buf.h"
#include "common/base/err.h"
#include "reports/render/figure.h"
#include "reports/words/message.h"

/* A paragraph consisting of an image in `figures` is replaced by that figure. title: plain text. */
int html_render(const struct buf *markdown, const struct figure_set *figures, enum report_lang lang,
                const char *title, struct buf *out, struct err *err);
