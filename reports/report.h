/* report: what people read of a stored run: a document in Markdown or HTML, and tables for a terminal.
 *
 * A request names a run (and perhaps what to hold it against); everything that a report says is computed from
 * the store first (model.h) and then only written down. The same store and request give the same bytes: no
 * clock, host name or locale enters. The caller owns the store, the strings and the buffer; nothing here
 * writes a file, but plots into `asset_dir`. Errors: ERR_INPUT for a run or baseline that does not exist,
 * ERR_STORAGE.
 */
#ifndef KERNSWEEP_REPORTS_REPORT_H
#define KERNSWEEP_REPORTS_REPORT_H

#include "common/base/buf.h"
#include "common/base/err.h"
#include "results/judge/compare.h"
#include "results/judge/hosts.h"
#include "results/store/run_data.h"
#include "results/store/store.h"

#include <stdbool.h>
#include <stddef.h>

enum { REPORT_BYTES_MAX = 64 << 20 };

enum report_lang { REPORT_EN, REPORT_ES, REPORT_LANG_COUNT };

enum report_format { REPORT_MD, REPORT_HTML, REPORT_FORMAT_COUNT };

/* What the reader came for; it decides which sections there are and in which order. */
enum report_kind {
    REPORT_PREFILL,    /* a benchmark of one run: the form of B3.89 */
    REPORT_REGRESSION, /* why it is slower: the form of B3.90 */
    REPORT_KERNEL,     /* scaling over batch and heads, correctness, roofline */
    REPORT_NIGHTLY,    /* what changed since the nights before */
    REPORT_KIND_COUNT
};

struct report_request {
    struct store *store;
    const char *run;       /* a run id, a unique prefix, a bundle's folder, "latest" */
    const char *against;   /* likewise, or NULL */
    const char *baseline;  /* a stored baseline's name, or NULL; at most one of these two */
    const char *reference; /* variant that the others are set against; NULL: "baseline", else the first */
    enum report_kind kind;
    enum report_format format;
    enum report_lang langs[REPORT_LANG_COUNT]; /* the summary is in each of them, the body in the first */
    size_t n_langs;                            /* 0: English */
    const char *asset_dir;  /* folder for plots, made when missing; NULL: none beside the report */
    const char *asset_href; /* how the Markdown names that folder, relative to itself; NULL: asset_dir */
    const char *beside; /* absolute folder that the document will stand in: its links start there; NULL: they
                           start where people keep artifacts_remote/ */
    struct compare_options compare;
};

/* English, Markdown, prefill, the default thresholds; the caller fills in store and run. */
struct report_request report_defaults(void);

/* Appends the document. Initialise `out` with REPORT_BYTES_MAX. */
int report_render(const struct report_request *req, struct buf *out, struct err *err);
/* Both formats of one model, whose plots are drawn once; req->format is not looked at, asset_dir is given. */
int report_render_both(const struct report_request *req, struct buf *markdown, struct buf *html,
                       struct err *err);

/* Where the plots of a Markdown report go when nobody says: "<output without .md>.plots", named relative to
 * the report. dir and href: char[FS_PATH_MAX]. */
int report_assets_beside(const char *output, char *dir, char *href, struct err *err);

/* The absolute folder of that output file, for `beside`; false when there is none yet. */
bool report_folder(const char *output, char folder[FS_PATH_MAX]);

/* Words of the command line. False for an unknown one. */
bool report_kind_from_name(const char *name, enum report_kind *out);
bool report_format_from_name(const char *name, enum report_format *out);
/* "en", "es", "en,es"; each language at most once. */
bool report_langs_from_names(const char *names, struct report_request *req);

/* Tables for a terminal, in English, aligned with spaces, safe to print whatever names the run holds. colour:
 * ANSI colours on verdicts and statuses. */

/* What a finished run shows: Context, Variant, Kernel name, Prefill (s), vs Baseline, Status. */
int report_run_text(const struct run_data *run, size_t reference, bool colour, struct buf *out,
                    struct err *err);
/* The scaling table: factor against the smallest context, expected, exponent. Nothing when no variant was
 * measured at more than one context. */
int report_scaling_text(const struct run_data *run, bool colour, struct buf *out, struct err *err);
/* A comparison of two runs: a row a cell with its verdict and the evidence, then changed facts, then a count.
 */
int report_compare_text(const struct comparison *c, bool colour, struct buf *out, struct err *err);
/* How the machines that shared a run did: a row a machine, the slow ones marked. */
int report_hosts_text(const struct host_standing *hosts, size_t count, bool colour, struct buf *out,
                      struct err *err);

#endif
