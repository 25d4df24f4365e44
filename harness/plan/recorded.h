/* recorded: a plan that lies in a bundle, as plan.json beside job.json. It stands for the run that made the
 * bundle: the same tests, and the same sources by their hash. Its source.dir was relative to the folder of
 * the original plan, so it names nothing here.
 */
#pragma once

#include "common/contract/settings.h"
#include "harness/plan/matrix.h"
#include "harness/plan/variants.h"

/* *job: the bundle's job, owned by the caller; NULL if the file is an ordinary plan. */
int recorded_load(json_t **job, const char *plan_file, struct err *err);
/* Values of secrets are not in a bundle: takes them from the environment. */
int recorded_secrets(json_t *plan, const char *file, struct err *err);
/* A copy of a job, or a plan, as a bundle has it: the caller's. */
json_t *recorded_without_secrets(const json_t *job);
/* Reduces a plan to the job's tests, with the job's mode and tag, which it borrows. root: the plan. */
int recorded_apply(const json_t *job, struct plan_variants *v, struct matrix *m, struct settings *settings,
                   const struct json_at *root, struct err *err);
const char *recorded_run_id(const json_t *job);
/* Where it ran; "" if it does not say. */
const char *recorded_node(const json_t *job);
/* Hash of the plan as its author wrote it. */
const char *recorded_plan(const json_t *job);
/* NULL without sources. */
const char *recorded_source(const json_t *job);
/* What git knew of them, borrowed; NULL if nothing. */
json_t *recorded_git(const json_t *job);
