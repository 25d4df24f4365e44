/* run_lanes: carries out the tests of a run on its lanes, as many at once as there are lanes, in one loop. A
 * lane that can run no more tests is taken out: what it has left moves to the others.
 */
#pragma once

#include "executor/suite/suite.h"

/* Until every test is final, or the loop was told to stop. Needs s->lanes. */
int run_lanes(struct suite *s, struct err *err);
