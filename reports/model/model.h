/* model: everything that a report may say of a run, loaded and computed once, then only read.
 *
 * The one place of reports/ that queries the store. Loading draws nothing, writes nothing and starts no
 * process. A comparison that was made already is taken as it is; the run is compared here only without one.
 * The model owns what it points to, except the comparison that it was given. Release it also after a failed
 * load.
 */
#ifndef KERNSWEEP_REPORTS_MODEL_MODEL_H
#define KERNSWEEP_REPORTS_MODEL_MODEL_H

#include "reports/model/resources.h"
#include "reports/model/view.h"
#include "reports/words/quantity.h"
#include "results/judge/history.h"
#include "results/judge/launches.h"
#include "results/query/against.h"
#include "results/query/report_queries.h"
#include "results/store/details.h"

/* What a report is about. Borrowed; NULL where absent. */
struct report_subject {
    struct store *store;
    const char *run;      /* a run id, a unique prefix, a bundle's folder, "latest" */
    const char *against;  /* another run, in the same words */
    const char *baseline; /* a stored baseline's name; at most one of these two */
    const char *
        reference; /* variant that the others are compared with; NULL: the plan's, "baseline", or the first */
    struct compare_options compare;
    /* The comparison of this run that was made already, with what it was made against; both or none. They
     * outlive the model. Then `against` and `compare` have no effect, and `baseline` names the base. */
    const struct against *held_against;
    const struct comparison *comparison;
};

/* Memory over time of one test: the largest context of a variant. */
struct memory_trace {
    size_t variant; /* index into now.variants */
    int context;
    bool vram; /* of the GPU, else the resident size of the test's processes */
    size_t count;
    double *t; /* seconds since the test's start */
    double *bytes;
};

/* When a cell's series changed its level. */
struct level_change {
    const struct history_series *series;
    size_t at; /* index of the first point of the new level; series->count: this run */
    char run_id[RUN_ID_MAX];
    char date[11];
    double before;
    double after;
    double p;
};

/* Memory use of the tests of a cell; bytes, NaN where it was not measured. */
struct memory_row {
    const struct cell *cell;
    double vram_before; /* the lowest that any of its tests found in use */
    double vram_peak;   /* median over the counted tests */
    double vram_after;  /* the highest that any left in use */
    double rss_peak;    /* median, of the test's processes */
    double slope;       /* bytes per second over the second half, the steepest; of VRAM, else of RSS */
    bool kept;          /* a test left more in use than it found */
    bool growing;       /* still growing at the end, by more than a twentieth of the peak */
};

/* What a cell of a kernel benchmark printed; NaN where it did not. */
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
};

/* Prefill time of a model by stage: seconds, as one test of the cell printed them. */
struct stage_row {
    const struct cell *cell;
    double gemm_s;
    double attention_s;
    double other_s;
    double roofline_share; /* NaN where the rate of large products was not measured */
};

struct report_model {
    const struct report_subject *subject; /* while it is being loaded */
    struct quantity primary;              /* what decides, and how it is shown */
    json_t *plan;                         /* as it was run; NULL when it is not known */
    struct run_data now;
    size_t reference; /* index into now.variants */
    struct variant_delta *vs;
    size_t n_vs;
    struct scaling_set scaling;

    const struct against *against;       /* the base, the nights before, the noise; empty when base_is_now */
    const struct comparison *comparison; /* empty without has_comparison */
    char baseline[RUN_NAME_MAX];         /* the stored baseline's name, "" when a run was named */
    bool base_is_now;                    /* the run itself is that base: nothing to compare */
    bool has_comparison;                 /* with the base, or with the nights alone */
    struct against own_against;          /* what the two above point to unless the subject brought them */
    struct comparison own_comparison;
    const struct delta *
        *findings; /* verdicts of the primary metric, the most telling first; they point into comparison */
    size_t n_findings;

    struct memory_trace *traces; /* at most one per variant, in plan order */
    size_t n_traces;
    struct memory_row *memory; /* one per cell, by context */
    size_t n_memory;
    struct cost_list costs;
    struct kernel_point *kernels; /* in the order of now.cells; none when no cell says its shape */
    struct launch *launches;      /* shape and grid of kernels[i] */
    size_t n_kernels;
    bool kernels_alone; /* every test launched one kernel at a recorded shape: no prompt was processed */
    struct stage_row *stages; /* by context; none when no test ran a model */
    size_t n_stages;
    struct run_details details;
    struct variant_resources *resources; /* one per variant; without kernels when nothing was recorded */
    struct level_change *changes;        /* of the series of this run's cells, in the order of the findings */
    size_t n_changes;
};

int report_model_load(struct report_model *m, const struct report_subject *subject, struct err *err);
void report_model_release(struct report_model *m);

const char *report_model_reference(const struct report_model *m);

/* What a summary calls a variant; in a kernel plan all shapes share one name. */
const char *report_model_variant(const struct report_model *m, size_t variant);
/* Whether both have that name in common. */
bool report_model_same(const struct report_model *m, size_t a, size_t b);
/* Whether no earlier variant has that name. */
bool report_model_first(const struct report_model *m, size_t variant);

/* Whether a summary names it; the others are only counted there. */
bool report_finding_matters(const struct delta *d);

#endif
