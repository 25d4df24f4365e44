/* prose: text that a person wrote in Markdown, as a part of a document. Paragraphs, lists (one level), `code`
 * and fenced blocks of code are kept; everything else, HTML, links, headings and tables among it, is shown as
 * the characters that it consists of.
 */
#pragma once

#include "reports/render/markdown.h"

void md_prose(struct md *w, const char *text);
