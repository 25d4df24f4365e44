/* recorded: a plan that lies in a bundle, as plan.json beside job.json. It stands for the run that made the
 * bundle: the same tests, and the same sources by their hash. Its source.dir is not used, as it was relative
 * to the folder of the original plan.
 */
#pragma once

#include "common/contract/settings.h"
#include "harness/plan/matrix.h"
#include "harness/plan/variants.h"

/* *job: the bundle's job, owned by the caller; NULL if the file is an ordinary plan. */
int recorded_load(json_t **job, const char *plan_file, struct err *err);
/* Bundles do not contain the values of secrets, so they are taken from the environment. */
int recorded_secrets(json_t *plan, const char *file, struct err *err);
/* Returns a new copy of a job or plan, as a bundle has it. */
json_t *recorded_without_secrets(const json_t *job);
/* Reduces a plan to the job's tests and sets the job's mode and tag, which it borrows. root: the plan. */
int recorded_apply(const json_t *job, struct plan_variants *v, struct matrix *m, struct settings *settings,
                   const struct json_at *root, struct err *err);
const char *recorded_run_id(const json_t *job);
/* The node of the job, or "". */
const char *recorded_node(const json_t *job);
/* The hash of the plan as its author wrote it. */
const char *recorded_plan(const json_t *job);
/* The hash of the sources, or NULL. */
const char *recorded_source(const json_t *job);
/* What git knew of the sources, borrowed, or NULL. */
json_t *recorded_git(const json_t *job);
