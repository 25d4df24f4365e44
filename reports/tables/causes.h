/* causes: why cells changed, as sentences for a terminal and for documents: plain text, safe to print.
 *
 * Cells of one variant with the same causes share a line. The caller calls why_release().
 */
#pragma once

#include "common/base/buf.h"
#include "reports/words/message.h"
#include "results/judge/compare.h"

enum { WHY_TEXT_MAX = 2048, WHY_CONTEXTS_MAX = 6, WHY_LINES_MAX = 24 };

struct why_line {
    const struct cell_causes *first; /* of its cells */
    int contexts[WHY_CONTEXTS_MAX];
    size_t cells;
    bool of_most; /* what most cells have in common, not all */
    struct buf text;
};

struct why {
    struct why_line *lines; /* what all cells have in common first */
    size_t count, cap;
    size_t left_out;    /* changed cells beyond WHY_LINES_MAX lines */
    const char *before; /* the run that all were compared with; NULL if they differ */
};

void why_of(const struct comparison *c, enum report_lang lang, struct why *out);
void why_release(struct why *w);

/* "v3 at 4096, 8192 and 2 more", "all cells", "most cells" */
void why_where(const struct why_line *l, enum report_lang lang, struct buf *out);
/* "Why, compared with run x:" */
void why_heading(const struct why *w, enum report_lang lang, struct buf *out);
/* Appends the causes of a cell: "because of new machine code in 1 kernel: ...". */
void cause_sentence(const struct cell_causes *c, enum report_lang lang, struct buf *out);
