/* bench_output: the result of `kernsweep bench`: one row per command, as text, Markdown or JSON. */
#pragma once

#include "common/base/buf.h"
#include "reports/tables/bench.h"

#include <jansson.h>

struct bench_result {
    struct bench_table table;
};

void bench_output_text(const struct bench_result *r, bool colour, struct buf *out);
void bench_output_markdown(const struct bench_result *r, struct buf *out);
json_t *bench_output_encode(const struct bench_result *r, int exit_code);
