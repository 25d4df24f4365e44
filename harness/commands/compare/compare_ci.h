/* compare_ci: a comparison in formats of build servers: test cases (JUnit), annotations (GitHub). */
#pragma once

#include "common/base/buf.h"
#include "results/judge/compare.h"

/* A failed test case for each cell, GPU and common factor that makes the comparison fail. */
void compare_write_junit(const struct comparison *c, struct buf *out);
/* An annotation for each finding. */
void compare_write_github(const struct comparison *c, struct buf *out);
