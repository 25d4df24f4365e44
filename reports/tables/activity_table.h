/* activity_table: what the card did while the cells of a run were measured: clocks, power, temperature,
 * throttling, energy, processes of others. No rows where nothing of it was measured.
 */
#pragma once

#include "reports/model/view.h"
#include "reports/render/table.h"
#include "reports/words/message.h"

void table_activity(struct table *t, const struct run_data *run, enum report_lang lang);
