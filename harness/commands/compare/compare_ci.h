/* compare_ci: a comparison in formats of build servers: test cases (JUnit), annotations (GitHub). */
#pragma once

#include "common/base/buf.h"
#include "results/judge/compare.h"

/* A failed test case for each cell, GPU and common factor that makes the comparison fail. suspects: whether a
 * suspect does, too (--fail-on suspected), here and below. */
void compare_write_junit(const struct comparison *c, bool suspects, struct buf *out);
/* An annotation for each finding, each suspect, and each that is gone. */
void compare_write_github(const struct comparison *c, bool suspects, struct buf *out);
