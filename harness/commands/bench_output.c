#include "harness/commands/bench_output.h"

#include "harness/commands/cmd.h"
#include "reports/render/table.h"
#include "reports/words/quantity.h"
#include "results/stats/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 2000, COMMAND_SHOWN = 48 };
static const double confidence = 0.95;

struct row {
    const char *name, *command;
    const struct cell *cell;   /* NULL: the command never ran */
    const struct delta *delta; /* NULL for the first */
    double *values;
    size_t n;
    struct stats_interval interval; /* of the median */
};

static const struct delta *delta_of(const struct bench_result *r, const char *variant, enum metric m)
{
    for (size_t i = 0; r->comparison && i < r->comparison->count; i++)
        if (r->comparison->deltas[i].metric == m && strcmp(r->comparison->deltas[i].variant, variant) == 0)
            return &r->comparison->deltas[i];
    return NULL;
}

/* row->values is the caller's. */
static int fill_row(const struct bench_result *r, size_t i, struct row *row, struct err *err)
{
    enum metric m = run_data_metric(r->run);
    const struct run_variant *v = &r->run->variants[i];
    const double one = 1;
    struct stats_rng rng;
    *row = (struct row){.name = v->name, .command = "", .interval = {NAN, NAN}};
    for (size_t k = 0; k < r->request->count; k++) { /* variants are in the order of the plan */
        if (k == i)
            row->command = r->request->command[k];
    }
    row->cell = run_data_cell(r->run, v->name, 1);
    row->delta = delta_of(r, v->name, m);
    if (!row->cell)
        return 0;
    row->values = calloc(row->cell->count + 1, sizeof *row->values);
    if (!row->values)
        return err_set(err, ERR_INTERNAL, "no memory for the values");
    row->n = run_data_values(r->run, row->cell, m, row->values);
    stats_rng_seed(&rng, 1);
    if (row->n >= 5)
        row->interval = stats_bootstrap_ratio(&one, 1, row->values, row->n, confidence, ROUNDS, &rng);
    return 0;
}

static const char *verdict_word(const struct row *row, enum metric m)
{
    bool time = metric_is_time(m);
    if (!row->delta)
        return row->n > 0 ? "reference" : "-";
    switch (row->delta->verdict) {
    case VERDICT_IMPROVED:
        return time ? "faster" : "better";
    case VERDICT_REGRESSED:
        return time ? "slower" : "worse";
    case VERDICT_UNCHANGED:
        return "no difference";
    case VERDICT_NOISY:
        return "inconclusive";
    case VERDICT_NEW:
    case VERDICT_MISSING:
    case VERDICT_BROKEN:
    case VERDICT_FIXED: /* the first one failed */
    case VERDICT_COUNT:
        break;
    }
    return "not compared";
}

static enum cell_mark mark_of(const struct row *row)
{
    if (!row->delta || row->delta->verdict == VERDICT_UNCHANGED)
        return MARK_NONE;
    return row->delta->verdict == VERDICT_IMPROVED    ? MARK_GOOD
           : row->delta->verdict == VERDICT_REGRESSED ? MARK_BAD
                                                      : MARK_WARN;
}

static void add_row(struct table *t, const struct row *row, enum metric m)
{
    char text[TABLE_CELL_MAX];
    bool ok = row->cell && row->cell->status == STATUS_OK;
    table_code(t, row->name);
    snprintf(text, sizeof text, "%.*s%s", COMMAND_SHOWN, row->command,
             strlen(row->command) > COMMAND_SHOWN ? "..." : "");
    table_code(t, text);
    table_text(t, row->n > 0 ? metric_with_unit(m, row->cell->median[m]).s : NUM_NONE);
    if (isnan(row->interval.low))
        snprintf(text, sizeof text, "%s", NUM_NONE);
    else
        snprintf(text, sizeof text, "%s to %s", metric_with_unit(m, row->interval.low).s,
                 metric_with_unit(m, row->interval.high).s);
    table_text(t, text);
    snprintf(text, sizeof text, "%zu", row->n);
    table_text(t, text);
    table_text(t, row->delta ? num_factor(row->delta->factor).s : NUM_NONE);
    table_marked(t,
                 ok          ? verdict_word(row, m)
                 : row->cell ? status_name(row->cell->status)
                             : "not run",
                 ok ? mark_of(row) : MARK_BAD);
}

