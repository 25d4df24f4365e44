/* ticket_report: a ticket over its dates as a document: its runs with their verdicts, what the reference did
 * from run to run, what was blocked and is pending, and the notes about it. As report.h, it writes no file.
 * Errors: ERR_INPUT for a ticket without a run, ERR_STORAGE.
 */
#pragma once

#include "reports/report.h"

/* Of the request, store, format, langs and beside matter. Initialise `out` with REPORT_BYTES_MAX. */
int ticket_report_render(const struct report_request *req, const char *ticket, struct buf *out,
                         struct err *err);
