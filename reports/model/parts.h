/* parts: the steps of report_model_load(), each in its own file. Private to model/. Each
 * fills its part of the model, which report_model_release() frees.
 */
#pragma once

#include "reports/model/model.h"

void model_findings(struct report_model *m);
/* Fills in the base and the comparison, unless the subject provides both. */
int model_comparison(struct report_model *m, struct err *err);
/* Finds what was committed in between. */
int model_commits(struct report_model *m, struct err *err);
int model_changes(struct report_model *m, struct err *err);
/* Chooses the series to draw, with their dates. */
int model_plotted(struct report_model *m, struct err *err);
int model_memory(struct report_model *m, struct err *err);
int model_kernels(struct report_model *m, struct err *err);
int model_resources(struct report_model *m, struct err *err);
/* Needs the comparison and the details, which the resources load. */
int model_changed_code(struct report_model *m, struct err *err);
/* Which kernels of each build were launched; needs resources and kernels. */
void model_launched(struct report_model *m);
/* The reason that the run's summary gives, printable; out stays as it is without one. */
int model_reason(const struct run_details *details, char *out, size_t size, struct err *err);
/* The command that its summary calls pending. */
int model_pending(const struct run_details *details, char *out, size_t size, struct err *err);
/* Loads the run and its comparison, and nothing else. */
int model_judge(struct report_model *m, const struct report_subject *subject, struct err *err);
int model_traces(struct report_model *m, struct err *err);
