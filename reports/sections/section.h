/* section: the parts of a document. Each writes itself with its heading, or nothing when there is nothing to
 * say. They read the model and write through the Markdown writer; none queries, and none knows the others.
 */
#ifndef KERNSWEEP_REPORTS_SECTIONS_SECTION_H
#define KERNSWEEP_REPORTS_SECTIONS_SECTION_H

#include "reports/model/model.h"
#include "reports/render/markdown.h"

typedef void section_fn(const struct report_model *m, struct md *w);

section_fn section_summary; /* written once a language, before the body */
section_fn section_configuration;
section_fn section_metrics;
section_fn section_performance;
section_fn section_consolidated;
section_fn section_speedup;
section_fn section_baseline;
section_fn section_history;
section_fn section_scaling;
section_fn section_memory;
section_fn section_stages;
section_fn section_validation;
section_fn section_instability;
section_fn section_kernel; /* several headings of its own */
section_fn section_evidence;
section_fn section_build;
section_fn section_node;
section_fn section_cost;
section_fn section_next_steps;
section_fn section_artifacts;
section_fn section_reproduction;

/* Puts the pictures of a kind where a section wants them. */
void section_figure(const struct report_model *m, struct md *w, enum plot_kind kind);

#endif
