#include "reports/tables/terminal.h"
#include "reports/tables/standings_table.h"

#include "common/base/alloc.h"
#include "common/base/text.h"
#include "reports/tables/activity_table.h"
#include "reports/tables/causes.h"
#include "reports/tables/shift.h"
#include "reports/tables/tables.h"
#include "reports/words/carried.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COUNTS_MAX = 4096, CARRIED_BYTES_MAX = 1 << 20 };

void terminal_carried(const struct run_carried *cells, size_t count, struct buf *out)
{
    for (size_t i = 0; i < count; i++) {
        AUTO(buf_release) struct buf list = {.max = CARRIED_BYTES_MAX};
        if (!carried_list(cells, count, i, &list))
            continue;
        message_plain(out, REPORT_EN, carried_msg(&cells[i]), cells[i].measured, buf_str(&list));
        buf_putc(out, '\n');
    }
}

static void write_note(struct buf *out, enum msg id, const char *number)
{
    buf_putc(out, '\n');
    message_plain(out, REPORT_EN, id, number);
    buf_putc(out, '\n');
}

void terminal_run(const struct run_data *run, size_t reference, bool kernels, struct screen screen,
                  struct buf *out)
{
    struct variant_view view = {
        .run = run, .reference = reference, .primary = quantity_of(run_data_metric(run), kernels)};
    AUTO_FREE struct variant_delta *vs = compare_variants(run, reference, view.primary.metric);
    AUTO(table_release) struct table t = {0};
    view.vs = vs;
    view.count = run->n_cells;
    table_consolidated(&t, &view, REPORT_EN);
    table_write_text(&t, screen, out);
    if (variants_unlike(vs, view.count))
        write_note(out, MSG_VARIANTS_UNLIKE, "");
    if (variants_apart(vs, view.count))
        write_note(out, MSG_VARIANTS_APART, num_percent(WITHIN_APART).s);
    if (variants_hidden(vs, view.count))
        write_note(out, MSG_VARIANTS_HIDDEN, metric_least(view.primary.metric).s);
    if (run->n_carried > 0)
        buf_putc(out, '\n');
    terminal_carried(run->carried, run->n_carried, out);
}

void terminal_single_shots(const struct run_data *run, bool kernels, struct screen screen, struct buf *out)
{
    const struct variant_view view = {.run = run, .primary = quantity_of(run_data_metric(run), kernels)};
    AUTO(table_release) struct table t = {0};
    table_consolidated(&t, &view, REPORT_EN);
    table_write_text(&t, screen, out);
    buf_puts(out, "\none run each: no verdict\n");
}

/* Nothing if it has no rows. */
static void write_behind(const struct table *t, struct screen screen, struct buf *out)
{
    if (table_rows(t) == 0)
        return;
    buf_putc(out, '\n');
    table_write_text(t, screen, out);
}

void terminal_own_metrics(const struct run_data *run, struct screen screen, struct buf *out)
{
    bool any = true;
    for (size_t part = 0; any; part++) {
        AUTO(table_release) struct table t = {0};
        any = table_own_metrics(&t, run, run_data_metric(run), part, REPORT_EN);
        write_behind(&t, screen, out);
    }
}

void terminal_activity(const struct run_data *run, struct screen screen, struct buf *out)
{
    for (int part = 0; part < ACTIVITY_PARTS; part++) {
        AUTO(table_release) struct table t = {0};
        table_activity(&t, run, (enum activity_part)part, REPORT_EN);
        if (table_rows(&t) == 0)
            continue;
        buf_printf(out, "\n%s\n", message(REPORT_EN, activity_part_msg((enum activity_part)part)));
        table_write_text(&t, screen, out);
    }
}

void terminal_scaling(const struct run_data *run, bool kernels, struct screen screen, struct buf *out)
{
    AUTO(scaling_set_release) struct scaling_set set = {0};
    AUTO(table_release) struct table t = {0};
    scaling_of_run(run, &set);
    if (!scaling_has_steps(&set))
        return;
    const struct quantity time = quantity_of(set.metric, kernels);
    table_scaling(&t, run, &set, &time, REPORT_EN);
    table_write_text(&t, screen, out);
    for (size_t i = 0; i < set.count; i++) {
        if (isnan(set.items[i].exponent))
            continue;
        const char *name = run->variants[set.items[i].variant].name;
        text_printable(out, name, strlen(name), RUN_NAME_MAX);
        buf_printf(out, ": t ~ n^%s\n", num_fixed(set.items[i].exponent, 2).s);
    }
}

/* Nothing if no cell changed. */
static void write_why(const struct comparison *c, struct buf *out)
{
    AUTO(why_release) struct why why = {0};
    if (c->causes.count == 0)
        return;
    why_of(c, REPORT_EN, &why);
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
}

static void write_cards(const struct comparison *c, struct buf *out)
{
    for (size_t i = 0; i < c->cards.count; i++) {
        buf_putc(out, '\n');
        verdict_card(c, &c->cards.items[i], REPORT_EN, out);
        buf_putc(out, '\n');
    }
}

void terminal_comparison(const struct comparison *c, bool kernels, struct screen screen, struct buf *out)
{
    const struct quantity primary = quantity_of(c->primary, kernels);
    AUTO(buf_release) struct buf counts = {.max = COUNTS_MAX};
    AUTO(table_release) struct table t = {0}, facts = {0};
    table_comparison(&t, c, &primary, REPORT_EN);
    table_write_text(&t, screen, out);
    if (c->n_facts) {
        table_facts(&facts, c, REPORT_EN);
        write_behind(&facts, screen, out);
    }
    verdict_shift(c, REPORT_EN, &counts);
    if (counts.len)
        buf_printf(out, "\n%s\n", buf_str(&counts));
    write_cards(c, out);
    buf_clear(&counts);
    verdict_counts(c, REPORT_EN, &counts);
    buf_printf(out, "%s%s\n", counts.len ? "\n" : "", buf_str(&counts));
    write_why(c, out);
}

void terminal_standings(enum place_kind by, const struct place_standing *places, size_t count,
                        const struct comparison *since, struct screen screen, struct buf *out)
{
    AUTO(table_release) struct table t = {0};
    table_standings(&t, by, places, count, &since->cards, REPORT_EN);
    table_write_text(&t, screen, out);
    write_cards(since, out);
}

void terminal_counters(const struct counter_changes *c, struct buf *out)
{
    AUTO(table_release) struct table t = {0};
    if (c->count == 0)
        return;
    table_counters(&t, c, REPORT_EN);
    write_behind(&t, (struct screen){0}, out);
}
