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

static void fill_range(struct bench_row *row)
{
    for (size_t i = 0; i < row->n; i++) {
        row->least = fmin(row->least, row->values[i]);
        row->most = fmax(row->most, row->values[i]);
    }
}

/* Unknown if that of any test is. */
static void fill_cpu(const struct run_data *run, struct bench_row *row)
{
    double user_s = 0, system_s = 0;
    size_t n = 0;
    for (size_t i = row->cell->first; i < row->cell->first + row->cell->count; i++) {
        const struct run_test *t = &run->tests[i];
        if (t->warmup || t->status != STATUS_OK)
            continue;
        user_s += t->used.cpu_user_s;
        system_s += t->used.cpu_system_s;
        n++;
    }
    row->user_s = user_s / (double)n;
    row->system_s = system_s / (double)n;
}

void bench_row_fill(const struct bench_table *b, size_t i, struct bench_row *row)
{
    enum metric m = run_data_metric(b->run);
    const struct run_variant *v = &b->run->variants[i];
    *row = (struct bench_row){.name = v->name,
                              .command = i < b->n_commands ? b->commands[i] : "",
                              .interval = {NAN, NAN},
                              .least = NAN,
                              .most = NAN,
                              .user_s = NAN,
                              .system_s = NAN};
    row->cell = run_data_cell(b->run, v->name, 1);
    row->delta = find_delta(b, v->name, m);
    if (!row->cell)
        return;
    row->values = xcalloc(row->cell->count, sizeof *row->values);
    row->n = run_data_values(b->run, row->cell, m, row->values);
    row->interval = median_interval(row->values, row->n);
    fill_range(row);
    fill_cpu(b->run, row);
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

/* "LOW to HIGH", or nothing. */
static void add_span(struct table *t, enum metric m, double low, double high)
{
    char text[TABLE_CELL_MAX];
    snprintf(text, sizeof text, "%s to %s", metric_beside(m, low, high).s, metric_with_unit(m, high).s);
    table_text(t, isnan(low) ? NUM_NONE : text);
}

/* User and system time. */
static void add_cpu(struct table *t, const struct bench_row *row)
{
    char text[TABLE_CELL_MAX];
    snprintf(text, sizeof text, "%s + %s", metric_beside(METRIC_WALL_S, row->user_s, row->system_s).s,
             metric_beside(METRIC_WALL_S, row->system_s, row->user_s).s);
    table_text(t, isnan(row->user_s) || isnan(row->system_s) ? NUM_NONE : text);
}

static void add_row(struct table *t, const struct bench_row *row, enum metric m)
{
    char text[TABLE_CELL_MAX];
    bool ok = row->cell && row->cell->status == STATUS_OK;
    table_code(t, row->name);
    table_text(t, row->cell && row->n > 0 ? metric_with_unit(m, row->cell->median[m]).s : NUM_NONE);
    add_span(t, m, row->interval.low, row->interval.high);
    add_span(t, m, row->least, row->most);
    add_cpu(t, row);
    snprintf(text, sizeof text, "%zu", row->n);
    table_text(t, text);
    table_text(t, row->delta ? num_factor(row->delta->estimate.factor).s : NUM_NONE);
    if (ok)
        write_verdict(row, m, text, sizeof text);
    else
        snprintf(text, sizeof text, "%s", row->cell ? status_name(row->cell->status) : "not run");
    table_marked(t, text, ok ? mark_of(row) : MARK_BAD);
    snprintf(text, sizeof text, "%.*s%s", COMMAND_SHOWN, row->command,
             strlen(row->command) > COMMAND_SHOWN ? "..." : "");
    table_code(t, text);
}

void bench_table_fill(const struct bench_table *b, struct table *t)
{
    enum metric m = run_data_metric(b->run);
    table_column(t, "Name", false);
    table_column(t, metric_info(m)->name, true);
    table_column(t, "95 % interval", true);
    table_column(t, "Range", true);
    table_column(t, "User + system", true);
    table_column(t, "n", true);
    table_column(t, "vs first", true);
    table_column(t, "", false);
    table_column(t, "Command", false); /* last, where a narrow screen has it below the numbers */
    for (size_t i = 0; i < b->run->n_variants; i++) {
        struct bench_row row;
        bench_row_fill(b, i, &row);
        add_row(t, &row, m);
        free(row.values);
    }
}
