#include "common/base/alloc.h"
#include "reports/tables/tables.h"
#include "results/judge/confirm.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void verdict_counts(const struct comparison *c, enum report_lang lang, struct buf *out)
{
    for (enum verdict v = 0; v < VERDICT_COUNT; v++) {
        if (!c->verdicts[v])
            continue;
        buf_puts(out, out->len ? ", " : "");
        message_plain(out, lang, MSG_COUNTED, num_int(c->verdicts[v]).s, verdict_word(v, lang));
    }
}

void verdict_tickets(const struct comparison *c, enum report_lang lang, struct buf *out)
{
    if (comparison_of_two_tickets(c))
        message_plain(out, lang, MSG_OTHER_TICKET, c->base_ticket, c->now_ticket);
}

/* Below this relative difference, the base counts as what was expected and has no column of its own. */
static const double expected_shown = 0.0005;

static enum cell_mark verdict_mark(enum verdict v)
{
    switch (v) {
    case VERDICT_REGRESSED:
    case VERDICT_MISSING:
    case VERDICT_BROKEN:
    case VERDICT_FAILING:
        return MARK_BAD;
    case VERDICT_IMPROVED:
    case VERDICT_FIXED:
        return MARK_GOOD;
    case VERDICT_SUSPECTED:
    case VERDICT_NOISY:
    case VERDICT_NEW:
        return MARK_WARN;
    case VERDICT_ACCEPTED:
    case VERDICT_UNCHANGED:
    case VERDICT_COUNT:
        break;
    }
    return MARK_NONE;
}

double verdict_reference(const struct delta *d)
{
    return isfinite(d->reference.value) ? d->reference.value : d->base.median;
}

/* With several metrics, each number includes its unit. */
static struct num one_side(const struct quantity *primary, enum metric m, bool several, double v)
{
    return several ? metric_with_unit(m, v) : quantity_text(primary, v);
}

/* Which columns a comparison needs. */
struct sides {
    bool several;  /* metrics */
    bool base;     /* there is a base, else only nights */
    bool expected; /* something else than the base was expected */
};

static struct sides sides_of(const struct comparison *c)
{
    struct sides s = {0};
    for (size_t i = 0; i < c->count; i++) {
        const struct delta *d = &c->deltas[i];
        bool same = d->reference.value == d->base.median || /* both may be 0 */
                    fabs(d->reference.value / d->base.median - 1) <= expected_shown;
        s.several |= d->metric != c->primary;
        s.base |= isfinite(d->base.median);
        s.expected |= isfinite(d->reference.value) && !same;
    }
    s.base |= !s.expected;
    return s;
}

static void comparison_row(struct table *t, const struct delta *d, const struct quantity *primary,
                           const struct sides *sides, enum report_lang lang)
{
    AUTO(buf_release) struct buf evidence = {.max = 1024};
    verdict_evidence(d, lang, &evidence);
    table_text(t, d->context ? num_int(d->context).s : NUM_NONE);
    table_code(t, d->variant);
    if (sides->several)
        table_code(t, metric_info(d->metric)->name);
    if (sides->base)
        table_text(t, one_side(primary, d->metric, sides->several, d->base.median).s);
    if (sides->expected)
        table_text(t, one_side(primary, d->metric, sides->several, d->reference.value).s);
    table_text(t, one_side(primary, d->metric, sides->several, d->now.median).s);
    table_text(t, num_factor(d->estimate.factor).s);
    table_text(t, verdict_change(d, lang).s);
    table_marked(t, verdict_word(d->verdict, lang), verdict_mark(d->verdict));
    table_text(t, buf_str(&evidence));
    t->failed |= !buf_ok(&evidence);
}

/* "Base (ms)"; without a unit if each value includes its own. */
static void side_column(struct table *t, enum msg id, const char *unit, enum report_lang lang)
{
    char title[64];
    if (*unit)
        snprintf(title, sizeof title, "%s (%s)", message(lang, id), unit);
    else
        snprintf(title, sizeof title, "%s", message(lang, id));
    table_column(t, title, true);
}

void table_comparison(struct table *t, const struct comparison *c, const struct quantity *primary,
                      enum report_lang lang)
{
    const struct sides sides = sides_of(c);
    const char *unit = sides.several ? "" : primary->unit;
    table_numbers(t, lang, MSG_COL_CONTEXT);
    table_texts(t, lang, MSG_COL_VARIANT);
    if (sides.several)
        table_texts(t, lang, MSG_COL_METRIC);
    if (sides.base)
        side_column(t, MSG_COL_BASE_SIDE, unit, lang);
    if (sides.expected)
        side_column(t, MSG_COL_EXPECTED, unit, lang);
    side_column(t, MSG_COL_NOW_SIDE, unit, lang);
    table_numbers(t, lang, sides.expected ? MSG_COL_VS_EXPECTED : MSG_COL_VS_BASE, MSG_COL_CHANGE);
    table_texts(t, lang, MSG_COL_VERDICT);
    table_note(t, message(lang, MSG_COL_EVIDENCE));
    for (size_t i = 0; i < c->count; i++)
        comparison_row(t, &c->deltas[i], primary, &sides, lang);
    if (!primary->prompt)
        table_drop_empty(t, 0);
}

/* A SHA-256 by its first digits, as commands print it; anything else as it is. */
static void add_fact_value(struct table *t, const char *value)
{
    enum { SHOWN = 12 };
    char hash[SHOWN + 1];
    bool is_hash = strlen(value) == SHA256_HEX_LEN && strspn(value, "0123456789abcdef") == SHA256_HEX_LEN;
    snprintf(hash, sizeof hash, "%.*s", SHOWN, value);
    table_code(t, is_hash ? hash : value);
}

void table_facts(struct table *t, const struct comparison *c, enum report_lang lang)
{
    table_texts(t, lang, MSG_COL_FACT, MSG_COL_BASE_SIDE, MSG_COL_NOW_SIDE);
    for (size_t i = 0; i < c->n_facts; i++) {
        table_code(t, c->facts[i].key);
        add_fact_value(t, c->facts[i].base);
        add_fact_value(t, c->facts[i].now);
    }
}
