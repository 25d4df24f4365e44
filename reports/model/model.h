/* model: everything that a report may say of a run, loaded and computed once, then only read.
 *
 * It is the one place of reports/ that queries the store; sections and renderers get a const model. The model
 * owns all it points to, except the request's strings. Release it also after a failed load.
 */
#ifndef KERNSWEEP_REPORTS_MODEL_MODEL_H
#define KERNSWEEP_REPORTS_MODEL_MODEL_H

#include "reports/model/resources.h"
#include "reports/plot/plot.h"
#include "reports/render/tables.h"
#include "reports/report.h"
#include "results/judge/compare.h"
#include "results/judge/history.h"
#include "results/judge/launches.h"
#include "results/judge/scaling.h"
#include "results/judge/within.h"
#include "results/query/against.h"
#include "results/query/report_queries.h"
#include "results/store/details.h"

/* Memory over time of one test: the largest context of a variant. */
struct memory_trace {
    size_t variant; /* index into now.variants */
    int context;
    bool vram; /* of the GPU, else the resident size of the test's processes */
    size_t count;
    double *t; /* seconds since the test's start */
    double *bytes;
};

/* When a cell's series took another level. */
struct level_change {
    const struct history_series *series;
    size_t at; /* index of the first point of the new level; series->count: this run */
    char run_id[RUN_ID_MAX];
    char date[11];
    double before;
    double after;
    double p;
};

/* What the tests of a cell did with memory; bytes, NaN where it was not measured. */
struct memory_row {
    const struct cell *cell;
    double vram_before; /* the least that any of its tests found in use */
    double vram_peak;   /* median over the counted tests */
    double vram_after;  /* the most that any left in use */
    double rss_peak;    /* median, of the test's processes */
    double slope;       /* bytes a second over the second half, the steepest; of VRAM, else of RSS */
    bool kept;          /* a test left more in use than it found */
    bool growing;       /* still growing at the end, by more than a twentieth of the peak */
};

/* A cell of a kernel benchmark: what it printed; NaN where it did not. */
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

/* Where a model's prefill spent its time: seconds of one test of a cell, as the test told them. */
struct stage_row {
    const struct cell *cell;
    double gemm_s;
    double attention_s;
    double other_s;
    double roofline_share; /* NaN where the rate of large products was not measured */
};

struct report_model {
    const struct report_request *req;
    enum metric metric; /* what decides: prefill time, or a kernel's where only that was measured */
    json_t *plan;       /* as it was run; NULL when it is not known */
    struct run_data now;
    size_t reference; /* index into now.variants */
    struct variant_delta *vs;
    size_t n_vs;
    struct scaling_set scaling;

    struct against against;      /* the base, the nights before, the noise; empty when base_is_now */
    char baseline[RUN_NAME_MAX]; /* the stored baseline's name, "" when a run was named */
    bool base_is_now;            /* the run itself is that base: nothing to compare */
    bool has_comparison;         /* with the base, or with the nights alone */
    struct comparison comparison;
    const struct delta **findings; /* prefill verdicts, the most telling first; they point into comparison */
    size_t n_findings;

    struct memory_trace *traces; /* at most one a variant, in plan order */
    size_t n_traces;
    struct memory_row *memory; /* one a cell, by context */
    size_t n_memory;
    struct cost_list costs;
    struct kernel_point *kernels; /* in the order of now.cells; none when no cell says its shape */
    struct launch *launches;      /* of kernels[i] the shape and the grid */
    size_t n_kernels;
    bool kernels_alone; /* every test launched one kernel at a shape that it says: no prompt was processed */
    struct stage_row *stages; /* by context; none where no test ran a model */
    size_t n_stages;
    struct run_details details;
    struct variant_resources *resources; /* one a variant; without kernels when nothing was recorded */
    struct level_change *changes;        /* of the series of this run's cells, in the order of the findings */
    size_t n_changes;
    struct plot_set plots;
};

int report_model_load(struct report_model *m, const struct report_request *req, struct err *err);
void report_model_release(struct report_model *m);

struct variant_view report_model_view(const struct report_model *m);
const char *report_model_reference(const struct report_model *m);

/* What a summary calls a variant: of a kernel plan one name for all shapes. */
const char *report_model_variant(const struct report_model *m, size_t variant);
/* Whether no earlier variant has that name. */
bool report_model_first(const struct report_model *m, size_t variant);

/* Whether a summary must name it: the others are only counted there. */
bool report_finding_matters(const struct delta *d);

/* The bundle as people name it: from "artifacts_remote/" on, else the path as stored. "" when unknown. */
const char *report_model_bundle(const struct run_info *info);
/* What a link to a file of this run's bundle names. */
void report_model_link(const struct report_model *m, const char *file, char *out, size_t size);

#endif
