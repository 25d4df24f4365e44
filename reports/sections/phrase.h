/* phrase: parts of sentences that several sections share. Appends unescaped text, which the Markdown writer
 * escapes like other data.
 */
#pragma once

#include "common/base/buf.h"
#include "reports/model/insight.h"
#include "reports/render/markdown.h"
#include "reports/words/message.h"
#include "reports/words/number.h"
#include "results/store/run_data.h"

enum { PHRASE_MAX = 8192, CONTEXTS_LISTED_MAX = 16 };

/* "takes 3.53 times as long", "takes 7.3 % longer", "is 1.78 times as fast": from now / base. */
void phrase_ratio(struct buf *out, enum report_lang lang, enum metric m, double ratio);
/* "2.00x", "8.78-11.3x" */
void phrase_factors(struct buf *out, double low, double high);
/* "4096, 8192, 16384": the contexts of a run, ascending; "256 to 25600 (100 in total)" if there are many.
 * Omits context 0, which imported benchmarks have because they process no prompt. */
void phrase_contexts(struct buf *out, enum report_lang lang, const struct run_data *run);
/* " at every context measured", " at 4096" if there is only that one, "" without a context. */
void phrase_where(struct buf *out, enum report_lang lang, int contexts, int context, bool shapes);
/* " at 4096"; "" for no context. */
struct num phrase_at(enum report_lang lang, int context);
/* " at 4096, 8192 and 3 more"; "" for a single cell without a context. */
void phrase_at_cells(struct buf *out, enum report_lang lang, const struct cell *const *cells, size_t count);
/* "1 cell", "2 cells" */
struct num phrase_count(enum report_lang lang, int n, enum msg one, enum msg many);
/* What scratch holds, other than spilled registers alone: a sentence. */
const char *phrase_scratch(enum report_lang lang, enum scratch_use use);
/* "1 wave", "2 warps" */
struct num phrase_waves(enum report_lang lang, double waves, bool nvidia);
/* "n1 (4), n2 (8)": each machine and its number of tests, in order of appearance. */
void phrase_hosts(struct buf *out, const struct run_data *run);
/* "180 s at 4096, 600 s at 8192", or one value if all are the same. */
void phrase_timeouts(struct buf *out, enum report_lang lang, const struct run_data *run);
/* Adds an item with its name, status and reason. */
void phrase_stopped_variant(const struct run_variant *variant, struct md *w);
/* "1", or "2 at 4096, 1 at 8192": counted repetitions, then warm-up repetitions if there are any. */
void phrase_repetitions(struct buf *out, enum report_lang lang, const struct run_data *run);
