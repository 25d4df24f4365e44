/* standings_table: the places that shared a run as a table: which one stands out, by how much, how sure. */
#pragma once

#include "reports/render/table.h"
#include "reports/words/message.h"
#include "results/judge/standings.h"

/* One row per place, slow ones marked. cards: GPUs that differ from before by themselves, which then is a
 * column more; may be NULL. */
void table_standings(struct table *t, enum place_kind by, const struct place_standing *places, size_t count,
                     const struct card_shifts *cards, enum report_lang lang);
