/* html_page: the frame of a page: head, content security policy, style, script; for pages that are written as
 * HTML. Reports are written as Markdown and rendered (html.h). */
#pragma once

#include "common/base/buf.h"
#include "reports/words/message.h"

void html_base64(struct buf *out, const void *data, size_t len);

void html_page_begin(struct buf *out, enum report_lang lang, const char *title);
void html_page_end(struct buf *out);
