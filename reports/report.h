/* report: a stored run as a document in Markdown or HTML. Tables for a terminal: tables/terminal.h.
 *
 * A request names a run (and perhaps what to compare it with); everything that a report states is computed
 * from the store first (model.h), then drawn and written. The same store and request give the same bytes: no
 * clock, host name or locale enters. The caller owns the store, the strings and the buffer; nothing here
 * writes a file, but plots into `asset_dir`. Errors: ERR_INPUT for a run or baseline that does not exist,
 * ERR_STORAGE.
 */
#pragma once

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/fs.h"
#include "reports/words/message.h"
#include "results/query/against.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum { REPORT_BYTES_MAX = 64 << 20 };

enum report_format { REPORT_MD, REPORT_HTML, REPORT_FORMAT_COUNT };

/* The reader's question; it determines the sections and their order. */
enum report_kind {
    REPORT_PREFILL,    /* a benchmark of one run, in the layout of B3.89 */
    REPORT_REGRESSION, /* why it is slower, in the layout of B3.90 */
    REPORT_KERNEL,     /* scaling over batch and heads, correctness, roofline */
    REPORT_NIGHTLY,    /* what changed since earlier nightly runs */
    REPORT_KIND_COUNT
};

struct report_request {
    struct store *store;
    const char *run;       /* a run id, a unique prefix, a bundle's folder, "latest" */
    const char *against;   /* another run, named in the same way, or NULL */
    const char *baseline;  /* a stored baseline's name, or NULL; at most one of these two */
    const char *reference; /* variant that the others are compared with; NULL: "baseline", else the first */
    struct compare_options compare;
    /* An existing comparison of this run and its base: both or neither. The run is then not compared again:
     * `against` and `compare` have no effect, and `baseline` names the base. */
    const struct against *held_against;
    const struct comparison *comparison;
    enum report_kind kind;
    enum report_format format;
    enum report_lang langs[REPORT_LANG_COUNT]; /* the summary is in each of them, the body in the first */
    size_t n_langs;                            /* 0: as the run's plan says, else English */
    const char *asset_dir;                     /* folder for plots, created if missing; NULL: no plot files */
    const char *asset_href; /* path of that folder relative to the Markdown file; NULL: asset_dir */
    const char *beside; /* absolute folder of the document, to which its links are relative; NULL: relative to
                           the parent of artifacts_remote/ */
};

/* English, Markdown, prefill, the default thresholds; the caller fills in store and run. */
struct report_request report_defaults(void);

/* Appends the document. Initialise `out` with REPORT_BYTES_MAX. */
int report_render(const struct report_request *req, struct buf *out, struct err *err);
/* Both formats from one model, with the plots drawn once. Ignores req->format; asset_dir must be set. */
int report_render_both(const struct report_request *req, struct buf *markdown, struct buf *html,
                       struct err *err);

/* The default folder for the plots of a Markdown report, "<output without .md>.plots", and its path relative
 * to the report. dir and href: char[FS_PATH_MAX]. */
int report_assets_beside(const char *output, char *dir, char *href, struct err *err);

/* The absolute folder of an output file, for `beside`; false if it does not exist yet. */
bool report_folder(const char *output, char folder[FS_PATH_MAX]);

/* Values of command-line options. False for an unknown one. */
bool report_kind_from_name(const char *name, enum report_kind *out);
bool report_format_from_name(const char *name, enum report_format *out);
/* The "languages" of a plan, which may be NULL; English without any. Returns how many. */
size_t report_langs_of_plan(const json_t *plan, enum report_lang out[static REPORT_LANG_COUNT]);
/* "en", "es", "en,es"; each language at most once. */
bool report_langs_from_names(const char *names, struct report_request *req);
