/* notes: notes (results/store/note.h) as parts of a document. */
#pragma once

#include "reports/render/markdown.h"
#include "results/store/note.h"

/* Whether there are notes of that run; "": of the ticket as such. */
bool notes_any(const struct notes *n, const char *run_id);
/* Writes them, each section below a heading of that level. A section that was not written in the document's
 * language is shown in the other one. */
void notes_write(const struct notes *n, const char *run_id, int level, struct md *w);
