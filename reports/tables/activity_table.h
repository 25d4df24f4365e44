/* activity_table: what the card did while the cells of a run were measured: clocks, power, temperature,
 * throttling, energy, processes of others. No rows where nothing of it was measured.
 */
#pragma once

#include "reports/model/view.h"
#include "reports/render/table.h"
#include "reports/words/message.h"

/* The parts of a test that were measured, so that numbers of different parts never stand in one column. */
enum activity_part { PART_TIMED, PART_BUSY, PART_TEST, PART_UNTOLD, PART_DIFFERS, ACTIVITY_PARTS };

/* Returns what says so above the table of a part. */
enum msg activity_part_msg(enum activity_part part);
/* Cells whose tests differ in it have no numbers that could be compared: only which they are. */
void table_activity(struct table *t, const struct run_data *run, enum activity_part part,
                    enum report_lang lang);
