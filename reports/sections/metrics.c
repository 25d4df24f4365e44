/* Key metrics: one JSON object per cell, in the form that people and scripts know from hand-written
 * reports. */
#include "common/base/alloc.h"
#include "reports/sections/record.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* With more contexts the tables are easier to read. */
enum { CONTEXTS_MAX = 8 };

static void put(json_t *object, const char *key, double value)
{
    if (isfinite(value))
        json_object_set_new(object, key, json_real(value));
}

static json_t *encode_timings(const struct cell *c)
{
    json_t *timings = json_object();
    for (int m = 0; m < METRIC_COUNT; m++)
        if (metric_info((enum metric)m)->timing)
            put(timings, metric_info((enum metric)m)->name, c->median[m]);
    if (*c->attn_impl)
        json_object_set_new(timings, "attn_impl", json_string(c->attn_impl));
    return timings;
}

/* Whether perf.json has it beside the timings, like "wall_time_sec", but unlike "vram.peak_bytes". */
static bool stands_beside_timings(const struct metric_info *info)
{
    return info->kind == METRIC_OF_TEST && info->artifact && !strchr(info->artifact, '.');
}

static json_t *encode_cell(const struct run_data *run, const struct cell *c)
{
    json_t *o = json_object();
    json_object_set_new(o, "ticket", json_string(run->info.ticket));
    json_object_set_new(o, "variant", json_string(run->variants[c->variant].name));
    json_object_set_new(o, "context_len", json_integer(c->context));
    json_object_set_new(o, "repetitions", json_integer(c->counted));
    for (int m = 0; m < METRIC_COUNT; m++)
        if (stands_beside_timings(metric_info((enum metric)m)))
            put(o, metric_info((enum metric)m)->artifact, c->median[m]);
    json_object_set_new(o, "exit_status", json_string(status_name(c->status)));
    json_object_set_new(o, "timings", encode_timings(c));
    return o;
}

static void write_cell(const struct run_data *run, const struct cell *c, struct md *w)
{
    json_auto_t *o = encode_cell(run, c);
    AUTO_FREE char *text = json_dumps(o, JSON_INDENT(2) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(10));
    if (text)
        md_code_block(w, "json", text, strlen(text));
    else
        w->out->failed = true;
}

/* The status and reason of a cell that was not measured are shown elsewhere. */
static bool has_metrics(const struct report_model *m, const struct cell *c)
{
    return c->variant == m->reference && isfinite(c->median[m->primary.metric]);
}

static int contexts_of(const struct report_model *m)
{
    int n = 0;
    for (size_t i = 0; i < m->now.n_cells; i++)
        n += has_metrics(m, &m->now.cells[i]);
    return n;
}

void record_metrics(const struct report_model *m, struct md *w)
{
    int n = contexts_of(m);
    if (n == 0 || n > CONTEXTS_MAX)
        return;
    md_heading(w, 3, MSG_H_METRICS);
    md_para(w, MSG_METRICS_NOTE, m->now.variants[m->reference].name);
    for (size_t i = 0; i < m->now.n_cells; i++) /* cells of a variant are ordered by context */
        if (has_metrics(m, &m->now.cells[i]))
            write_cell(&m->now, &m->now.cells[i], w);
}
