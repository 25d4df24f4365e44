/* section: the parts of a document. Each writes itself with its heading, or nothing when there is nothing to
 * say. They read the model and write through the Markdown writer; none queries, and none knows the others.
 * To add one: a file here, its lines in sections.def, its messages in words/messages.def.
 */
#ifndef KERNSWEEP_REPORTS_SECTIONS_SECTION_H
#define KERNSWEEP_REPORTS_SECTIONS_SECTION_H

#include "reports/model/model.h"
#include "reports/render/markdown.h"

typedef void section_fn(const struct report_model *m, struct md *w);

section_fn section_summary; /* before the body, once per language */

#define S(kind, name) section_fn section_##name;
#include "reports/sections/sections.def"
#undef S

#endif
