/* advice_support: a report as text, and what stands in it. Everything is inline, as in support.h. */
#pragma once

#include "tests/unit/results_support.h"

#include "reports/report.h"

/* The document of the newest run, or of req.run if that is given, to be free()d. */
static inline char *render(struct store *s, struct report_request req)
{
    struct err err = {0};
    struct buf out;
    req.store = s;
    req.run = req.run ? req.run : "latest";
    buf_init(&out, REPORT_BYTES_MAX);
    assert_ok(report_render(&req, &out, &err), &err);
    return buf_steal(&out);
}

/* The document of a store of this one run, to be free()d. Takes the draft. */
static inline char *render_draft(const char *db, struct draft *d, enum report_lang lang)
{
    struct store s = open_store(db);
    struct report_request req = report_defaults();
    req.langs[0] = lang;
    req.reference = "base";
    char id[sizeof d->info.run_id];
    snprintf(id, sizeof id, "%s", d->info.run_id);
    req.run = id;
    must_store(&s, d);
    char *text = render(&s, req);
    store_close(&s);
    return text;
}

/* A file of the run, borrowed from the draft. */
static inline struct run_file *add_file(struct draft *d, const char *body)
{
    d->details.files = reallocarray(d->details.files, d->details.n_files + 1, sizeof *d->details.files);
    struct run_file *f = &d->details.files[d->details.n_files++];
    *f = (struct run_file){.size = (int64_t)strlen(body), .body = strdup(body)};
    sha256_of(body, strlen(body), f->sha256);
    return f;
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
