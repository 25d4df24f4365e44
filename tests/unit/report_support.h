/* report_support: shared by the tests of whole documents. Everything is inline, as in support.h. */
#pragma once

#include "reports/report.h"
#include "tests/unit/results_support.h"

/* The document, to be free()d. */
static inline char *render(struct store *store, struct report_request req, const char *run)
{
    struct err err = {0};
    struct buf out;
    buf_init(&out, REPORT_BYTES_MAX);
    req.store = store;
    req.run = run;
    assert_ok(report_render(&req, &out, &err), &err);
    char *text = buf_steal(&out);
    assert_non_null(text);
    return text;
}
