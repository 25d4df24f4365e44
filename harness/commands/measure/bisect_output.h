/* bisect_output: a search for a slow commit as text and as a report in Markdown. Subjects and reasons are
 * untrusted, so both escape them. Prints nothing.
 */
#pragma once

#include "harness/session/bisect_state.h"
#include "reports/render/table.h"

/* s: for the machine code of the answer, which is left out if its runs are no longer stored. */
void bisect_write_text(const struct bisect_state *b, struct store *s, struct screen screen, struct buf *out);
void bisect_write_markdown(const struct bisect_state *b, struct store *s, struct buf *out);

/* Appends one line, such as "found a1b2c3d, which made a 4096 8.1 % slower". */
void bisect_write_headline(const struct bisect_state *b, struct buf *out);

/* Appends the change of a cell between the ends, such as "a 4096: prefill_s +8.1 %". */
void bisect_write_change(const struct bisect_cell *c, struct buf *out);

/* "<artifacts>/bisect-<name>.md". out: char[FS_PATH_MAX]. */
int bisect_report_path(const struct bisect_state *b, char *out, struct err *err);
