/* section: the parts of a document. Each writes its heading and contents, or nothing if it has no contents. A
 * section reads the model and writes through the Markdown writer; it does not query, and does not know other
 * sections. To add one: a file here, a line in sections.def, messages in words/messages.def.
 * The head of each .c file describes its section, so sections have no headers of their own.
 */
#pragma once

#include "reports/model/model.h"
#include "reports/render/markdown.h"

typedef void section_fn(const struct report_model *m, struct md *w);

/* before the body, once per language */
section_fn section_summary;
section_fn section_notes;

#define S(kind, name) section_fn section_##name;
#include "reports/sections/sections.def"
#undef S
