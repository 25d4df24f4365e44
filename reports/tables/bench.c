#include "reports/tables/bench.h"

#include "common/base/alloc.h"
#include "reports/words/quantity.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COMMAND_SHOWN = 48 };

static const struct delta *find_delta(const struct bench_table *b, const char *variant, enum metric m)
{
    for (size_t i = 0; b->comparison && i < b->comparison->count; i++)
        if (b->comparison->deltas[i].metric == m && strcmp(b->comparison->deltas[i].variant, variant) == 0)
            return &b->comparison->deltas[i];
    return NULL;
}

void bench_row_fill(const struct bench_table *b, size_t i, struct bench_row *row)
{
    enum metric m = run_data_metric(b->run);
    const struct run_variant *v = &b->run->variants[i];
    *row = (struct bench_row){
        .name = v->name, .command = i < b->n_commands ? b->commands[i] : "", .interval = {NAN, NAN}};
    row->cell = run_data_cell(b->run, v->name, 1);
    row->delta = find_delta(b, v->name, m);
    if (!row->cell)
        return;
    row->values = xcalloc(row->cell->count, sizeof *row->values);
    row->n = run_data_values(b->run, row->cell, m, row->values);
    row->interval = median_interval(row->values, row->n);
}

/* By how much a command is faster or slower than the first. */
static void write_difference(const struct delta *d, enum metric m, char *out, size_t size)
{
    bool time = metric_is_time(m), better = d->verdict == VERDICT_IMPROVED;
    snprintf(out, size, "%s by %s", better ? (time ? "faster" : "better") : (time ? "slower" : "worse"),
             metric_with_unit(m, fabs(d->now.median - d->reference.value)).s);
}

static void write_verdict(const struct bench_row *row, enum metric m, char *out, size_t size)
{
    const struct delta *d = row->delta;
    if (!d) {
        snprintf(out, size, "%s", row->n > 0 ? "reference" : "-");
        return;
    }
    switch (d->verdict) {
    case VERDICT_IMPROVED:
    case VERDICT_REGRESSED:
        write_difference(d, m, out, size);
        return;
    case VERDICT_UNCHANGED:
        snprintf(out, size, "no difference");
        return;
    case VERDICT_NOISY:
        if (d->reason == REASON_NEGLIGIBLE)
            snprintf(out, size, "not judged: %s, up to %s",
                     metric_difference(m, d->now.median - d->reference.value).s, metric_least(m).s);
        else
            snprintf(out, size, "inconclusive");
        return;
    case VERDICT_ACCEPTED:
    case VERDICT_SUSPECTED: /* there are no nights */
    case VERDICT_NEW:
    case VERDICT_MISSING:
    case VERDICT_BROKEN:
    case VERDICT_FAILING:
    case VERDICT_FIXED: /* the first one failed */
    case VERDICT_COUNT:
        break;
    }
    snprintf(out, size, "not compared");
}

static enum cell_mark mark_of(const struct bench_row *row)
{
    if (!row->delta || row->delta->verdict == VERDICT_UNCHANGED)
        return MARK_NONE;
    return row->delta->verdict == VERDICT_IMPROVED    ? MARK_GOOD
           : row->delta->verdict == VERDICT_REGRESSED ? MARK_BAD
                                                      : MARK_WARN;
}

static void add_row(struct table *t, const struct bench_row *row, enum metric m)
{
    char text[TABLE_CELL_MAX];
    bool ok = row->cell && row->cell->status == STATUS_OK;
    table_code(t, row->name);
    snprintf(text, sizeof text, "%.*s%s", COMMAND_SHOWN, row->command,
             strlen(row->command) > COMMAND_SHOWN ? "..." : "");
    table_code(t, text);
    table_text(t, row->cell && row->n > 0 ? metric_with_unit(m, row->cell->median[m]).s : NUM_NONE);
    if (isnan(row->interval.low))
        snprintf(text, sizeof text, "%s", NUM_NONE);
    else
        snprintf(text, sizeof text, "%s to %s", metric_with_unit(m, row->interval.low).s,
                 metric_with_unit(m, row->interval.high).s);
    table_text(t, text);
    snprintf(text, sizeof text, "%zu", row->n);
    table_text(t, text);
    table_text(t, row->delta ? num_factor(row->delta->estimate.factor).s : NUM_NONE);
    if (ok)
        write_verdict(row, m, text, sizeof text);
    else
        snprintf(text, sizeof text, "%s", row->cell ? status_name(row->cell->status) : "not run");
    table_marked(t, text, ok ? mark_of(row) : MARK_BAD);
}

void bench_table_fill(const struct bench_table *b, struct table *t)
{
    enum metric m = run_data_metric(b->run);
    table_column(t, "Name", false);
    table_column(t, "Command", false);
    table_column(t, metric_info(m)->name, true);
    table_column(t, "95 % interval", true);
    table_column(t, "n", true);
    table_column(t, "vs first", true);
    table_column(t, "", false);
    for (size_t i = 0; i < b->run->n_variants; i++) {
        struct bench_row row;
        bench_row_fill(b, i, &row);
        add_row(t, &row, m);
        free(row.values);
    }
}
