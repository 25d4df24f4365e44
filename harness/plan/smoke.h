/* smoke: a plan cut down to the cheapest run that tries all of it: each variant once, at its first shape and
 * the smallest context.
 */
#ifndef KERNSWEEP_HARNESS_PLAN_SMOKE_H
#define KERNSWEEP_HARNESS_PLAN_SMOKE_H

#include "harness/plan/plan.h"

void plan_smoke(struct plan *p);

#endif
