#include "harness/commands/plan/bench_output.h"

#include "common/base/alloc.h"
#include "harness/commands/base/cmd.h"

#include <math.h>
#include <stdlib.h>

static void put_markdown(const struct table *t, struct buf *out)
{
    for (size_t i = 0; i < t->n_cols; i++)
        buf_printf(out, "| %s ", t->cols[i].title);
    buf_puts(out, "|\n");
    for (size_t i = 0; i < t->n_cols; i++)
        buf_puts(out, t->cols[i].right ? "| ---: " : "| --- ");
    buf_puts(out, "|");
    for (size_t i = 0; t->n_cols > 0 && i < t->n_cells; i++) {
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

void bench_output_text(const struct bench_result *r, bool colour, struct buf *out)
{
    AUTO(table_release) struct table t = {0};
    bench_table_fill(&r->table, &t);
    table_write_text(&t, colour, out);
}

void bench_output_markdown(const struct bench_result *r, struct buf *out)
{
    AUTO(table_release) struct table t = {0};
    bench_table_fill(&r->table, &t);
    put_markdown(&t, out);
}

static json_t *encode_row(const struct bench_row *row, enum metric m)
{
    json_t *values = json_array();
    for (size_t i = 0; i < row->n; i++)
        json_array_append_new(values, json_real(row->values[i]));
    const struct delta *d = row->delta;
    return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "name", row->name, "command",
                     row->command, "status", row->cell ? status_name(row->cell->status) : "", "median",
                     cmd_json_number(row->cell && row->n > 0 ? row->cell->median[m] : NAN), "low",
                     cmd_json_number(row->interval.low), "high", cmd_json_number(row->interval.high),
                     "values", values, "factor", cmd_json_number(d ? d->estimate.factor : NAN), "verdict",
                     d ? json_string(verdict_name(d->verdict)) : json_null());
}

json_t *bench_output_encode(const struct bench_result *r, int exit_code)
{
    enum metric m = run_data_metric(r->table.run);
    json_t *rows = json_array();
    for (size_t i = 0; i < r->table.run->n_variants; i++) {
        struct bench_row row;
        bench_row_fill(&r->table, i, &row);
        json_array_append_new(rows, encode_row(&row, m));
        free(row.values);
    }
    return json_pack("{s:s, s:s, s:s, s:s, s:o, s:i}", "run_id", r->table.run->info.run_id, "node",
                     r->table.run->info.node, "metric", metric_info(m)->name, "unit", metric_info(m)->unit,
                     "commands", rows, "exit_code", exit_code);
}
