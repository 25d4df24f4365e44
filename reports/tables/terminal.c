#include "reports/tables/terminal.h"
#include "reports/tables/standings_table.h"

#include "common/base/alloc.h"
#include "common/base/text.h"
#include "reports/tables/activity_table.h"
#include "reports/tables/causes.h"
#include "reports/tables/shift.h"
#include "reports/tables/tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COUNTS_MAX = 1024 };

static int write_and_release(struct table *t, bool colour, struct buf *out, struct err *err)
{
    table_write_text(t, colour, out);
    table_release(t);
    return buf_ok(out) ? 0 : err_set(err, ERR_INTERNAL, "no memory for the table");
}

int terminal_run(const struct run_data *run, size_t reference, bool kernels, bool colour, struct buf *out,
                 struct err *err)
{
    struct variant_view view = {
        .run = run, .reference = reference, .primary = quantity_of(run_data_metric(run), kernels)};
    AUTO_FREE struct variant_delta *vs = compare_variants(run, reference, view.primary.metric);
    struct table t;
    view.vs = vs;
    view.count = run->n_cells;
    table_init(&t);
    table_consolidated(&t, &view, REPORT_EN);
    if (write_and_release(&t, colour, out, err) != 0)
        return -1;
    if (variants_apart(vs, view.count)) {
        buf_putc(out, '\n');
        message_plain(out, REPORT_EN, MSG_VARIANTS_APART, num_percent(WITHIN_APART).s);
        buf_putc(out, '\n');
    }
    return buf_ok(out) ? 0 : err_set(err, ERR_INTERNAL, "no memory for the table");
}

int terminal_single_shots(const struct run_data *run, bool kernels, bool colour, struct buf *out,
                          struct err *err)
{
    const struct variant_view view = {.run = run, .primary = quantity_of(run_data_metric(run), kernels)};
    struct table t;
    table_init(&t);
    table_consolidated(&t, &view, REPORT_EN);
    if (write_and_release(&t, colour, out, err) != 0)
        return -1;
    buf_puts(out, "\none run each: no verdict\n");
    return 0;
}

int terminal_own_metrics(const struct run_data *run, bool colour, struct buf *out, struct err *err)
{
    struct table t;
    table_init(&t);
    table_own_metrics(&t, run, run_data_metric(run), REPORT_EN);
    if (table_rows(&t) == 0) {
        table_release(&t);
        return 0;
    }
    buf_putc(out, '\n');
    return write_and_release(&t, colour, out, err);
}

int terminal_activity(const struct run_data *run, bool colour, struct buf *out, struct err *err)
{
    struct table t;
    table_init(&t);
    table_activity(&t, run, REPORT_EN);
    if (table_rows(&t) == 0) {
        table_release(&t);
        return 0;
    }
    buf_putc(out, '\n');
    return write_and_release(&t, colour, out, err);
}

int terminal_scaling(const struct run_data *run, bool kernels, bool colour, struct buf *out, struct err *err)
{
    const struct quantity time = quantity_of(METRIC_PREFILL_S, kernels);
    struct scaling_set set;
    struct table t;
    scaling_of_run(run, &set);
    if (!scaling_has_steps(&set)) {
        scaling_set_release(&set);
        return 0;
    }
    table_init(&t);
    table_scaling(&t, run, &set, &time, REPORT_EN);
    if (write_and_release(&t, colour, out, err)) {
        scaling_set_release(&set);
        return -1;
    }
    for (size_t i = 0; i < set.count; i++) {
        if (isnan(set.items[i].exponent))
            continue;
        const char *name = run->variants[set.items[i].variant].name;
        text_printable(out, name, strlen(name), RUN_NAME_MAX);
        buf_printf(out, ": t ~ n^%s\n", num_fixed(set.items[i].exponent, 2).s);
    }
    scaling_set_release(&set);
    return buf_ok(out) ? 0 : err_set(err, ERR_INTERNAL, "no memory for the table");
}

/* Nothing if no cell changed. */
static int write_why(const struct comparison *c, struct buf *out, struct err *err)
{
    struct why why;
    if (c->causes.count == 0)
        return 0;
    if (why_of(c, REPORT_EN, &why, err) != 0)
        return -1;
    buf_putc(out, '\n');
    why_heading(&why, REPORT_EN, out);
    for (size_t i = 0; i < why.count; i++) {
        buf_puts(out, "\n  ");
        why_where(&why.lines[i], REPORT_EN, out);
        buf_printf(out, ": %s", buf_str(&why.lines[i].text));
    }
    if (why.left_out) {
        buf_puts(out, "\n  ");
        message_plain(out, REPORT_EN, MSG_WHY_MORE, num_int((int64_t)why.left_out).s);
    }
    buf_putc(out, '\n');
    why_release(&why);
    return 0;
}

static void write_cards(const struct comparison *c, struct buf *out)
{
    for (size_t i = 0; i < c->cards.count; i++) {
        buf_putc(out, '\n');
        verdict_card(c, &c->cards.items[i], REPORT_EN, out);
        buf_putc(out, '\n');
    }
}

int terminal_comparison(const struct comparison *c, bool kernels, bool colour, struct buf *out,
                        struct err *err)
{
    const struct quantity primary = quantity_of(c->primary, kernels);
    struct buf counts;
    struct table t;
    table_init(&t);
    table_comparison(&t, c, &primary, REPORT_EN);
    if (write_and_release(&t, colour, out, err))
        return -1;
    if (c->n_facts) {
        table_init(&t);
        table_facts(&t, c, REPORT_EN);
        buf_putc(out, '\n');
        if (write_and_release(&t, colour, out, err))
            return -1;
    }
    buf_init(&counts, COUNTS_MAX);
    verdict_shift(c, REPORT_EN, &counts);
    if (counts.len)
        buf_printf(out, "\n%s\n", buf_str(&counts));
    write_cards(c, out);
    buf_clear(&counts);
    verdict_counts(c, REPORT_EN, &counts);
    buf_printf(out, "%s%s\n", counts.len ? "\n" : "", buf_str(&counts));
    buf_release(&counts);
    if (write_why(c, out, err) != 0)
        return -1;
    return buf_ok(out) ? 0 : err_set(err, ERR_INTERNAL, "no memory for the table");
}

int terminal_standings(enum place_kind by, const struct place_standing *places, size_t count,
                       const struct comparison *since, bool colour, struct buf *out, struct err *err)
{
    struct table t;
    table_init(&t);
    table_standings(&t, by, places, count, &since->cards, REPORT_EN);
    if (write_and_release(&t, colour, out, err) != 0)
        return -1;
    write_cards(since, out);
    return buf_ok(out) ? 0 : err_set(err, ERR_INTERNAL, "no memory for the table");
}

int terminal_counters(const struct counter_changes *c, struct buf *out, struct err *err)
{
    struct table t;
    if (c->count == 0)
        return 0;
    table_init(&t);
    table_counters(&t, c, REPORT_EN);
    buf_putc(out, '\n');
    return write_and_release(&t, false, out, err);
}
