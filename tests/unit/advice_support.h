/* advice_support: a report as text, and what stands in it. Everything is inline, as in support.h. */
#ifndef KERNSWEEP_TESTS_UNIT_ADVICE_SUPPORT_H
#define KERNSWEEP_TESTS_UNIT_ADVICE_SUPPORT_H

#include "tests/unit/results_support.h"

#include "reports/report.h"

/* The document, to be free()d. */
static inline char *render(struct store *s, struct report_request req)
{
    struct err err = {0};
    struct buf out;
    req.store = s;
    req.run = "latest";
    buf_init(&out, REPORT_BYTES_MAX);
    assert_ok(report_render(&req, &out, &err), &err);
    return buf_steal(&out);
}

static inline void holds(const char *text, const char *words)
{
    if (!strstr(text, words))
        fail_msg("\"%s\" is missing in:\n%s", words, text);
}

static inline void lacks(const char *text, const char *words)
{
    if (strstr(text, words))
        fail_msg("\"%s\" stands in:\n%s", words, text);
}

#endif
