/* The counters that differ most between two builds. */
#include "common/base/alloc.h"
#include "reports/tables/tables.h"

#include "reports/words/number.h"

#include <math.h>

static void value(struct table *t, double v, const char *unit)
{
    struct num text = num_six_digits(v);
    AUTO(buf_release) struct buf both = {.max = NUM_TEXT_MAX + COUNTER_UNIT_MAX + 1};
    buf_printf(&both, "%s%s%s", text.s, *unit ? " " : "", unit);
    table_text(t, buf_str(&both));
}

void table_counters(struct table *t, const struct counter_changes *c, enum report_lang lang)
{
    table_texts(t, lang, MSG_COL_VARIANT);
    table_numbers(t, lang, MSG_COL_CONTEXT);
    table_texts(t, lang, MSG_COL_KERNEL, MSG_COL_COUNTER);
    table_numbers(t, lang, MSG_COL_BEFORE, MSG_COL_AFTER, MSG_COL_CHANGE);
    for (size_t i = 0; i < c->count; i++) {
        const struct counter_change *x = &c->items[i];
        table_code(t, x->now->variant);
        table_text(t, num_int(x->now->context).s);
        table_code(t, x->now->kernel);
        table_code(t, x->now->name);
        value(t, x->base->value, x->base->unit);
        value(t, x->now->value, x->now->unit);
        table_text(t, isfinite(x->ratio) ? num_change(x->ratio - 1).s : NUM_NONE);
    }
}
