/* shift: what all cells, or all cells of one GPU, have in common, in words.
 *
 * Plain text, for documents, terminals and CI alike. Speaks of slow and fast only where the metric is a time.
 */
#pragma once

#include "common/base/buf.h"
#include "reports/render/markdown.h"
#include "results/judge/compare.h"

/* Appends "8 % slower", or "8 % worse in joules". */
void shift_change(enum metric m, double ratio, bool worse, enum report_lang lang, struct buf *out);
/* "All cells", or "Most cells" if some did not move by as much. */
const char *shift_cells(const struct common_shift *s, enum report_lang lang);
/* Appends what all cells have in common tonight, and that the night was uneven, if it is worth a sentence. */
void verdict_shift(const struct comparison *c, enum report_lang lang, struct buf *out);
/* Whose change is put down to an uneven night. */
size_t verdict_uneven_cells(const struct comparison *c);
/* The same as verdict_shift() of one GPU: s is one of c->cards. */
void verdict_card(const struct comparison *c, const struct card_shift *s, enum report_lang lang,
                  struct buf *out);
/* Writes a paragraph for each GPU that changed by itself. */
void cards_paragraphs(const struct comparison *c, struct md *w);
/* Writes an item of a list for each of them, behind `indent`. */
void cards_items(const struct comparison *c, const char *indent, struct md *w);