static int fill_table(const struct bench_result *r, struct table *t, struct err *err)
{
    enum metric m = run_data_metric(r->run);
    table_column(t, "Name", false);
    table_column(t, "Command", false);
    table_column(t, metric_info(m)->name, true);
    table_column(t, "95 % interval", true);
    table_column(t, "n", true);
    table_column(t, "vs first", true);
    table_column(t, "", false);
    for (size_t i = 0; i < r->run->n_variants; i++) {
        struct row row;
        if (fill_row(r, i, &row, err) != 0)
            return -1;
        add_row(t, &row, m);
        free(row.values);
    }
    return table_ok(t) ? 0 : err_set(err, ERR_INTERNAL, "no memory for the table");
}

static void put_markdown(const struct table *t, struct buf *out)
{
    for (size_t i = 0; i < t->n_cols; i++)
        buf_printf(out, "| %s ", t->cols[i].title);
    buf_puts(out, "|\n");
    for (size_t i = 0; i < t->n_cols; i++)
        buf_puts(out, t->cols[i].right ? "| ---: " : "| --- ");
    buf_puts(out, "|");
    for (size_t i = 0; i < t->n_cells; i++) {
        bool code = i % t->n_cols < 2;
        buf_puts(out, i % t->n_cols == 0 ? "\n| " : " ");
        buf_puts(out, code ? "`" : "");
        for (const char *s = t->cells[i].text; *s; s++) /* what would end the code or the cell */
            buf_puts(out, *s == '`'                 ? "'"
                          : *s == '|'               ? "\\|"
                          : (unsigned char)*s < ' ' ? " "
                                                    : (const char[]){*s, '\0'});
        buf_puts(out, code ? "` |" : " |");
    }
    buf_putc(out, '\n');
}

int bench_output_text(const struct bench_result *r, bool colour, struct buf *out, struct err *err)
{
    struct table t;
    table_init(&t);
    int rc = fill_table(r, &t, err);
    if (rc == 0)
        table_write_text(&t, colour, out);
    table_release(&t);
    return rc;
}

int bench_output_markdown(const struct bench_result *r, struct buf *out, struct err *err)
{
    struct table t;
    table_init(&t);
    int rc = fill_table(r, &t, err);
    if (rc == 0)
        put_markdown(&t, out);
    table_release(&t);
    return rc;
}

static json_t *encode_row(const struct row *row, enum metric m)
{
    json_t *values = json_array();
    for (size_t i = 0; i < row->n; i++)
        json_array_append_new(values, json_real(row->values[i]));
    const struct delta *d = row->delta;
    return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "name", row->name, "command",
                     row->command, "status", row->cell ? status_name(row->cell->status) : "", "median",
                     cmd_json_number(row->n > 0 ? row->cell->median[m] : NAN), "low",
                     cmd_json_number(row->interval.low), "high", cmd_json_number(row->interval.high),
                     "values", values, "factor", cmd_json_number(d ? d->factor : NAN), "verdict",
                     d ? json_string(verdict_name(d->verdict)) : json_null());
}

json_t *bench_output_encode(const struct bench_result *r, int exit_code)
{
    enum metric m = run_data_metric(r->run);
    json_t *rows = json_array();
    for (size_t i = 0; i < r->run->n_variants; i++) {
        struct row row;
        struct err ignored = {0};
        if (fill_row(r, i, &row, &ignored) == 0)
            json_array_append_new(rows, encode_row(&row, m));
        free(row.values);
    }
    return json_pack("{s:s, s:s, s:s, s:s, s:o, s:i}", "run_id", r->run->info.run_id, "node",
                     r->run->info.node, "metric", metric_info(m)->name, "unit", metric_info(m)->unit,
                     "commands", rows, "exit_code", exit_code);
}
