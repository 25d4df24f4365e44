/* model: everything that a report may state about a run, loaded and computed once, then only read.
 *
 * The one place of reports/ that queries the store. Loading draws nothing, writes nothing and starts no
 * process. An existing comparison is used unchanged; without one, the run is compared here.
 * The model owns everything it points to, except a comparison that it was given. Release it even after a
 * failed load.
 */
#pragma once

#include "reports/model/changed_code.h"
#include "reports/model/resources.h"
#include "reports/model/view.h"
#include "reports/words/quantity.h"
#include "results/judge/launches.h"
#include "results/judge/nights/history.h"
#include "results/judge/standings.h"
#include "results/query/against.h"
#include "results/query/counted.h"
#include "results/query/report_queries.h"
#include "results/store/details.h"
#include "results/store/note.h"

/* What a report is about. Borrowed; NULL where absent. */
struct report_subject {
    struct store *store;
    const char *run;      /* a run id, a unique prefix, a bundle's folder, "latest" */
    const char *against;  /* another run, named in the same way */
    const char *baseline; /* a stored baseline's name; at most one of these two */
    const char *
        reference; /* variant that the others are compared with; NULL: the plan's, "baseline", or the first */
    struct compare_options compare;
    /* An existing comparison of this run and its base: both or neither. They must outlive the model.
     * `against` and `compare` then have no effect, and `baseline` names the base. */
    const struct against *held_against;
    const struct comparison *comparison;
};

/* Memory over time of one test: the largest context of a variant. */
struct memory_trace {
    size_t variant; /* index into now.variants */
    int context;
    bool vram; /* true: memory of the GPU; false: resident size of the test's processes */
    size_t count;
    double *t; /* seconds since the test's start */
    double *bytes;
};

/* A level change in a cell's series. */
struct level_change {
    const struct history_series *series;
    size_t at; /* index of the first point of the new level; series->count: this run */
    char run_id[RUN_ID_MAX];
    char date[11];
    struct commit_range commits; /* between the last point of the old level and that one */
    double before;
    double after;
    double p;
};

/* A series whose history is drawn: one of the most important verdicts, with the dates of some of its points.
 */
enum { PLOTTED_MAX = 3, PLOTTED_TICS_MAX = 6, PLOTTED_POINTS_MIN = 5 };

struct plotted_series {
    const struct delta *delta;
    const struct history_series *series;
    size_t tics; /* evenly spaced, the first of the series among them */
    struct {
        size_t at; /* index of a point */
        char date[11];
    } tic[PLOTTED_TICS_MAX];
};

/* Memory use of the tests of a cell; bytes, NaN where it was not measured. */
struct memory_row {
    const struct cell *cell;
    double vram_before; /* in use before a test: the lowest value of all tests */
    double vram_peak;   /* median over the counted tests */
    double vram_after;  /* in use after a test: the highest value of all tests */
    double rss_peak;    /* median, of the test's processes */
    double slope;       /* bytes per second over the second half of the steepest test; of VRAM, else of RSS */
    bool kept;          /* a test left more memory in use than there was before it */
    bool growing;       /* still growing at the end, by more than 5 % of the peak */
};

/* A share of the roofline beyond this, however rounded, is none: the ceiling was measured lower than the test
 * reached. */
#define SHARE_OVER 1.005

/* What a cell of a kernel benchmark printed; NaN for missing values. */
struct kernel_point {
    const struct cell *cell;
    double max_abs;
    double rel_l2;
    double rows_checked;
    double tflops;
    double gb_per_s;
    double copy_gb_per_s;
    double fma_tflops;
    double matrix_tflops;
    double roofline_share;
    double kv_heads;
    double lds; /* dynamic, bytes per block */
};

/* Prefill time of a model by stage: seconds, as one test of the cell printed them. */
struct stage_row {
    const struct cell *cell;
    double gemm_s;
    double attention_s;
    double other_s;
    double roofline_share; /* NaN where the rate of large products was not measured */
};

/* What the tests of a kernel benchmark, or of a model, printed about themselves. */
struct kernel_report {
    struct kernel_point *points; /* in the order of now.cells; none if no cell states its shape */
    struct launch *launches;     /* shape and grid of points[i] */
    size_t count;
    bool alone; /* every test launched one kernel at a recorded shape: no prompt was processed */
    struct stage_row *stages; /* by context; none if no test ran a model */
    size_t n_stages;
};

struct memory_report {
    struct memory_row *cells; /* one per cell, by context */
    size_t count;
    struct memory_trace *traces; /* at most one per variant, in plan order */
    size_t n_traces;
};

struct history_report {
    struct level_change *changes; /* of the series of this run's cells, in the order of the findings */
    size_t n_changes;
    struct plotted_series plotted[PLOTTED_MAX];
    size_t n_plotted;
};

/* What the run is compared with. */
struct base_report {
    char name[RUN_NAME_MAX];     /* the stored baseline's, "" when a run was named */
    const char *unset;           /* a baseline that the plan names and the store lacks, where none other was
                                    asked for; or NULL */
    bool is_first;               /* the store has no other run of the plan on this node */
    bool is_now;                 /* the base is this run itself: nothing to compare */
    struct commit_range commits; /* since the base or, without one, since the last night */
    struct commit_range commits_of_night; /* since the last night, if that was not the base */
    struct counted counted;               /* hardware counters of both builds */
    struct changed_code changed_code;     /* since the base's newest run, or the night before */
    struct against own_against;           /* what report_model points to unless the subject brought them */
    struct comparison own_comparison;
};

enum { MODEL_PENDING_MAX = 4096 };

struct report_model {
    const struct report_subject *subject; /* while it is being loaded */
    struct quantity primary;              /* the metric that decides, and how it is shown */
    struct quantity scaled;               /* what `scaling` is of */
    json_t *plan;                         /* as it was run; NULL if unknown */
    char reason[RUN_REASON_MAX];          /* why the run is BLOCKED; "" if it is not, or unknown */
    char pending[MODEL_PENDING_MAX];      /* the command that was to make it; likewise */
    struct run_data now;
    struct run_details details;
    size_t reference; /* index into now.variants */
    struct variant_delta *vs;
    size_t n_vs;
    struct scaling_set scaling;

    const struct against *against;       /* the base, earlier nightly runs, noise; empty if base.is_now */
    const struct comparison *comparison; /* empty without has_comparison */
    bool has_comparison;                 /* with the base, or with earlier nightly runs only */
    const struct delta *
        *findings; /* verdicts of the primary metric, the most important first; point into comparison */
    size_t n_findings;
    struct base_report base;
    struct history_report history;

    struct memory_report memory;
    struct kernel_report kernel;
    struct variant_resources *resources; /* one per variant; without kernels if nothing was recorded */
    struct cost_list costs;
    struct notes notes;           /* of this run */
    struct place_standing *cards; /* one per GPU that the run's tests name */
    size_t n_cards;
};

int report_model_load(struct report_model *m, const struct report_subject *subject, struct err *err);
void report_model_release(struct report_model *m);

const char *report_model_reference(const struct report_model *m);

/* A variant's name in summaries; in a kernel plan all shapes of a kernel share one. */
const char *report_model_variant(const struct report_model *m, size_t variant);
/* Whether both variants have the same name in summaries. */
bool report_model_same(const struct report_model *m, size_t a, size_t b);
/* Whether this is the first variant with its name. */
bool report_model_first(const struct report_model *m, size_t variant);

/* Whether a summary names the finding; the others are only counted. */
bool report_finding_matters(const struct delta *d);
