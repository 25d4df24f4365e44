#include "reports/tables/bench_export.h"

#include "common/base/alloc.h"
#include "results/stats/stats.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

static json_t *encode_number(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

static json_t *encode_memory(double bytes)
{
    return isnan(bytes) ? json_null() : json_integer((json_int_t)bytes);
}

/* Adds what is told of each run. Returns how many there are. */
static size_t add_runs(const struct run_data *run, const struct cell *c, json_t *out, double *wall_s)
{
    json_t *times = json_array(), *memory = json_array(), *codes = json_array();
    size_t n = 0;
    for (size_t i = c->first; i < c->first + c->count; i++) {
        const struct run_test *t = &run->tests[i];
        if (t->warmup || t->status != STATUS_OK || isnan(t->value[METRIC_WALL_S]))
            continue;
        wall_s[n++] = t->value[METRIC_WALL_S];
        json_array_append_new(times, json_real(t->value[METRIC_WALL_S]));
        json_array_append_new(memory, encode_memory(t->value[METRIC_RSS_PEAK]));
        json_array_append_new(codes, t->exit_code == RUN_UNKNOWN ? json_null() : json_integer(t->exit_code));
    }
    json_object_set_new(out, "times", times);
    json_object_set_new(out, "memory_usage_byte", memory);
    json_object_set_new(out, "exit_codes", codes);
    return n;
}

/* Returns NULL for a command that was not measured. */
static json_t *encode_result(const struct bench_table *b, size_t i, const json_t *parameters)
{
    struct bench_row row;
    bench_row_fill(b, i, &row);
    free(row.values);
    if (!row.cell)
        return NULL;
    AUTO_FREE double *wall_s = xcalloc(row.cell->count, sizeof *wall_s);
    json_t *runs = json_object();
    size_t n = add_runs(b->run, row.cell, runs, wall_s);
    json_t *out =
        n == 0 ? NULL
               : json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "command", row.command, "mean",
                           encode_number(stats_mean(wall_s, n)), "stddev", encode_number(stats_sd(wall_s, n)),
                           "median", encode_number(stats_median(wall_s, n)), "user",
                           encode_number(row.user_s), "system", encode_number(row.system_s), "min",
                           encode_number(stats_quantile(wall_s, n, 0)), "max",
                           encode_number(stats_quantile(wall_s, n, 1)));
    if (out)
        json_object_update(out, runs);
    if (out && json_object_size(parameters) > 0)
        json_object_set(out, "parameters", (json_t *)(uintptr_t)parameters);
    json_decref(runs);
    return out;
}

json_t *bench_export(const struct bench_table *b, const json_t *parameters)
{
    json_t *results = json_array();
    for (size_t i = 0; i < b->run->n_variants; i++) {
        json_t *one = encode_result(b, i, json_array_get(parameters, i));
        if (one)
            json_array_append_new(results, one);
    }
    return json_pack("{s:o}", "results", results);
}
