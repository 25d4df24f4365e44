/* plan_parts: the nested parts of a plan file, each checked by one function. Private to plan*.c.
 */
#ifndef KERNSWEEP_HARNESS_PLAN_PARTS_H
#define KERNSWEEP_HARNESS_PLAN_PARTS_H

#include "common/base/json.h"
#include "harness/plan/plan.h"

int plan_load_env(struct plan *p, const struct json_at *root, struct err *err);
int plan_load_source(struct plan *p, const struct json_at *root, struct err *err);
int plan_load_variants(struct plan *p, const struct json_at *root, struct err *err);
/* Before the variants: whether they may use a shape's placeholders depends on it. */
int plan_load_shapes(struct plan *p, const struct json_at *root, struct err *err);
/* After them: each becomes one a shape. */
int plan_apply_shapes(struct plan *p, struct err *err);
void plan_release_shapes(struct plan *p);
int plan_load_contexts(struct plan *p, const struct json_at *root, struct err *err);
int plan_load_timings(struct plan *p, const struct json_at *root, struct err *err);

bool plan_mode_ok(const char *mode);

#endif
