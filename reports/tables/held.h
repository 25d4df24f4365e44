/* held: what held the tests of a run together, and the images of its containers, as words. */
#pragma once

#include "common/base/buf.h"
#include "results/judge/compare.h"

/* "cgroup (12), container (3)": perf.json's words, with the number of tests; nothing where no test says. */
void held_words(const struct run_data *run, struct buf *out);
/* The same, and the image of each variant, in lines for a terminal. */
void terminal_held(const struct run_data *run, struct buf *out);
