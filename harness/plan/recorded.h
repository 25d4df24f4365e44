/* recorded: a plan that lies in a bundle, as plan.json beside job.json. It stands for the run that made the
 * bundle: the same tests, and the same sources by their hash. Its source.dir was relative to the folder of the
 * original plan, so it names nothing here.
 */
#ifndef KERNSWEEP_HARNESS_PLAN_RECORDED_H
#define KERNSWEEP_HARNESS_PLAN_RECORDED_H

#include "common/base/err.h"

#include <jansson.h>

struct plan;

/* *job: the bundle's job, owned by the caller; NULL if the file is an ordinary plan. */
int recorded_load(json_t **job, const char *plan_file, struct err *err);
/* Values of secrets are not in a bundle: takes them from the environment. */
int recorded_secrets(json_t *plan, const char *file, struct err *err);
/* Reduces the plan to the job's tests, and gives it the job's mode, tag and hash of the plan. */
int recorded_apply(struct plan *p, struct err *err);
const char *recorded_run_id(const json_t *job);
/* NULL without sources. */
const char *recorded_source(const json_t *job);

#endif
