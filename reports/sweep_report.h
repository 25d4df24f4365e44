/* sweep_report: one sweep of several nodes as a document, side by side, or as tables for a terminal. As
 * report.h, it writes no file. Each node's run has its own report besides. Errors: ERR_INPUT if nothing of
 * the sweep is known, ERR_STORAGE.
 */
#pragma once

#include "reports/model/sweep.h"
#include "reports/render/table.h"
#include "reports/report.h"

struct sweep_request {
    struct store *store;
    const char *sweep; /* its id */
    const struct sweep_node
        *nodes; /* as the sweep's record has them, in the order of the plan; may be none */
    size_t n_nodes;
    const char *ticket; /* for a sweep of which no node has a run; or NULL */
    enum report_format format;
    enum report_lang langs[REPORT_LANG_COUNT];
    size_t n_langs; /* 0: as the plan says, else English */
};

/* Appends the document. Initialise `out` with REPORT_BYTES_MAX. */
int sweep_report_render(const struct sweep_request *req, struct buf *out, struct err *err);
int sweep_report_render_both(const struct sweep_request *asked, struct buf *markdown, struct buf *html,
                             struct err *err);
/* The tables, in English. */
int sweep_report_terminal(const struct sweep_request *req, struct screen screen, struct buf *out,
                          struct err *err);
