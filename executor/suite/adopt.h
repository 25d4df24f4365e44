/* adopt: copies results from an attempt's folder into the run's. They are copied so that an attempt that goes
 * on writing (its node was only thought dead) changes nothing accepted, and put in place by one rename so
 * that a result is there completely or not at all. Only the run's supervisor adopts; a result is never
 * replaced.
 */
#pragma once

#include "executor/suite/suite.h"

/* from: the run folder inside the attempt's; seal: the hash of perf.json that the attempt's journal gives
 * with the test's end. Returns 1 adopted and final in s, 0 there is none that the attempt wrote, -1 error. */
int adopt_test(struct suite *s, size_t test, const char *from, const char *seal, struct err *err);
/* Adopts the outcome of preparing a variant: its state, and the files beside its tests. Returns as above. */
int adopt_variant(struct suite *s, size_t variant, const char *from, struct err *err);
/* Adopts the attempt's node.json as nodes/<host>.json; the first one also becomes the run's node.json. */
int adopt_node(struct suite *s, const char *host, const char *from, struct err *err);
