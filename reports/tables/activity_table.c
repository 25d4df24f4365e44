#include "reports/tables/activity_table.h"

#include "common/base/alloc.h"
#include "reports/model/activity.h"
#include "reports/words/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_throttling(struct table *t, const struct cell_activity *a, enum report_lang lang)
{
    if (isnan(a->throttled_s)) {
        table_text(t, NUM_NONE);
        return;
    }
    if (a->throttled == 0) {
        table_text(t, message(lang, MSG_THROTTLED_NOT));
        return;
    }
    AUTO(buf_release) struct buf b = {.max = 256};
    message_plain(&b, lang, MSG_THROTTLED_FOR, num_seconds(a->throttled_s).s, a->throttle);
    table_marked(t, buf_str(&b), MARK_WARN);
}

static void add_neighbours(struct table *t, int count)
{
    if (count <= 0)
        table_text(t, NUM_NONE);
    else
        table_marked(t, num_int(count).s, MARK_WARN);
}

static enum activity_part part_of(const struct cell_activity *a)
{
    static const char *const names[] = {[PART_TIMED] = "timed", [PART_BUSY] = "busy", [PART_TEST] = "test"};
    for (size_t i = 0; a->window && i < sizeof names / sizeof *names; i++)
        if (strcmp(a->window, names[i]) == 0)
            return (enum activity_part)i;
    return a->window ? PART_UNTOLD : PART_DIFFERS;
}

enum msg activity_part_msg(enum activity_part part)
{
    static const enum msg ids[ACTIVITY_PARTS] = {
        [PART_TIMED] = MSG_PART_TIMED,   [PART_BUSY] = MSG_PART_BUSY,       [PART_TEST] = MSG_PART_TEST,
        [PART_UNTOLD] = MSG_PART_UNTOLD, [PART_DIFFERS] = MSG_PART_DIFFERS,
    };
    return ids[part];
}

static void add_numbers(struct table *t, const struct cell *c, const struct cell_activity *a,
                        enum report_lang lang)
{
    table_text(t, num_rate(c->median[METRIC_SCLK_MHZ]).s);
    table_text(t, num_rate(a->sclk_p5_mhz).s);
    table_text(t, num_rate(a->mclk_mhz).s);
    table_text(t, num_rate(a->power_w).s);
    table_text(t, num_rate(a->temp_c).s);
    add_throttling(t, a, lang);
    table_text(t, num_plain(c->median[METRIC_JOULES]).s);
    table_text(t, num_plain(c->median[METRIC_JOULES_PER_TOKEN]).s);
    add_neighbours(t, a->neighbours);
}

static void add_row(struct table *t, const struct run_data *run, const struct cell *c,
                    enum activity_part part, enum report_lang lang)
{
    const struct cell_activity a = activity_of_cell(run, c);
    if (!a.known || part_of(&a) != part)
        return;
    table_text(t, c->context ? num_int(c->context).s : NUM_NONE);
    table_code(t, run->variants[c->variant].name);
    if (part != PART_DIFFERS)
        add_numbers(t, c, &a, lang);
}

void table_activity(struct table *t, const struct run_data *run, enum activity_part part,
                    enum report_lang lang)
{
    AUTO_FREE size_t *order = cells_by_context(run);
    table_numbers(t, lang, MSG_COL_CONTEXT);
    table_texts(t, lang, MSG_COL_VARIANT);
    if (part != PART_DIFFERS) {
        table_numbers(t, lang, MSG_COL_SCLK, MSG_COL_SCLK_LOW, MSG_COL_MCLK, MSG_COL_POWER,
                      MSG_COL_TEMPERATURE);
        table_texts(t, lang, MSG_COL_THROTTLED);
        table_numbers(t, lang, MSG_COL_ENERGY, MSG_COL_ENERGY_PER_TOKEN, MSG_COL_NEIGHBOURS);
    }
    for (size_t k = 0; k < run->n_cells; k++)
        add_row(t, run, &run->cells[order[k]], part, lang);
    table_drop_empty(t, 2);
}
